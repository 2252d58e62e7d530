"""One log, one order (R12): readers, senders, offsets of groups, edges and epochs, lawful and not."""

import pytest

from tests.testing.history.story import Story, polled, sent
from trivium.testing.history import (
    AnomalyKind,
    Assign,
    Commit,
    Committed,
    Decision,
    Operation,
    Outcome,
    OutOfOrder,
    Poll,
    Protocol,
    Record,
    Send,
    Txn,
    check,
)
from trivium.testing.history.assignments import GENERATIONS_KEPT

# -- contents --------------------------------------------------------------------------------------


def shown(time_ms: int | None = None, headers: tuple[tuple[str, str], ...] | None = None) -> Poll:
    return Poll("orders", 0, 0, 1, (Record(0, "x", time_ms, headers),))


def test_protocols_that_show_different_times_or_headers_disagree() -> None:
    assert Story().ok("a", shown(5)).ok("b", shown(6), "iggy").kinds() == {AnomalyKind.PROTOCOLS_DISAGREE}
    assert Story().ok("a", shown(5)).ok("b", shown(6)).kinds() == {AnomalyKind.TWO_VALUES}
    story = Story().ok("a", shown(headers=(("k", "1"),))).ok("b", shown(headers=()), "iggy")
    assert story.kinds() == {AnomalyKind.PROTOCOLS_DISAGREE}


def test_protocol_that_shows_neither_time_nor_headers_agrees() -> None:
    story = Story().ok("a", shown(), "rustlog").ok("b", shown(5, ()), "iggy").ok("c", shown(5, ()))
    assert story.kinds() == set()


def test_value_in_two_partitions_is_at_two_offsets() -> None:
    story = Story().ok("a", polled("x")).ok("a", Poll("orders", 1, 0, 1, (Record(0, "x"),)))
    assert story.kinds() == {AnomalyKind.TWO_OFFSETS}


# -- readers ---------------------------------------------------------------------------------------


def test_reader_that_goes_on_where_it_stopped_or_seeks_is_no_anomaly() -> None:
    story = Story().ok("a", polled("x")).ok("a", polled("y", at=1)).ok("a", polled("x", seeks=True))
    assert story.kinds() == set()


def test_reader_that_jumps_over_what_another_has_read_has_skipped_it() -> None:
    story = Story().ok("a", polled("x")).ok("a", polled("z", at=2)).ok("b", polled("x", "y", "z"))
    assert story.kinds() == {AnomalyKind.SKIPPED_POLL}


def test_reader_that_passes_over_a_gap_for_everybody_is_no_anomaly() -> None:
    """Markers of transactions have offsets, and nobody sees them."""
    with_gap = Poll("orders", 0, 0, 3, (Record(0, "x"), Record(2, "z")))
    assert Story().ok("a", with_gap).ok("b", with_gap).kinds() == set()


def test_reader_of_committed_records_passes_over_what_only_others_see() -> None:
    story = Story().ok("a", polled("x", "y", committed=False))
    story.ok("b", Poll("orders", 0, 0, 2, (Record(1, "y"),)))
    assert story.kinds() == set()


def test_poll_that_shows_offsets_backwards_is_not_monotonic() -> None:
    story = Story().ok("a", Poll("orders", 0, 0, 2, (Record(1, "y"), Record(0, "x"))))
    assert story.kinds() == {AnomalyKind.NON_MONOTONIC_POLL}


def test_reader_that_is_told_to_go_on_before_what_it_was_shown_is_not_monotonic() -> None:
    told = Poll("orders", 0, 0, 1, (Record(0, "x"), Record(1, "y")))
    assert Story().ok("a", told).ok("a", polled("y", at=1)).kinds() == {AnomalyKind.NON_MONOTONIC_POLL}


# -- senders ---------------------------------------------------------------------------------------


def test_sends_at_the_same_time_may_lie_in_any_order() -> None:
    story = Story().ok("a", sent("x", at=1)).ok("b", sent("y", at=0), since=0)
    assert story.ok("c", polled("y", "x", end=2)).kinds() == set()


def test_sends_without_offsets_are_judged_by_where_they_are_found() -> None:
    story = Story().ok("a", sent("x"), "iggy").ok("b", sent("y"), "rustlog")
    assert story.ok("c", polled("y", "x", end=2)).kinds() == {AnomalyKind.NON_MONOTONIC_SEND}


