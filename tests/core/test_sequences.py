"""Idempotent producers (promise R13, 003.32): every batch once, in order, whatever the network does."""

import random

import pytest

from tests.core.batches import batch, produce, writing_world
from tests.core.fakes import NOW_MS, World
from trivium.core.commands.records import Produce, ProducedPart, ProducePart
from trivium.core.faults import Fault
from trivium.core.produce import ACKS_LEADER
from trivium.records.batch import check_batches
from trivium.records.control import EndTxnMarker, build_end_txn

SEQUENCE_LAST = 2**31 - 1
IN_FLIGHT_MAX = 5


def send(
    world: World, sequence: int, count: int = 1, *, epoch: int = 0, producer_id: int = 7, value: bytes = b"v"
) -> ProducedPart:
    records = batch(*[value] * count, producer_id=producer_id, producer_epoch=epoch, base_sequence=sequence)
    return produce(world, records)


def test_batches_in_sequence_are_appended() -> None:
    world = writing_world()
    assert [send(world, sequence, 2).base_offset for sequence in (0, 2, 4)] == [0, 2, 4]


@pytest.mark.parametrize("again", range(IN_FLIGHT_MAX))
def test_batch_that_comes_again_gets_its_first_answer(again: int) -> None:
    world = writing_world()
    offsets = [send(world, sequence).base_offset for sequence in range(IN_FLIGHT_MAX)]
    result = send(world, again)
    assert (result.fault, result.base_offset) == (None, offsets[again])
    assert world.log("t").log_end_offset == IN_FLIGHT_MAX


def test_batch_older_than_the_last_five_is_out_of_order() -> None:
    world = writing_world()
    for sequence in range(IN_FLIGHT_MAX + 1):
        send(world, sequence)
    assert send(world, 0).fault is Fault.OUT_OF_ORDER_SEQUENCE


def test_gap_is_out_of_order_and_the_missing_batch_is_still_taken() -> None:
    world = writing_world()
    send(world, 0)
    assert send(world, 2).fault is Fault.OUT_OF_ORDER_SEQUENCE
    assert send(world, 1).fault is None
    assert send(world, 2).fault is None
    assert world.log("t").log_end_offset == 3


def test_batch_that_overlaps_an_earlier_one_is_out_of_order() -> None:
    world = writing_world()
    send(world, 0, 3)
    assert send(world, 0, 2).fault is Fault.OUT_OF_ORDER_SEQUENCE
    assert send(world, 2, 2).fault is Fault.OUT_OF_ORDER_SEQUENCE


def test_stale_epoch_is_refused() -> None:
    world = writing_world()
    send(world, 0, epoch=2)
    assert send(world, 1, epoch=1).fault is Fault.INVALID_PRODUCER_EPOCH


def test_new_epoch_begins_at_zero() -> None:
    world = writing_world()
    send(world, 0)
    assert send(world, 1, epoch=1).fault is Fault.OUT_OF_ORDER_SEQUENCE
    assert send(world, 0, epoch=1).base_offset == 1
    assert send(world, 1, epoch=1).base_offset == 2


def test_producer_that_nobody_knows_may_begin_anywhere() -> None:
    """Its earlier records may have left by retention; Kafka takes it, too."""
    world = writing_world()
    assert send(world, 4_711).base_offset == 0
    assert send(world, 4_712).base_offset == 1


def test_sequence_begins_again_after_the_last_number() -> None:
    world = writing_world()
    send(world, SEQUENCE_LAST - 1, 2)
    assert send(world, 0).base_offset == 2


def test_batch_across_the_last_number_goes_on_behind_it() -> None:
    world = writing_world()
    send(world, SEQUENCE_LAST, 3)
    assert send(world, 2).base_offset == 3
    assert send(world, SEQUENCE_LAST, 3).base_offset == 0


def test_producers_and_partitions_do_not_know_each_other() -> None:
    world = writing_world()
    assert send(world, 0, producer_id=1).fault is None
    assert send(world, 0, producer_id=2).fault is None
    records = batch(b"v", producer_id=1, producer_epoch=0, base_sequence=0)
    assert produce(world, records, partition=1).base_offset == 0


def test_duplicate_of_a_stamped_batch_gets_its_time_again() -> None:
    world = writing_world()
    world.create_topic("stamped", message_timestamp_type="LogAppendTime")
    records = batch(b"v", producer_id=1, producer_epoch=0, base_sequence=0)
    first = produce(world, records, topic="stamped")
    world.clock.advance(1_000)
    assert produce(world, records, topic="stamped").log_append_time_ms == first.log_append_time_ms


