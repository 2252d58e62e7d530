"""R6: any flipped bit is found, or provably harmless. R7: any cut, garbage or missing file recovers or is
named. In both: never a wrong record, never a silent loss, and a second start changes nothing.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from uuid import UUID

import pytest

from tests.log.log_of import NOW, append, open_directory
from trivium.log.directory import LogDirectory
from trivium.log.faults import Corrupt, DirectoryRefused, LogError
from trivium.log.names import CLEAN_SHUTDOWN, LOG_START_OFFSET_CHECKPOINT
from trivium.log.partition_log import PartitionLog
from trivium.log.settings import LogSettings
from trivium.log.shortening import truncate
from trivium.log.slice import Slice
from trivium.log.txn_index import AbortedTransaction
from trivium.records.batch import BatchHeader, iter_batches, iter_records
from trivium.records.control import EndTxnMarker, build_end_txn
from trivium.records.record import Record
from trivium.testing.disk import FakeDisk

SMALL = LogSettings(segment_bytes=420, index_interval_bytes=90)
BIT_STEP = int(os.environ.get("TRIVIUM_CRASH_BIT_STEP", "7"))
"""Every so many bits is flipped; 1 is every bit."""

Contents = dict[int, tuple[bytes | None, bytes | None, int]]


@dataclass(frozen=True)
class Seen:
    """What a reader can get out of a directory, and what the directory says about itself."""

    records: Contents
    committed: frozenset[int]
    said: bool
    """Somebody said that something is wrong: refused, corrupt, cut, or a note."""


def make_tree() -> dict[str, bytes]:
    """A small directory with all kinds of files: segments, indexes, aborted transactions, checkpoints."""
    disk = FakeDisk()
    directory = open_directory(disk, "/data", SMALL)
    log = directory.create("orders", 0, UUID(int=7), SMALL, NOW)
    for number in range(14):
        transactional = number % 5 == 2
        fields = {
            "producer_id": 4,
            "producer_epoch": 0,
            "base_sequence": number,
            "transactional": transactional,
        }
        append(log, (b"k%d" % number, b"value-%d" % number), timestamp=NOW + number * 10, **fields)
        if transactional:
            marker = EndTxnMarker(committed=number == 7, coordinator_epoch=1)
            data = build_end_txn(marker, producer_id=4, producer_epoch=0, timestamp=NOW + number * 10)
            log.append(bytearray(data), leader_epoch=0, now_ms=NOW)
            log.advance_high_watermark(log.log_end_offset)
    log.advance_log_start(2)
    directory.close()
    return {path: data for path, data in disk.tree().items() if not path.endswith(".lock")}


TREE = make_tree()


def look(disk: FakeDisk) -> Seen:
    """Open, read everything that is served, and listen to what is said."""
    try:
        directory = open_directory(disk, "/data", SMALL)
    except (DirectoryRefused, LogError):
        return Seen({}, frozenset(), said=True)
    log = directory.logs.get(("orders", 0))
    if log is None:
        return Seen({}, frozenset(), said=False)
    said = bool(directory.opening.notes or any(recovery.notes for recovery in directory.opening.recoveries))
    records, committed, faults = read_all(log)
    return Seen(records, committed, said or faults or log.corruption is not None)


def read_all(log: PartitionLog) -> tuple[Contents, frozenset[int], bool]:
    """All records, the offsets of those that are served as committed, and whether a read failed."""
    records: Contents = {}
    committed: set[int] = set()
    at, failed = log.log_start_offset, False
    try:
        while at < log.last_stable_offset:
            piece, aborted = log.read_committed(at, 300)
            committed |= {
                record.offset
                for header, record in records_in(piece)
                if record.offset >= at and not any(hides(txn, header, record) for txn in aborted)
            }
            at = max(at + 1, piece.offset_next)
    except LogError:
        failed = True
    at = log.log_start_offset
    try:
        while at < log.high_watermark:
            piece = log.read(at, 300)
            records |= {
                r.offset: (r.key, r.value, r.timestamp) for _, r in records_in(piece) if r.offset >= at
            }
            at = piece.offset_next
    except LogError:
        failed = True
    return records, frozenset(committed), failed


def records_in(piece: Slice) -> Iterator[tuple[BatchHeader, Record]]:
    for run in piece.runs:
        for position, header in iter_batches(run):
            if not header.is_control:
                for record in iter_records(run, position):
                    yield header, record


def hides(transaction: AbortedTransaction, header: BatchHeader, record: Record) -> bool:
    within = transaction.first_offset <= record.offset <= transaction.last_offset
    return within and transaction.producer_id == header.producer_id and header.is_transactional


WHOLE = look(FakeDisk(TREE))


def judge(disk: FakeDisk, what: str) -> None:
    seen = look(disk)
    for offset, record in seen.records.items():
        assert WHOLE.records.get(offset, record) == record, f"{what}: a wrong record at offset {offset}"
    assert seen.committed <= WHOLE.committed | (set(seen.records) - set(WHOLE.records)), (
        f"{what}: an aborted record"
    )
    if not seen.said:
        assert set(seen.records) >= set(WHOLE.records), f"{what}: records are missing and nobody says so"
        assert seen.committed >= WHOLE.committed, f"{what}: committed records are hidden and nobody says so"
    again = look(disk.kill())
    assert again.records == seen.records, f"{what}: a second start changes what is served"


def clean_and_unclean() -> Iterator[tuple[str, dict[str, bytes]]]:
    yield "clean", TREE
    yield "unclean", {path: data for path, data in TREE.items() if not path.endswith(CLEAN_SHUTDOWN)}


def test_the_whole_directory_is_read_without_complaint() -> None:
    """The judge itself must be able to tell: all records, some of them aborted."""
    assert not WHOLE.said
    assert set(WHOLE.records) > WHOLE.committed > set()
    assert min(WHOLE.records) == 2


FILES = sorted(path for path in TREE if not path.endswith(CLEAN_SHUTDOWN))
WITNESSED = [path for path in FILES if not path.endswith(LOG_START_OFFSET_CHECKPOINT)]
"""What the log starts at is said in one place, in text without a checksum: a digit that becomes another, or
the file gone, cannot be noticed in Kafka's format (docs/guarantees.md, known limits)."""


