"""Acknowledged records are there (R1, R12): what counts as lost, missed or unseen, and what does not."""

from tests.testing.history.story import Story, polled, sent
from trivium.testing.history import AnomalyKind, Decision, Poll, Record, Txn


def test_record_that_every_reader_finds_is_no_anomaly() -> None:
    story = Story().ok("a", sent("x", at=0)).ok("b", polled("x", end=1)).ok("c", polled("x", end=1), "iggy")
    assert story.kinds() == set()


def test_record_that_a_read_under_way_does_not_show_is_no_anomaly() -> None:
    """The poll had begun before the send was acknowledged."""
    story = Story().ok("a", sent("x", at=0)).ok("b", polled(end=0), since=0).ok("b", polled("x", end=1))
    assert story.kinds() == set()


def test_record_of_a_send_without_an_answer_may_be_there_or_not() -> None:
    story = Story().unknown("a", sent("x")).unknown("a", sent("y")).ok("b", polled("x", end=1))
    assert story.kinds() == set()


def test_record_that_another_has_replaced_is_lost() -> None:
    story = Story().ok("a", sent("x", at=0)).ok("a", sent("y", at=0)).ok("b", polled("y", end=1))
    assert story.kinds() == {AnomalyKind.LOST_WRITE, AnomalyKind.TWO_VALUES}


def test_record_that_was_read_and_is_gone_after_a_restart_is_lost() -> None:
    story = Story().ok("a", sent("x", "y", at=0)).ok("b", polled("x", "y", end=2))
    story.ok("c", polled("x", end=1))
    assert story.kinds() == {AnomalyKind.LOST_WRITE, AnomalyKind.WATERMARK_REGRESSION}


def test_record_without_an_offset_that_nobody_finds_in_a_log_read_to_its_end_is_lost() -> None:
    story = Story().ok("a", sent("x"), "iggy").ok("b", sent("y", at=0)).ok("c", polled("y", end=1))
    assert story.kinds() == {AnomalyKind.LOST_WRITE}


def test_record_without_an_offset_in_a_log_not_read_from_its_start_is_unseen() -> None:
    story = Story().ok("a", sent("x"), "iggy").ok("b", sent("y", at=1)).ok("c", polled("y", at=1, end=2))
    assert story.kinds() == {AnomalyKind.UNSEEN}


def test_record_without_an_offset_that_shows_behind_an_end_seen_too_late_was_missed() -> None:
    story = Story().ok("a", sent("x"), "iggy").ok("b", polled(end=0)).ok("b", polled("x", end=1))
    assert story.kinds() == {AnomalyKind.MISSED_READ}


def test_record_without_an_offset_that_was_read_and_is_gone_after_a_restart_is_lost() -> None:
    story = Story().ok("a", sent("x"), "iggy").ok("b", polled("x", end=1)).ok("c", polled(end=0))
    assert story.kinds() == {AnomalyKind.LOST_WRITE, AnomalyKind.WATERMARK_REGRESSION}


def test_record_in_a_committed_transaction_that_is_not_there_is_lost() -> None:
    story = Story().ok("a", sent("x", at=0, txn="t")).ok("a", Txn(Decision.COMMIT, "t"))
    story.ok("b", Poll("orders", 0, 0, 2, watermark=2))
    assert story.kinds() == {AnomalyKind.LOST_WRITE}


def test_record_behind_an_open_transaction_is_not_missed() -> None:
    """A reader of committed records stops at the last stable offset, wherever the log ends."""
    story = Story().ok("a", sent("x", at=0, txn="t")).ok("b", sent("y", at=1))
    story.ok("c", Poll("orders", 0, 0, 0, watermark=2, stable=0))
    story.ok("d", Poll("orders", 0, 0, 0, stable=0), "rustlog")
    story.ok("a", Txn(Decision.ABORT, "t"))
    story.ok("c", Poll("orders", 0, 0, 3, (Record(1, "y"),), watermark=3, stable=3))
    assert story.kinds() == set()


def test_record_behind_a_transaction_whose_first_send_has_no_answer_yet_is_not_missed() -> None:
    story = Story().ok("b", sent("y", at=1)).ok("d", Poll("orders", 0, 0, 0, stable=0), "rustlog")
    story.ok("a", sent("x", at=0, txn="t"), since=0).ok("a", Txn(Decision.ABORT, "t"))
    story.ok("c", Poll("orders", 0, 0, 3, (Record(1, "y"),), watermark=3, stable=3))
    assert story.kinds() == set()


def test_record_that_was_deleted_on_purpose_is_neither_lost_nor_unseen() -> None:
    story = Story().ok("a", sent("x", "y", at=0))
    story.ok("b", Poll("orders", 0, 1, 2, (Record(1, "y"),), watermark=2, start=1))
    assert story.kinds() == set()