def test_transactional_batch_is_refused_without_a_transaction() -> None:
    """With an id and nobody who coordinates transactions; and without one, as Kafka refuses it."""
    world = writing_world()
    records = batch(b"v", producer_id=1, producer_epoch=0, base_sequence=0, transactional=True)
    named = Produce([ProducePart("t", 0, records)], ACKS_LEADER, 30_000, transactional_id="tx")
    assert world.execute(named)[0].fault is Fault.INVALID_TXN_STATE
    assert produce(world, records).fault is Fault.NOT_AUTHORIZED_TRANSACTIONAL_ID
    assert world.log("t").log_end_offset == 0


def test_plain_batch_within_an_open_transaction_is_refused() -> None:
    """A directory of Kafka may hold one that is still open."""
    world = writing_world()
    begun = bytearray(batch(b"v", producer_id=1, producer_epoch=0, base_sequence=0, transactional=True))
    live = world.cluster.partition("t", 0)
    live.log.append(begun, check_batches(begun), 0)
    assert send(world, 1, producer_id=1).fault is Fault.INVALID_TXN_STATE
    marker = EndTxnMarker(committed=True, coordinator_epoch=0)
    ended = bytearray(build_end_txn(marker, producer_id=1, producer_epoch=0, timestamp=NOW_MS))
    live.log.append(ended, check_batches(ended), 0)
    assert send(world, 1, producer_id=1).fault is None


# -- a network that loses, repeats and reorders --------------------------------------------------


class Client:
    """A producer with five requests in flight over a network that does what it likes.

    A request is delivered or not, once or often, and its answer is lost or not. What was not answered is sent
    again, in order, as Kafka's producers do it. The very first request is not overtaken: a broker that knows
    nothing of a producer takes what comes first, since retention may have taken the rest.
    """

    def __init__(self, rng: random.Random, producer_id: int) -> None:
        self.rng = rng
        self.producer_id = producer_id
        self.sequence = rng.choice((0, SEQUENCE_LAST - 20))
        self.pending: list[bytes] = []
        self.acked: list[int] = []
        """The offsets of its batches, as answered."""
        self.counts: list[int] = []
        """How many records each batch has; each record holds the number of its batch."""
        self.late: list[bytes] = []
        """Requests that were answered long ago and may still turn up."""

    def fill(self) -> None:
        while len(self.pending) < IN_FLIGHT_MAX:
            count = self.rng.randint(1, 3)
            value = b"%d-%d" % (self.producer_id, len(self.counts))
            self.pending.append(
                batch(
                    *[value] * count,
                    producer_id=self.producer_id,
                    producer_epoch=0,
                    base_sequence=self.sequence,
                )
            )
            self.counts.append(count)
            self.sequence = (self.sequence + count) % 2**31

    def step(self, world: World) -> None:
        self.fill()
        # Some of the five arrive, perhaps out of order, perhaps more than once, perhaps very late.
        arriving = [records for records in self.pending if self.rng.random() < 0.7]
        if not self.acked:
            arriving = self.pending[:1]
        elif self.rng.random() < 0.3:
            self.rng.shuffle(arriving)
        if self.late and self.rng.random() < 0.3:
            arriving.insert(0, self.rng.choice(self.late))
        answers: dict[bytes, int] = {}
        for records in arriving:
            for _ in range(self.rng.choice((1, 1, 2))):
                result = produce(world, records)
                if result.fault is None and self.rng.random() < 0.7:
                    answers[records] = result.base_offset
                else:
                    assert result.fault in (None, Fault.OUT_OF_ORDER_SEQUENCE)
        # Answers count in order: what is behind an unanswered request is sent again.
        while self.pending and self.pending[0] in answers:
            records = self.pending.pop(0)
            self.acked.append(answers[records])
            self.late = [*self.late, records][-8:]


@pytest.mark.parametrize("seed", range(30))
def test_histories_with_retries_and_reordering_hold_every_batch_once(seed: int) -> None:
    """R13: retries, duplicates, reordering of one to five in flight; one seed, one history."""
    rng = random.Random(seed)
    world = writing_world()
    clients = [Client(rng, producer_id) for producer_id in (1, 2)]
    for _ in range(60):
        rng.choice(clients).step(world)
    written = [value for _, _, value in world.log("t").records()]
    for client in clients:
        sent = b"%d-" % client.producer_id
        numbers = [int(value.removeprefix(sent)) for value in written if value and value.startswith(sent)]
        counts = [numbers.count(number) for number in range(len(client.counts))]
        assert numbers == sorted(numbers), f"seed {seed}: out of order"
        assert counts[: len(client.acked)] == client.counts[: len(client.acked)], (
            f"seed {seed}: lost or doubled"
        )
        assert all(count in (0, expected) for count, expected in zip(counts, client.counts, strict=True))
    offsets = [offset for client in clients for offset in client.acked]
    assert len(offsets) == len(set(offsets)), f"seed {seed}: two batches at one offset"
