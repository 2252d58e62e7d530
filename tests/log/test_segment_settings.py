"""``segment.jitter.ms`` and ``preallocate``: when a segment begins, and how large its file is."""

from pathlib import Path

import pytest

from tests.log.log_of import NOW, TOPIC_ID, append, contents, open_directory
from trivium.log.directory import LogDirectory
from trivium.log.files import RealFiles
from trivium.log.partition_log import PartitionLog
from trivium.log.settings import LogSettings
from trivium.testing.disk import FakeDisk

HOUR_MS = 3_600_000
SEGMENT_BYTES = 10_000


def rolled_after(directory: LogDirectory, partition: int, settings: LogSettings) -> int:
    """After how many minutes a segment is followed by another, with a record every minute."""
    log = directory.create("orders", partition, TOPIC_ID, settings, NOW)
    minutes = 0
    while len(log.segments) == 1:
        append(log, b"tick", now_ms=NOW + minutes * 60_000)
        minutes += 1
    return minutes - 1


def test_segments_without_jitter_roll_when_their_time_is_over() -> None:
    directory = open_directory(FakeDisk(), "/data")
    assert rolled_after(directory, 0, LogSettings(segment_ms=HOUR_MS)) == 61


def test_jitter_spreads_the_rolls_of_partitions_that_began_together() -> None:
    directory = open_directory(FakeDisk(), "/data")
    settings = LogSettings(segment_ms=HOUR_MS, segment_jitter_ms=HOUR_MS // 2)
    minutes = [rolled_after(directory, partition, settings) for partition in range(20)]
    assert 31 <= min(minutes) <= max(minutes) <= 61
    assert len(set(minutes)) > 5


def test_jitter_larger_than_the_time_itself_still_leaves_some() -> None:
    directory = open_directory(FakeDisk(), "/data")
    assert rolled_after(directory, 0, LogSettings(segment_ms=60_000, segment_jitter_ms=HOUR_MS)) >= 1


@pytest.fixture
def log(tmp_path: Path) -> PartitionLog:
    directory = open_directory(RealFiles(), str(tmp_path / "data"))
    settings = LogSettings(preallocate=True, segment_bytes=SEGMENT_BYTES)
    return directory.create("orders", 0, TOPIC_ID, settings, NOW)


def file_sizes(log: PartitionLog) -> list[int]:
    return [path.stat().st_size for path in sorted(Path(log.directory).glob("*.log"))]


def test_preallocated_segment_has_its_full_size_until_it_is_sealed(log: PartitionLog) -> None:
    append(log, b"a")
    assert file_sizes(log) == [SEGMENT_BYTES]
    used_bytes = log.active.size_bytes
    log.roll(NOW)
    assert file_sizes(log) == [used_bytes, SEGMENT_BYTES]
    append(log, b"b")
    assert contents(log) == [(0, b"a"), (1, b"b")]


def test_preallocated_segment_is_cut_by_a_clean_stop_though_the_setting_has_changed(
    log: PartitionLog, tmp_path: Path
) -> None:
    append(log, b"a")
    log.configure(LogSettings())
    log.close()
    assert file_sizes(log) == [log.active.size_bytes]


def test_zeros_of_a_preallocated_segment_are_no_damage_after_a_crash() -> None:
    disk = FakeDisk()
    directory = open_directory(disk, "/data")
    settings = LogSettings(preallocate=True, segment_bytes=SEGMENT_BYTES)
    log = directory.create("orders", 0, TOPIC_ID, settings, NOW)
    append(log, b"a")
    log.sync()
    append(log, b"b")
    again = open_directory(disk.kill(), "/data", settings).logs["orders", 0]
    assert again.corruption is None
    assert contents(again) == [(0, b"a"), (1, b"b")]
    assert append(again, b"c") == 2
    assert contents(again)[-1] == (2, b"c")
