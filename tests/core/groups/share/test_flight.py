"""Records in flight: nobody has one twice, none is lost, and none is given out for ever (KIP-932)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trivium.core.commands.share_groups_reading import Acknowledgement, Acquired
from trivium.core.faults import Fault, Refused
from trivium.core.groups.share.flight import Claim, Flight, Run, State

LIMIT = 5
FAR_MS = 1000


def claim(
    member_id: str = "m",
    *,
    records_max: int = 500,
    is_strict: bool = False,
    locks_max: int = 2000,
    deadline_ms: int = FAR_MS,
) -> Claim:
    return Claim(member_id, deadline_ms, records_max, is_strict, LIMIT, locks_max)


def acknowledge(flight: Flight, first: int, last: int, kind: Acknowledgement, member_id: str = "m") -> None:
    flight.acknowledge((first, last), kind, member_id, delivery_count_max=LIMIT, deadline_ms=FAR_MS * 2)
    flight.settle()


def test_acquire_takes_whole_batches_even_past_the_wish() -> None:
    flight = Flight(10)
    assert flight.acquire([(10, 14), (15, 19)], claim(records_max=3)) == [Acquired(10, 14, 1)]
    assert flight.next_offset == 15


def test_acquire_in_strict_mode_takes_no_more_than_the_wish() -> None:
    flight = Flight(10)
    strict = claim(records_max=3, is_strict=True)
    assert flight.acquire([(10, 11), (12, 19)], strict) == [Acquired(10, 11, 1), Acquired(12, 12, 1)]
    assert flight.next_offset == 13


def test_acquire_with_all_locks_taken_gives_out_only_what_came_back() -> None:
    flight = Flight(0)
    flight.acquire([(0, 3)], claim())
    assert flight.acquire([(4, 7)], claim(locks_max=4)) == []
    acknowledge(flight, 1, 1, Acknowledgement.RELEASE)
    assert flight.acquire([(0, 3), (4, 7)], claim(locks_max=4)) == [Acquired(1, 1, 2)]
    acknowledge(flight, 0, 0, Acknowledgement.ACCEPT)
    assert flight.acquire([(4, 7)], claim(locks_max=4)) == [Acquired(4, 7, 1)]


def test_acknowledge_moves_the_start_only_past_what_is_done_with() -> None:
    flight = Flight(0)
    flight.acquire([(0, 9)], claim())
    acknowledge(flight, 2, 3, Acknowledgement.ACCEPT)
    assert (flight.start_offset, flight.finished_count) == (0, 2)
    acknowledge(flight, 0, 1, Acknowledgement.REJECT)
    assert (flight.start_offset, flight.finished_count) == (4, 0)
    acknowledge(flight, 0, 3, Acknowledgement.ACCEPT)
    assert flight.start_offset == 4


@pytest.mark.parametrize(
    ("first", "last", "member_id", "fault"),
    [
        (0, 2, "other", Fault.INVALID_RECORD_STATE),
        (3, 4, "m", Fault.INVALID_RECORD_STATE),
        (4, 4, "m", Fault.INVALID_RECORD_STATE),
        (0, 5, "m", Fault.INVALID_REQUEST),
        (9, 9, "m", Fault.INVALID_REQUEST),
    ],
)
def test_acknowledge_of_what_one_has_not_acquired_is_refused(
    first: int, last: int, member_id: str, fault: Fault
) -> None:
    flight = Flight(0)
    flight.acquire([(0, 4)], claim())
    acknowledge(flight, 4, 4, Acknowledgement.RELEASE)
    before = list(flight.runs)
    with pytest.raises(Refused) as refused:
        acknowledge(flight, first, last, Acknowledgement.ACCEPT, member_id)
    assert refused.value.fault is fault
    assert flight.runs == before


def test_renewed_lock_is_over_later_and_counts_as_the_same_delivery() -> None:
    flight = Flight(0)
    flight.acquire([(0, 4)], claim())
    acknowledge(flight, 1, 2, Acknowledgement.RENEW)
    assert flight.next_deadline_ms == FAR_MS
    assert flight.release(lambda run: run.deadline_ms <= FAR_MS, LIMIT) == [(0, 0), (3, 4)]
    assert flight.next_deadline_ms == FAR_MS * 2
    assert [run.deliveries for run in flight.runs] == [1, 1, 1]


def test_record_that_fails_goes_out_in_smaller_portions_then_alone_then_never() -> None:
    flight = Flight(0)
    sizes = []
    while flight.start_offset == 0:
        taken = flight.acquire([(0, 7)], claim())
        assert taken[0].offset_first == 0
        sizes.append(sum(each.offset_last - each.offset_first + 1 for each in taken))
        flight.release(lambda _run: True, LIMIT)
        flight.settle()
    assert sizes == [8, 8, 8, 4, 1]
    assert flight.start_offset == 1


def test_archived_span_is_given_to_nobody_and_leaves_locks_alone() -> None:
    flight = Flight(0)
    flight.acquire([(2, 3)], claim())
    flight.archive((0, 5))
    assert flight.start_offset == 2
    assert flight.next_offset == 6
    acknowledge(flight, 2, 3, Acknowledgement.ACCEPT)
    assert flight.start_offset == 6


def test_advance_forgets_what_is_gone_even_acquired() -> None:
    flight = Flight(0)
    flight.acquire([(0, 9)], claim())
    flight.advance(4)
    assert (flight.start_offset, flight.end_offset) == (4, 10)
    acknowledge(flight, 0, 9, Acknowledgement.ACCEPT)
    assert flight.start_offset == 10
    flight.advance(30)
    assert (flight.start_offset, flight.end_offset) == (30, 30)


def test_strict_claim_on_a_huge_batch_reaches_no_further_than_it_takes() -> None:
    flight = Flight(0)
    assert flight.acquire([(0, 9_999)], claim(records_max=10, is_strict=True)) == [Acquired(0, 9, 1)]
    assert flight.end_offset == 10


def test_retreat_forgets_what_a_crash_has_taken() -> None:
    flight = Flight(5)
    flight.acquire([(5, 9)], claim())
    flight.retreat(8)
    assert (flight.start_offset, flight.end_offset) == (5, 8)
    flight.retreat(3)
    assert (flight.start_offset, flight.end_offset) == (3, 3)


_STEPS = st.lists(
    st.tuples(
        st.sampled_from(["acquire", "strict", "expire", "leave", *Acknowledgement]),
        st.sampled_from(["m", "n"]),
        st.integers(0, 30),
        st.integers(0, 6),
    ),
    max_size=40,
)


@given(_STEPS)
def test_flight_through_any_history_keeps_its_promises(
    steps: list[tuple[str | Acknowledgement, str, int, int]],
) -> None:
    """Held against a dictionary that says for every offset who has it and what has become of it."""
    flight = Flight(0)
    holder: dict[int, str] = {}
    count: dict[int, int] = {}
    ended: set[int] = set()
    for what, member_id, at, size in steps:
        if what in ("acquire", "strict"):
            records_max = size or 1
            wish = claim(member_id, records_max=records_max, is_strict=what == "strict", locks_max=12)
            first = flight.next_offset
            taken = flight.acquire([(first, first + 3), (first + 4, first + 7)], wish)
            offsets = [o for each in taken for o in range(each.offset_first, each.offset_last + 1)]
            for each in taken:
                for offset in range(each.offset_first, each.offset_last + 1):
                    assert offset not in holder, "acquired twice at a time"
                    assert offset not in ended, "given out after its end"
                    count[offset] = count.get(offset, 0) + 1
                    assert each.delivery_count == count[offset] <= LIMIT
                    holder[offset] = member_id
            assert what == "acquire" or len(offsets) <= records_max
        elif what in ("expire", "leave"):
            flight.release(lambda run: what == "expire" or run.member_id == member_id, LIMIT)  # noqa: B023
            for offset in [o for o, who in holder.items() if what == "expire" or who == member_id]:
                del holder[offset]
                if count[offset] == LIMIT:
                    ended.add(offset)
        else:
            assert isinstance(what, Acknowledgement)
            span = range(at, at + size + 1)
            mine = [o for o in span if o >= flight.start_offset]
            draft = flight.copy()
            try:
                draft.acknowledge(
                    (at, at + size), what, member_id, delivery_count_max=LIMIT, deadline_ms=FAR_MS
                )
            except Refused:
                assert any(holder.get(offset) != member_id for offset in mine)
                continue
            flight = draft
            assert all(holder.get(offset) == member_id for offset in mine)
            if what is not Acknowledgement.RENEW:
                for offset in mine:
                    del holder[offset]
                    if what is not Acknowledgement.RELEASE or count[offset] == LIMIT:
                        ended.add(offset)
        flight.settle()
        _check(flight, holder, ended)
        restored = _restored(flight)
        assert restored.start_offset == flight.start_offset
        assert {r.first for r in restored.runs if r.is_done} <= ended


def _check(flight: Flight, holder: dict[int, str], ended: set[int]) -> None:
    offset = flight.start_offset
    assert all(each in ended for each in range(offset)), "passed over before its end"
    for run in flight.runs:
        assert run.first == offset
        offset = run.last + 1
        for each in range(run.first, run.last + 1):
            assert (run.member_id if run.state is State.ACQUIRED else None) == holder.get(each)
            assert run.is_done == (each in ended)
    assert not flight.runs or not flight.runs[0].is_done


def _restored(flight: Flight) -> Flight:
    """As a start makes it again from what was stored."""
    again = Flight(flight.start_offset)
    for run in flight.stored():
        again.put(run)
    for run in again.runs:
        assert run.state is not State.ACQUIRED
    expected = [
        run
        if run.state is not State.ACQUIRED
        else Run(run.first, run.last, State.AVAILABLE, run.deliveries - 1)
        for run in flight.runs
    ]
    for run in again.runs:
        for each in expected:
            if each.first <= run.last and run.first <= each.last:
                assert (each.state, each.deliveries) == (run.state, run.deliveries)
    return again