@pytest.mark.parametrize("path", WITNESSED, ids=lambda path: str(path).removeprefix("/data/"))
def test_flipped_bit_is_found_or_harmless(path: str) -> None:
    for state, tree in clean_and_unclean():
        for bit in range(0, len(tree[path]) * 8, BIT_STEP):
            disk = FakeDisk(tree)
            disk.flip(path, bit // 8, bit % 8)
            judge(disk, f"{state}, {path} bit {bit}")


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path).removeprefix("/data/"))
def test_cut_file_recovers_or_is_named(path: str) -> None:
    for state, tree in clean_and_unclean():
        for size in range(0, len(tree[path]), max(1, BIT_STEP // 3)):
            judge(FakeDisk(tree | {path: tree[path][:size]}), f"{state}, {path} cut to {size}")


@pytest.mark.parametrize("path", WITNESSED, ids=lambda path: str(path).removeprefix("/data/"))
def test_missing_file_recovers_or_is_named(path: str) -> None:
    for state, tree in clean_and_unclean():
        rest = {name: data for name, data in tree.items() if name != path}
        judge(FakeDisk(rest), f"{state}, {path} gone")


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path).removeprefix("/data/"))
def test_garbage_at_the_end_recovers_or_is_named(path: str) -> None:
    random = Random(1)
    for state, tree in clean_and_unclean():
        for tail in (
            b"\0",
            b"\0" * 61,
            b"\0" * 5000,
            random.randbytes(10),
            random.randbytes(700),
            tree[path][:80],
        ):
            judge(FakeDisk(tree | {path: tree[path] + tail}), f"{state}, {path} with {len(tail)} bytes more")


def test_swapped_and_doubled_segments_are_named() -> None:
    logs = [path for path in FILES if path.endswith(".log")]
    assert len(logs) > 3
    for state, tree in clean_and_unclean():
        for one in logs:
            for other in logs:
                if one != other:
                    judge(FakeDisk(tree | {one: tree[other]}), f"{state}, {other} copied over {one}")
                    judge(
                        FakeDisk(tree | {one: tree[other], other: tree[one]}),
                        f"{state}, {one}, {other} swapped",
                    )


def test_corrupt_partition_says_where_and_serves_what_lies_before() -> None:
    log = next(path for path in FILES if path.endswith("00000000.log"))
    disk = FakeDisk(TREE)
    disk.flip(log, len(TREE[log]) - 3, 1)
    directory: LogDirectory = open_directory(disk, "/data", SMALL)
    partition = directory.logs["orders", 0]
    assert read_all(partition)[2]
    assert partition.corruption is not None
    damaged_from = partition.corruption.offset
    assert f"orders-0 is corrupt from offset {damaged_from}" in str(partition.corruption)
    assert {offset for offset in WHOLE.records if offset < damaged_from} == set(read_all(partition)[0])
    with pytest.raises(Corrupt):
        append(partition, b"no")
    truncate(partition, damaged_from)
    assert append(partition, b"yes") == damaged_from


def test_damaged_index_of_aborted_transactions_stops_neither_appends_nor_the_stop() -> None:
    index = [path for path in FILES if path.endswith(".txnindex")][-1]
    log = [path for path in FILES if path.endswith(".log")][-1]
    assert index.removesuffix(".txnindex") == log.removesuffix(".log"), "it is to be that of the last segment"
    for number in range(4):
        directory = open_directory(FakeDisk(TREE | {index: TREE[index][:-1]}), "/data", SMALL)
        partition = directory.logs["orders", 0]
        if number == 1:
            partition.roll(NOW)
        elif number == 2:
            fields = {"producer_id": 9, "producer_epoch": 0, "base_sequence": 0, "transactional": True}
            append(partition, b"taken back", **fields)
            marker = EndTxnMarker(committed=False, coordinator_epoch=1)
            data = build_end_txn(marker, producer_id=9, producer_epoch=0, timestamp=NOW)
            partition.append(bytearray(data), leader_epoch=0, now_ms=NOW)
            assert [txn.producer_id for txn in partition.aborted_transactions(0, 100)][-1] == 9
        elif number == 3:
            truncate(partition, partition.log_end_offset - 1)
        directory.close()
