"""Producers of a partition: replaying Kafka's log gives Kafka's snapshot and index (R11); duplicates (R13),
open transactions and what is stable (R14).
"""

from pathlib import Path
from random import Random

import pytest

from trivium.log.files import RealFiles
from trivium.log.producer_snapshot import encode_snapshot
from trivium.log.producers import CompletedTransaction, OpenTransaction, ProducerStates
from trivium.log.txn_index import TxnIndex
from trivium.records.batch import HEADER_BYTES, BatchHeader, iter_batches
from trivium.testing.disk import FakeDisk

GOLDEN = Path(__file__).parents[1] / "golden" / "kafka-files" / "txn-0"
SEQUENCE_MAX = 2**31 - 1
TRANSACTIONAL, CONTROL = 0x10, 0x30


def batch(
    offset: int,
    count: int = 1,
    *,
    sequence: int = 0,
    pid: int = 1,
    epoch: int = 0,
    attributes: int = 0,
    time: int = 0,
) -> BatchHeader:
    delta = count - 1
    return BatchHeader(offset, 100, 0, 2, 0, attributes, delta, time, time, pid, epoch, sequence, count)


def in_txn(offset: int, count: int = 1, *, pid: int = 1, sequence: int = 0) -> BatchHeader:
    return batch(offset, count, pid=pid, sequence=sequence, attributes=TRANSACTIONAL)


def end(
    producers: ProducerStates, offset: int, *, pid: int = 1, epoch: int = 0, aborted: bool = True
) -> CompletedTransaction | None:
    marker = batch(offset, pid=pid, epoch=epoch, sequence=-1, attributes=CONTROL, time=99)
    return producers.end_transaction(marker, coordinator_epoch=3, aborted=aborted)


def test_replay_of_a_kafka_log_gives_its_snapshot_and_index_byte_for_byte() -> None:
    producers, aborted = ProducerStates(), []
    for name in ("00000000000000000000.log", "00000000000000000005.log"):
        data = (GOLDEN / name).read_bytes()
        for position, header in iter_batches(data):
            if not header.is_control:
                producers.update(header)
                continue
            # A marker is one plain record: key (version, type) and value (version, coordinator epoch).
            key = position + HEADER_BYTES + 5
            is_abort = data[key + 2 : key + 4] == b"\0\0"
            coordinator_epoch = int.from_bytes(data[key + 7 : key + 11], signed=True)
            completed = producers.end_transaction(
                header, coordinator_epoch=coordinator_epoch, aborted=is_abort
            )
            if completed is not None and completed.aborted:
                aborted.append(completed.entry)
    assert encode_snapshot(producers.states) == (GOLDEN / "00000000000000000072.snapshot").read_bytes()
    assert aborted == list(TxnIndex(RealFiles(), str(GOLDEN / "00000000000000000005.txnindex"), 5))


def test_update_without_a_producer_says_nothing() -> None:
    producers = ProducerStates()
    producers.update(batch(0, pid=-1))
    assert not producers.states


def test_update_remembers_the_last_five_batches() -> None:
    producers = ProducerStates()
    for number in range(7):
        producers.update(batch(number * 10, 10, sequence=number * 10, time=number))
    state = producers.get(1)
    assert state is not None
    assert [found.first_sequence for found in state.batches] == [20, 30, 40, 50, 60]
    assert (state.last_sequence, state.last_offset, state.last_timestamp, state.epoch) == (69, 69, 6, 0)


def test_duplicate_of_a_remembered_batch_tells_where_it_lies() -> None:
    producers = ProducerStates()
    for number in range(6):
        producers.update(batch(100 + number * 10, 10, sequence=number * 10))
    again = producers.duplicate_of(batch(999, 10, sequence=30))
    assert again is not None
    assert (again.first_offset, again.last_offset) == (130, 139)
    assert producers.duplicate_of(batch(999, 10, sequence=0)) is None, "the sixth last is forgotten"
    assert producers.duplicate_of(batch(999, 9, sequence=30)) is None
    assert producers.duplicate_of(batch(999, 10, sequence=60)) is None
    assert producers.duplicate_of(batch(999, 10, sequence=30, epoch=1)) is None
    assert producers.duplicate_of(batch(999, 10, sequence=30, pid=2)) is None


