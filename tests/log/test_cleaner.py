"""Compaction keeps the last record of every key, and everything that somebody still needs."""

import random
from pathlib import Path

import pytest

from tests.log.log_of import NOW, TOPIC_ID, append, batch, contents, open_directory
from trivium.log import survivors
from trivium.log.cleaner import Compaction, compact, install
from trivium.log.compaction_plan import plan_compaction
from trivium.log.directory import LogDirectory
from trivium.log.faults import Corrupt, DiskFull
from trivium.log.files import RealFiles
from trivium.log.overlay import OverlayFiles
from trivium.log.partition_log import PartitionLog
from trivium.log.settings import LogSettings
from trivium.log.shortening import drop_oldest
from trivium.log.staged import carry_out
from trivium.records.batch import iter_records, read_header, seal
from trivium.records.compression import Compression
from trivium.records.control import EndTxnMarker, build_end_txn
from trivium.testing.disk import FakeDisk

SETTINGS = LogSettings(
    compact=True, delete=False, segment_bytes=600, min_cleanable_dirty_ratio=0.0, delete_retention_ms=1000
)


@pytest.fixture
def directory(tmp_path: Path) -> LogDirectory:
    return open_directory(RealFiles(), str(tmp_path / "data"), SETTINGS)


@pytest.fixture
def log(directory: LogDirectory) -> PartitionLog:
    return directory.create("state", 0, TOPIC_ID, SETTINGS, NOW)


def clean(log: PartitionLog, *, dirty_from: int = 0, now_ms: int = NOW) -> Compaction:
    log.sync()
    log.cleaned_offset = dirty_from
    plan = plan_compaction(log, now_ms)
    assert plan is not None
    compaction = compact(RealFiles(), plan, now_ms)
    carry_out(install(RealFiles(), compaction))
    return compaction


def keyed(log: PartitionLog) -> list[tuple[int, bytes | None, bytes | None]]:
    """Offset, key and value of all that is left, control records excepted."""
    return [
        (record.offset, record.key, record.value)
        for found in log.batches(0)
        if not found.header.is_control
        for record in iter_records(found.data)
    ]


def markers(log: PartitionLog) -> list[int]:
    return [found.header.base_offset for found in log.batches(0) if found.header.is_control]


def test_compaction_keeps_the_last_record_of_every_key(log: PartitionLog) -> None:
    rng = random.Random(1)
    expected: dict[bytes, tuple[int, bytes]] = {}
    for number in range(200):
        key, value = b"k%d" % rng.randrange(12), b"v%d" % number
        expected[key] = (append(log, (key, value)), value)
    log.roll(NOW)
    compaction = clean(log)
    assert {key: (offset, value) for offset, key, value in keyed(log)} == expected
    assert len(keyed(log)) == 12
    assert compaction.records_dropped == 188
    assert log.log_end_offset == 200


def test_compaction_joins_what_has_become_small(log: PartitionLog) -> None:
    for number in range(200):
        append(log, (b"k%d" % (number % 5), b"v%d" % number))
    log.roll(NOW)
    clean(log)
    many, before = len(log.segments), keyed(log)
    clean(log)
    assert len(log.segments) < many
    assert keyed(log) == before


def test_compaction_keeps_offsets_and_survives_a_restart(directory: LogDirectory, log: PartitionLog) -> None:
    for number in range(60):
        append(log, (b"k%d" % (number % 7), b"v%d" % number), (b"once-%d" % number, b"x"))
    log.roll(NOW)
    clean(log)
    before = keyed(log)
    assert [offset for offset, _, _ in before] == sorted({offset for offset, _, _ in before})
    directory.close()
    again = open_directory(RealFiles(), directory.path, SETTINGS).logs["state", 0]
    assert keyed(again) == before
    for offset in range(120):
        expected = next(((at, value) for at, _, value in before if at >= offset), None)
        assert next(iter(contents(again, offset)), None) == expected


