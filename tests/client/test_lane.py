"""Batches of a partition keep their order and are written once, whatever happens to them on the way."""

from collections import deque

from hypothesis import given, settings
from hypothesis import strategies as st

from trivium.client.deadline import Deadline
from trivium.client.lane import SEQUENCE_MASK, Batch, Lane, record_bytes
from trivium.client.topology import TopicPartition
from trivium.records.batch import HEADER_BYTES, build_batch
from trivium.records.record import Record

KEY = TopicPartition("orders", 0)
LATER = Deadline(3600)
IN_FLIGHT_MAX = 5


def lane_with(*batches: int) -> Lane:
    """A lane with complete batches of so many records, whose values count through."""
    lane = Lane(KEY)
    number = 0
    for count in batches:
        for _ in range(count):
            lane.add(Record(0, 0, None, b"%d" % number), 10)
            number += 1
        lane.complete(LATER)
    return lane


def sequences(*batches: Batch) -> list[int | None]:
    return [batch.sequence for batch in batches]


def test_lane_numbers_batches_when_they_are_sent() -> None:
    lane = lane_with(3, 2, 4)
    assert sequences(lane.take(), lane.take(), lane.take()) == [0, 3, 5]


def test_lane_sends_one_batch_until_the_first_is_acknowledged() -> None:
    lane = lane_with(1, 1, 1)
    first = lane.take()
    assert not lane.can_send()
    lane.acknowledge(first)
    lane.take()
    assert lane.can_send()


def test_batch_keeps_its_number_when_it_is_sent_again() -> None:
    lane = lane_with(3, 2)
    first, second = lane.take(), lane.take()
    lane.put_back(second)
    lane.put_back(first)
    assert not lane.can_send() or lane.pause_left_s() == 0
    assert lane.take() is first
    assert lane.take() is second
    assert sequences(first, second) == [0, 3]


def test_lane_that_mends_sends_nothing_until_all_are_back() -> None:
    lane = lane_with(1, 1, 1, 1)
    lane.acknowledge(lane.take())
    first, second = lane.take(), lane.take()
    lane.put_back(first)
    lane._pause = None
    assert not lane.can_send()
    lane.put_back(second)
    lane._pause = None
    assert lane.can_send()
    assert [lane.take() for _ in range(3)][:2] == [first, second]


def test_numbers_move_up_behind_a_refused_batch() -> None:
    lane = lane_with(3, 2, 4)
    first, second, third = lane.take(), lane.take(), lane.take()
    lane.acknowledge(first)
    lane.refuse(second)
    lane.put_back(third)
    assert lane.take() is third
    assert third.sequence == 3


def test_numbers_go_on_behind_a_batch_that_was_written_after_a_refused_one() -> None:
    """A broker that knows nothing of a producer takes any number first."""
    lane = lane_with(3, 2, 4)
    first, second = lane.take(), lane.take()
    lane.refuse(first)
    lane.acknowledge(second)
    assert lane.take().sequence == 5


def test_batch_before_a_refused_one_keeps_its_number() -> None:
    """Nobody knows whether the broker has it."""
    lane = lane_with(3, 2, 4)
    first, second, third = lane.take(), lane.take(), lane.take()
    lane.put_back(first)
    lane.refuse(second)
    lane.put_back(third)
    assert sequences(lane.take(), lane.take()) == [0, 3]
    assert (first.sequence, third.sequence) == (0, 3)


def test_numbers_start_again_after_the_largest() -> None:
    lane = lane_with(3, 2)
    lane._next_sequence = SEQUENCE_MASK - 1
    assert sequences(lane.take(), lane.take()) == [SEQUENCE_MASK - 1, 1]


def test_abandoned_lane_gives_up_everything() -> None:
    lane = lane_with(1, 1)
    lane.take()
    lane.add(Record(0, 0, None, b"open"), 10)
    assert sum(len(batch.records) for batch in lane.abandon()) == 3
    assert lane.is_settled


def test_batch_that_is_given_whole_comes_behind_what_has_gathered() -> None:
    lane = lane_with()
    lane.add(Record(0, 0, None, b"gathered"), 10)
    lane.add_batch([Record(0, 0, None, b"whole")], 10, LATER)
    assert [lane.take().records[0].value for _ in range(2)] == [b"gathered", b"whole"]


@settings(max_examples=40)
@given(
    st.lists(
        st.tuples(
            st.none() | st.binary(max_size=50),
            st.none() | st.binary(max_size=300),
            st.lists(st.tuples(st.text(max_size=20), st.none() | st.binary(max_size=50)), max_size=3),
            st.integers(0, 1 << 40),
        ),
        min_size=1,
        max_size=20,
    )
)
def test_estimate_of_a_batch_is_not_below_its_size(
    parts: list[tuple[bytes | None, bytes | None, list[tuple[str, bytes | None]], int]],
) -> None:
    """Else a batch could outgrow the limit that it was meant to keep."""
    records = [Record(0, timestamp, key, value, tuple(headers)) for key, value, headers, timestamp in parts]
    assert len(build_batch(records)) <= HEADER_BYTES + sum(map(record_bytes, records))


class IdempotentPartition:
    """What a broker does with numbered batches (KIP-98): it takes the next, and knows the last five."""

    def __init__(self) -> None:
        self.values: list[bytes | None] = []
        self._end: int | None = None
        self._known: deque[tuple[int, int]] = deque(maxlen=5)

    def produce(self, batch: Batch) -> str:
        sequence, count = batch.sequence, len(batch.records)
        assert sequence is not None
        if (sequence, count) in self._known:
            return "acknowledged"
        if self._end is not None and sequence != self._end:
            return "out of order"
        self.values += [record.value for record in batch.records]
        self._known.append((sequence, count))
        self._end = batch.sequence_end
        return "acknowledged"


FATES = ("arrives", "arrives", "arrives", "answer lost", "request lost", "fails", "too large")


@given(st.lists(st.integers(1, 4), min_size=1, max_size=12), st.lists(st.sampled_from(FATES), max_size=60))
def test_records_are_written_once_and_in_order_whatever_happens(batches: list[int], fates: list[str]) -> None:
    """R13, and mission 003.32: only what was refused for good is missing, and nothing else."""
    lane, partition = lane_with(*batches), IdempotentPartition()
    total = sum(batches)
    fate = iter(fates)
    refused: set[bytes | None] = set()
    while not lane.is_settled:
        lane._pause = None
        sent: list[tuple[Batch, str]] = []
        is_cut = False
        while lane.can_send() and len(lane.in_flight) < IN_FLIGHT_MAX:
            batch = lane.take()
            what = next(fate, "arrives")
            if what == "too large" and batch.attempts > 1:
                what = "arrives"  # What it may have written once it does not find too large later.
            if is_cut or what == "request lost":
                is_cut = True  # Whatever was sent on this connection afterwards is lost as well.
                sent.append((batch, "lost"))
            elif what == "answer lost":
                is_cut = True
                partition.produce(batch)
                sent.append((batch, "lost"))
            elif what in ("fails", "too large"):
                sent.append((batch, what))
            else:
                sent.append((batch, partition.produce(batch)))
        for batch, outcome in sent:
            if outcome == "acknowledged":
                lane.acknowledge(batch)
            elif outcome in ("lost", "fails") or (outcome == "out of order" and lane.is_mending):
                lane.put_back(batch)
            else:
                assert outcome == "too large"
                lane.refuse(batch)
                refused |= {record.value for record in batch.records}
    assert partition.values == [value for value in (b"%d" % n for n in range(total)) if value not in refused]