def test_duplicate_across_the_largest_sequence_is_found() -> None:
    producers = ProducerStates()
    wrapping = batch(0, 10, sequence=SEQUENCE_MAX - 4)
    producers.update(wrapping)
    state = producers.get(1)
    assert state is not None
    assert (state.batches[0].first_sequence, state.last_sequence) == (SEQUENCE_MAX - 4, 4)
    assert producers.duplicate_of(wrapping) is not None


def test_update_in_a_new_epoch_forgets_the_old_batches() -> None:
    producers = ProducerStates()
    producers.update(batch(0, sequence=5))
    producers.update(batch(1, sequence=0, epoch=1))
    state = producers.get(1)
    assert state is not None
    assert (state.epoch, len(state.batches), state.last_sequence) == (1, 1, 0)


def test_marker_of_a_new_epoch_leaves_no_last_sequence() -> None:
    """KIP-890: the coordinator bumps the epoch with the marker; the next batch begins at sequence 0."""
    producers = ProducerStates()
    producers.update(in_txn(0))
    end(producers, 1, epoch=1)
    state = producers.get(1)
    assert state is not None
    assert (state.epoch, state.last_sequence, state.coordinator_epoch, state.last_timestamp) == (1, -1, 3, 99)


def test_end_transaction_gives_first_offset_marker_and_stable_offset() -> None:
    producers = ProducerStates()
    producers.update(in_txn(10, 3))
    producers.update(in_txn(13, 2, sequence=3))
    completed = end(producers, 15)
    assert completed == CompletedTransaction(1, 10, 15, 16, aborted=True)
    assert completed is not None
    assert completed.entry == (1, 10, 15, 16)
    assert producers.open_transactions == []
    assert end(producers, 16) is None


def test_end_transaction_beside_an_older_open_one_is_stable_up_to_that() -> None:
    producers = ProducerStates()
    producers.update(in_txn(10, pid=1))
    producers.update(in_txn(11, pid=2))
    completed = end(producers, 12, pid=2)
    assert completed is not None
    assert completed.last_stable_offset == 10


def test_marker_without_a_transaction_is_remembered_for_its_epoch() -> None:
    producers = ProducerStates()
    assert end(producers, 5, pid=9, epoch=4) is None
    state = producers.get(9)
    assert state is not None
    assert (state.epoch, state.coordinator_epoch) == (4, 3)


def test_first_unstable_offset_is_that_of_the_oldest_open_transaction() -> None:
    producers = ProducerStates()
    assert producers.first_unstable_offset(100) is None
    producers.update(batch(0))
    assert producers.first_unstable_offset(100) is None
    producers.update(in_txn(10, pid=1))
    producers.update(in_txn(20, pid=2))
    assert producers.first_unstable_offset(100) == 10
    end(producers, 30, pid=1)
    assert producers.first_unstable_offset(100) == 20
    end(producers, 31, pid=2)
    assert producers.first_unstable_offset(100) is None


def test_first_unstable_offset_waits_until_the_marker_is_visible() -> None:
    """R14: otherwise a crash could undo a decision that a reader has already been shown."""
    producers = ProducerStates()
    producers.update(in_txn(10))
    end(producers, 12)
    assert producers.first_unstable_offset(11) == 10
    assert producers.first_unstable_offset(12) == 10
    assert producers.first_unstable_offset(13) is None


def test_open_transactions_are_listed_oldest_first() -> None:
    producers = ProducerStates()
    producers.update(in_txn(10, pid=7))
    producers.update(in_txn(20, pid=3))
    assert producers.open_transactions == [OpenTransaction(7, 10, 0), OpenTransaction(3, 20, 0)]