def test_gaps_of_compaction_are_no_damage_when_compaction_is_turned_off(
    directory: LogDirectory, log: PartitionLog
) -> None:
    for number in range(60):
        append(log, (b"k%d" % (number % 3), b"v%d" % number))
    log.roll(NOW)
    clean(log)
    before = keyed(log)
    directory.close()
    for mark in (True, False):
        if not mark:
            Path(directory.path, ".kafka_cleanshutdown").unlink()
        opened = open_directory(RealFiles(), directory.path, LogSettings())
        assert keyed(opened.logs["state", 0]) == before
        opened.close()


def test_gap_before_the_last_batch_is_damage_unless_the_topic_is_compacted(tmp_path: Path) -> None:
    """A follower copies the gaps of its leader, also to the end of the segment that it writes to."""
    for settings, found in ((SETTINGS, [(0, b"a"), (7, b"b")]), (LogSettings(), [(0, b"a")])):
        directory = open_directory(RealFiles(), str(tmp_path / f"{settings.compact}"), settings)
        log = directory.create("state", 0, TOPIC_ID, settings, NOW)
        append(log, b"a")
        log.log_end_offset = 7
        append(log, b"b")
        again = open_directory(OverlayFiles(RealFiles()), directory.path, settings).logs["state", 0]
        assert contents(again) == found


def test_compaction_leaves_the_active_segment_alone(log: PartitionLog) -> None:
    append(log, (b"k", b"1"))
    log.roll(NOW)
    append(log, (b"k", b"2"))
    append(log, (b"k", b"3"))
    clean(log)
    assert [value for _, _, value in keyed(log)] == [b"1", b"2", b"3"]


def test_tombstone_stays_until_its_horizon_has_passed(log: PartitionLog) -> None:
    append(log, (b"k", b"1"))
    append(log, (b"k", None))
    append(log, (b"other", b"x"))
    log.roll(NOW)
    clean(log)
    assert keyed(log) == [(1, b"k", None), (2, b"other", b"x")]
    clean(log, now_ms=NOW + 999)
    assert keyed(log)[0] == (1, b"k", None)
    clean(log, now_ms=NOW + 1000)
    assert keyed(log) == [(2, b"other", b"x")]


def test_tombstone_keeps_its_timestamp_when_the_horizon_is_set(log: PartitionLog) -> None:
    append(log, (b"k", None), (b"l", b"x"), timestamp=NOW)
    log.roll(NOW)
    clean(log)
    [found] = log.batches(0)
    assert found.header.has_delete_horizon
    assert [record.timestamp for record in iter_records(found.data)] == [NOW, NOW + 1]


def test_records_without_a_key_go(log: PartitionLog) -> None:
    append(log, b"no key", (b"k", b"v"))
    log.roll(NOW)
    clean(log)
    assert keyed(log) == [(1, b"k", b"v")]


def test_aborted_records_go_and_do_not_replace_committed_ones(log: PartitionLog) -> None:
    append(log, (b"k", b"good"))
    append(log, (b"k", b"bad"), producer_id=1, producer_epoch=0, base_sequence=0, transactional=True)
    end_transaction(log, 1, committed=False)
    append(log, (b"z", b"z"))
    log.roll(NOW)
    clean(log)
    assert [(key, value) for _, key, value in keyed(log)] == [(b"k", b"good"), (b"z", b"z")]
    assert markers(log) == [2]
    assert [t.producer_id for t in log.aborted_transactions(0, 3)] == [1]


def test_aborted_records_go_when_their_marker_lies_in_a_later_segment(log: PartitionLog) -> None:
    append(log, (b"k", b"good"))
    append(log, (b"k", b"bad"), producer_id=1, producer_epoch=0, base_sequence=0, transactional=True)
    log.roll(NOW)
    end_transaction(log, 1, committed=False)
    clean(log)
    assert [(key, value) for _, key, value in keyed(log)] == [(b"k", b"good")]