def test_send_without_an_answer_lies_behind_what_was_sent_before_and_anywhere_else() -> None:
    story = Story().ok("a", sent("x", at=0)).unknown("a", sent("y")).ok("a", sent("z", at=1))
    assert story.ok("b", polled("x", "z", "y", end=3)).kinds() == set()
    story = Story().ok("a", sent("x", at=1)).unknown("a", sent("y"))
    assert story.ok("b", polled("y", "x", end=2)).kinds() == {AnomalyKind.NON_MONOTONIC_SEND}


def test_values_of_one_send_lie_in_their_order() -> None:
    story = Story().ok("a", sent("x", "y"), "iggy").ok("b", polled("y", "x", end=2))
    assert story.kinds() == {AnomalyKind.NON_MONOTONIC_SEND}
    story = Story().ok("a", Send("orders", 0, ("x", "y"), (1, 0))).ok("b", polled("y", "x", end=2))
    assert story.kinds() == {AnomalyKind.NON_MONOTONIC_SEND}


# -- offsets of groups -----------------------------------------------------------------------------


def commit(offset: int) -> Commit:
    return Commit("g", "orders", 0, offset)


def committed(offset: int | None) -> Committed:
    return Committed("g", "orders", 0, offset)


def test_group_that_finds_nothing_after_a_commit_has_lost_it() -> None:
    story = Story().ok("a", commit(7)).ok("b", committed(None), "rustlog")
    assert story.kinds() == {AnomalyKind.OFFSET_REGRESSION}


def test_group_that_went_back_on_purpose_finds_the_lower_offset() -> None:
    story = Story().ok("a", commit(7)).ok("a", commit(3), "iggy").ok("b", committed(3), "rustlog")
    assert story.kinds() == set()


@pytest.mark.parametrize("offset", [3, 7])
def test_group_with_two_commits_at_the_same_time_finds_either(offset: int) -> None:
    story = Story().ok("a", commit(7)).ok("b", commit(3), since=0).ok("c", committed(offset))
    assert story.kinds() == set()


def test_group_may_find_a_commit_that_has_no_answer_yet() -> None:
    story = Story().ok("a", commit(7)).ok("b", committed(3)).ok("c", commit(3), since=1)
    assert story.kinds() == set()
    story = Story().ok("a", commit(7)).ok("b", committed(3)).ok("c", commit(3))
    assert story.kinds() == {AnomalyKind.OFFSET_REGRESSION}
    assert Story().unknown("a", commit(3)).ok("a", commit(7)).ok("b", committed(3)).kinds() == set()


# -- members, edges, epochs ------------------------------------------------------------------------


def test_partition_that_changes_hands_with_a_generation_is_no_anomaly() -> None:
    first = ("orders", 0)
    story = Story().ok("a", Assign("g", 1, (first,))).ok("b", Assign("g", 2, (first,)))
    story.ok("b", Assign("g", 2, (first,))).ok("c", Assign("h", 2, (first,)))
    assert story.kinds() == set()


def test_assignments_of_many_generations_are_forgotten() -> None:
    story = Story()
    for generation in range(GENERATIONS_KEPT + 1):
        story.ok("a", Assign("g", generation, (("orders", 0),)))
    assert AnomalyKind.DOUBLE_ASSIGNMENT not in story.ok("b", Assign("g", 0, (("orders", 0),))).kinds()


def test_edges_told_at_the_same_time_may_differ() -> None:
    later, earlier = Poll("orders", 0, 0, 0, watermark=5), Poll("orders", 0, 0, 0, watermark=4)
    assert Story().ok("a", later).ok("b", earlier, since=0).kinds() == set()


def test_member_of_an_older_generation_that_commits_is_stale() -> None:
    story = Story().ok("a", Assign("g", 2, ())).ok("b", Commit("g", "orders", 0, 1, generation=1))
    assert story.kinds() == {AnomalyKind.STALE_EPOCH}
    story = Story().ok("a", Assign("g", 2, ())).fail("b", Commit("g", "orders", 0, 1, generation=1))
    assert story.kinds() == set()


def test_commit_that_was_under_way_when_the_epoch_rose_is_no_anomaly() -> None:
    story = Story().ok("b", Txn(Decision.INIT, producer="p", epoch=2))
    assert story.ok("a", Txn(Decision.COMMIT, "t", "p", 1), since=0).kinds() == set()


def test_history_in_another_order_than_that_of_its_ends_is_refused() -> None:
    late = Operation("a", Protocol.KAFKA, Outcome.OK, 5, 9, polled())
    early = Operation("a", Protocol.KAFKA, Outcome.OK, 1, 3, polled(), line=2)
    with pytest.raises(OutOfOrder, match="line 2 ended before"):
        check([late, early])