def test_expire_forgets_the_silent_but_not_those_in_a_transaction() -> None:
    producers = ProducerStates()
    producers.update(batch(0, pid=1, time=100))
    producers.update(batch(1, pid=2, time=101))
    producers.update(batch(2, pid=3, time=100, attributes=TRANSACTIONAL))
    assert producers.expire(now_ms=200, expiration_ms=100) == 1
    assert [state.producer_id for state in producers.states] == [2, 3]


def directory_with(path: Path, *offsets: int) -> ProducerStates:
    producers = ProducerStates()
    for offset in offsets:
        producers.update(in_txn(offset - 1, pid=offset))
        producers.write_snapshot(RealFiles(), str(path), offset)
    return producers


def test_load_newest_takes_the_newest_snapshot_the_log_reaches(tmp_path: Path) -> None:
    directory_with(tmp_path, 10, 20, 30)
    loaded, offset = ProducerStates.load_newest(RealFiles(), str(tmp_path), 29)
    assert offset == 20
    assert [state.producer_id for state in loaded.states] == [10, 20]
    assert [txn.first_offset for txn in loaded.open_transactions] == [9, 19]
    assert loaded.first_unstable_offset(100) == 9


def test_load_newest_removes_snapshots_that_the_log_does_not_reach(tmp_path: Path) -> None:
    """Once the log has grown past it again, such a snapshot would be believed, and be wrong."""
    directory_with(tmp_path, 10, 30)
    ProducerStates.load_newest(RealFiles(), str(tmp_path), 29)
    assert ProducerStates.load_newest(RealFiles(), str(tmp_path), 100)[1] == 10


def test_load_newest_removes_them_for_good() -> None:
    """R2: a removal that a power loss undid would put the snapshot back, beside a log that grew meanwhile."""
    disk = FakeDisk({"/t-0/00000000000000000030.snapshot": encode_snapshot([])})
    ProducerStates.load_newest(disk, "/t-0", 29)
    assert all(not disk.crash(Random(seed)).tree() for seed in range(20))


def test_load_newest_passes_over_a_damaged_snapshot(tmp_path: Path) -> None:
    directory_with(tmp_path, 10, 20)
    (tmp_path / "00000000000000000020.snapshot").write_bytes(b"damaged")
    (tmp_path / "00000000000000000025.snapshot.tmp").write_bytes(b"unfinished")
    (tmp_path / "00000000000000000026.snapshot.deleted").write_bytes(b"leaving")
    assert ProducerStates.load_newest(RealFiles(), str(tmp_path), 100)[1] == 10
    assert sorted(path.name[17:] for path in tmp_path.iterdir()) == [
        "010.snapshot",
        "025.snapshot.tmp",
        "026.snapshot.deleted",
    ]


def test_load_newest_without_snapshots_begins_at_zero(tmp_path: Path) -> None:
    loaded, offset = ProducerStates.load_newest(RealFiles(), str(tmp_path), 100)
    assert (len(loaded.states), offset) == (0, 0)


def test_snapshot_and_replay_equal_an_uninterrupted_state(tmp_path: Path) -> None:
    """Truncation: the newest snapshot, then the batches that follow it."""
    producers = directory_with(tmp_path, 10)
    loaded, offset = ProducerStates.load_newest(RealFiles(), str(tmp_path), 50)
    assert offset == 10
    for each in (producers, loaded):
        each.update(in_txn(10, pid=10, sequence=1))
        end(each, 11, pid=10)
    assert encode_snapshot(loaded.states) == encode_snapshot(producers.states)


@pytest.mark.parametrize("high_watermark", [0, 10])
def test_first_unstable_offset_of_a_loaded_open_transaction_is_its_first(
    tmp_path: Path, high_watermark: int
) -> None:
    directory_with(tmp_path, 10)
    loaded, _ = ProducerStates.load_newest(RealFiles(), str(tmp_path), 10)
    assert loaded.first_unstable_offset(high_watermark) == 9