def test_marker_goes_a_while_after_the_last_record_of_its_transaction(log: PartitionLog) -> None:
    append(log, (b"k", b"old"), producer_id=1, producer_epoch=0, base_sequence=0, transactional=True)
    end_transaction(log, 1, committed=True)
    append(log, (b"k", b"new"), producer_id=1, producer_epoch=0, base_sequence=1, transactional=True)
    end_transaction(log, 1, committed=True)
    log.roll(NOW)
    clean(log)
    assert markers(log) == [1, 3]
    clean(log)
    assert markers(log) == [1, 3]
    clean(log, now_ms=NOW + 1000)
    assert markers(log) == [3]
    assert keyed(log) == [(2, b"k", b"new")]


def test_unstable_records_are_not_cleaned(log: PartitionLog) -> None:
    append(log, (b"k", b"1"))
    append(log, (b"k", b"2"), producer_id=1, producer_epoch=0, base_sequence=0, transactional=True)
    log.roll(NOW)
    assert plan_compaction(log, NOW) is None


def test_last_batch_of_a_producer_stays_as_a_bare_header(directory: LogDirectory, log: PartitionLog) -> None:
    append(log, (b"k", b"1"), producer_id=9, producer_epoch=2, base_sequence=41)
    append(log, (b"k", b"2"))
    log.roll(NOW)
    clean(log)
    assert keyed(log) == [(1, b"k", b"2")]
    for snapshot in Path(log.directory).glob("*.snapshot"):
        snapshot.unlink()
    directory.close()
    for snapshot in Path(log.directory).glob("*.snapshot"):
        snapshot.unlink()
    state = open_directory(RealFiles(), directory.path, SETTINGS).logs["state", 0].producers.get(9)
    assert state is not None
    assert (state.epoch, state.last_sequence) == (2, 41)


def test_records_that_are_not_durable_are_not_cleaned(log: PartitionLog) -> None:
    """R2: the record that replaces another must not be lost with it."""
    append(log, (b"k", b"1"))
    append(log, (b"k", b"2"))
    log.roll(NOW)
    assert plan_compaction(log, NOW) is None
    log.sync()
    assert plan_compaction(log, NOW) is not None


def test_compaction_waits_for_the_dirty_ratio_and_for_the_lag(log: PartitionLog) -> None:
    for number in range(40):
        append(log, (b"k%d" % number, b"v" * 40))
    log.roll(NOW)
    log.sync()
    log.configure(LogSettings(compact=True, min_cleanable_dirty_ratio=0.9))
    assert plan_compaction(log, NOW) is not None
    log.cleaned_offset = 30
    assert plan_compaction(log, NOW) is None
    log.configure(LogSettings(compact=True, min_cleanable_dirty_ratio=0.9, max_compaction_lag_ms=5000))
    assert plan_compaction(log, NOW + 5001) is not None
    log.configure(LogSettings(compact=True, min_cleanable_dirty_ratio=0.0, min_compaction_lag_ms=5000))
    assert plan_compaction(log, NOW + 4000) is None
    assert plan_compaction(log, NOW + 6000) is not None


