"""Transactions as readers see them (R14): what is lawful beside each anomaly, and other ways into it."""

from tests.testing.history.story import Story, polled, sent
from trivium.testing.history import AnomalyKind, Decision, Poll, Record, Txn

COMMITTED = Txn(Decision.COMMIT, "t")
ABORTED = Txn(Decision.ABORT, "t")


def test_committed_transaction_read_whole_is_no_anomaly() -> None:
    story = Story().ok("a", sent("x", "y", at=0, txn="t")).ok("a", COMMITTED)
    story.ok("b", Poll("orders", 0, 0, 3, (Record(0, "x"), Record(1, "y")), watermark=3))
    assert story.kinds() == set()


def test_reader_of_everything_may_see_an_open_and_an_aborted_transaction() -> None:
    story = Story().ok("a", sent("x", at=0, txn="t")).ok("b", polled("x", committed=False))
    story.ok("a", ABORTED).ok("c", polled("x", committed=False))
    assert story.kinds() == set()


def test_read_while_the_commit_is_under_way_is_no_anomaly() -> None:
    story = Story().ok("a", sent("x", at=0, txn="t")).ok("b", polled("x")).ok("a", COMMITTED, since=1)
    assert story.kinds() == set()


def test_read_whose_send_ends_later_is_judged_when_it_does() -> None:
    story = Story().ok("b", polled("x", end=1)).fail("a", sent("x"))
    assert story.kinds() == {AnomalyKind.ABORTED_READ}
    story = Story().ok("b", polled("x", end=1)).ok("a", sent("x", at=0, txn="t"), since=0).ok("a", ABORTED)
    assert story.kinds() == {AnomalyKind.ABORTED_READ}


def test_read_of_a_refused_send_is_an_aborted_read_for_every_reader() -> None:
    story = Story().fail("a", sent("x")).ok("b", polled("x", end=1, committed=False))
    assert story.kinds() == {AnomalyKind.ABORTED_READ}


def test_read_of_a_transaction_that_nobody_ever_commits_is_an_uncommitted_read() -> None:
    story = Story().ok("a", sent("x", at=0, txn="t")).ok("b", polled("x", end=1))
    assert story.kinds() == {AnomalyKind.UNCOMMITTED_READ}


def test_refused_commit_commits_nothing() -> None:
    story = Story().ok("a", sent("x", at=0, txn="t")).fail("a", COMMITTED).ok("b", polled("x", end=1))
    assert story.kinds() == {AnomalyKind.UNCOMMITTED_READ}


def test_transaction_without_an_answer_may_be_there_as_a_whole_or_not_at_all() -> None:
    story = Story().ok("a", sent("x", "y", at=0, txn="t")).unknown("a", COMMITTED)
    assert story.kinds() == set()
    whole, nothing = polled("x", "y"), Poll("orders", 0, 0, 3)
    story.ok("b", nothing)
    assert story.kinds() == set()
    story = Story().ok("a", sent("x", "y", at=0, txn="t")).unknown("a", COMMITTED).ok("b", whole)
    assert story.kinds() == set()


def test_transaction_over_two_partitions_of_which_one_is_passed_over_is_torn() -> None:
    story = Story().ok("a", sent("x", at=0, txn="t")).ok("a", sent("y", at=0, txn="t", partition=1))
    story.unknown("a", COMMITTED).ok("b", polled("x")).ok("b", Poll("orders", 1, 0, 2))
    assert story.kinds() == {AnomalyKind.TORN_TRANSACTION}