def test_compaction_in_little_memory_goes_on_in_the_next_pass(
    log: PartitionLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(120):
        append(log, (b"k%d" % (number % 40), b"v%d" % number))
    log.roll(NOW)
    expected = {key: value for _, key, value in keyed(log)}
    monkeypatch.setattr(survivors, "KEYS_BYTES_MAX", 25 * 125)
    dirty_from, passes = 0, 0
    while dirty_from < 120:
        dirty_from = clean(log, dirty_from=dirty_from).offset_end
        passes += 1
    assert passes > 2
    assert {key: value for _, key, value in keyed(log)} == expected
    assert len(keyed(log)) == 40


def test_compaction_gives_way_to_retention(log: PartitionLog) -> None:
    for number in range(40):
        append(log, (b"k", b"v%d" % number))
    log.roll(NOW)
    log.sync()
    plan = plan_compaction(log, NOW)
    assert plan is not None
    compaction = compact(RealFiles(), plan, NOW)
    carry_out(drop_oldest(log, NOW))
    before = contents(log)
    carry_out(install(RealFiles(), compaction))
    assert contents(log)[-1] == before[-1]
    assert not list(Path(log.directory).glob("*.cleaned"))


def end_transaction(log: PartitionLog, producer_id: int, *, committed: bool) -> None:
    marker = build_end_txn(
        EndTxnMarker(committed, 0), producer_id=producer_id, producer_epoch=0, timestamp=NOW
    )
    log.append(bytearray(marker), leader_epoch=0, now_ms=NOW)
    log.advance_high_watermark(log.log_end_offset)


def test_reader_gets_past_a_log_that_compaction_has_emptied(
    directory: LogDirectory, log: PartitionLog
) -> None:
    """As in Kafka the last batch stays, without records: it tells a reader where to go on."""
    for number in range(12):
        append(log, (b"k%d" % number, None))
    log.roll(NOW)
    clean(log)
    clean(log, now_ms=NOW + 10_000)
    assert keyed(log) == []
    assert contents(log) == []
    assert log.read(0, 1000).offset_next == 12


def test_empty_batch_of_a_producer_goes_once_another_tells_its_sequence(log: PartitionLog) -> None:
    fields = {"producer_id": 5, "producer_epoch": 0}
    append(log, (b"k", b"old"), base_sequence=0, **fields)
    append(log, (b"k", b"new"))
    append(log, (b"other", b"x"))
    log.roll(NOW)
    clean(log)
    assert [found.header.base_offset for found in log.batches(0)] == [0, 1, 2]
    append(log, (b"more", b"y"), base_sequence=1, **fields)
    log.roll(NOW)
    clean(log)
    assert [found.header.base_offset for found in log.batches(0)] == [1, 2, 3]


def test_batch_that_nobody_can_read_does_not_stop_compaction(log: PartitionLog) -> None:
    unreadable = seal(read_header(batch((b"k", b"v"))), b"\x7f" * 20, Compression.NONE)
    log.append(bytearray(unreadable), leader_epoch=0, now_ms=NOW)
    for number in range(20):
        append(log, (b"k", b"%d" % number))
    log.roll(NOW)
    clean(log)
    assert [found.header.base_offset for found in log.batches(0)] == [0, 20]


def test_compaction_on_a_full_disk_leaves_nothing_half_made() -> None:
    disk = FakeDisk()
    log = open_directory(disk, "/data", SETTINGS).create("state", 0, TOPIC_ID, SETTINGS, NOW)
    for number in range(60):
        append(log, (b"k%d" % number, b"v"))
    log.sync()
    plan = plan_compaction(log, NOW)
    assert plan is not None
    before = disk.tree()
    disk.fill(900)
    with pytest.raises(DiskFull):
        compact(disk, plan, NOW)
    assert disk.tree() == before


def test_damage_found_while_planning_makes_the_log_corrupt() -> None:
    settings = SETTINGS._replace(min_compaction_lag_ms=1)
    disk = FakeDisk()
    directory = open_directory(disk, "/data", settings)
    log = directory.create("state", 0, TOPIC_ID, settings, NOW)
    for number in range(60):
        append(log, (b"k%d" % number, b"v"))
    directory.close()
    disk = disk.kill()
    disk.flip(
        "/data/state-0/00000000000000000000.log", disk.size("/data/state-0/00000000000000000000.log") - 3, 1
    )
    log = open_directory(disk, "/data", settings).logs["state", 0]
    with pytest.raises(Corrupt):
        plan_compaction(log, NOW + 1000)


def test_compaction_that_must_not_be_late_rolls_in_time(log: PartitionLog) -> None:
    log.configure(SETTINGS._replace(max_compaction_lag_ms=500))
    append(log, (b"k", b"v"))
    append(log, (b"k", b"w"), now_ms=NOW + 501)
    assert len(log.segments) == 2


def test_swap_that_is_all_a_directory_has_left_is_finished(
    directory: LogDirectory, log: PartitionLog
) -> None:
    append(log, (b"k", b"v"))
    directory.close()
    segment = Path(log.directory, "00000000000000000000.log")
    segment.rename(segment.with_suffix(".log.swap"))
    again = open_directory(RealFiles(), directory.path, SETTINGS).logs["state", 0]
    assert contents(again) == [(0, b"v")]
