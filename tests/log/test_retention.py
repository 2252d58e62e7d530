"""Old segments go, others stay."""

from pathlib import Path

import pytest

from tests.log.log_of import NOW, TOPIC_ID, append, contents, open_directory
from trivium.log.cleaner import compact
from trivium.log.compaction_plan import plan_compaction
from trivium.log.directory import LogDirectory
from trivium.log.files import RealFiles
from trivium.log.partition_log import PartitionLog
from trivium.log.retention import expire
from trivium.log.settings import LogSettings

HOUR = 3_600_000


@pytest.fixture
def directory(tmp_path: Path) -> LogDirectory:
    return open_directory(RealFiles(), str(tmp_path / "data"))


def filled(directory: LogDirectory, settings: LogSettings) -> PartitionLog:
    """Ten segments of one record each, an hour apart."""
    log = directory.create("orders", 0, TOPIC_ID, settings, NOW)
    for number in range(10):
        append(log, b"%d" % number, now_ms=NOW + number * HOUR)
        log.roll(NOW)
    return log


def test_expire_by_time_removes_what_is_older(directory: LogDirectory) -> None:
    log = filled(directory, LogSettings(retention_ms=3 * HOUR))
    assert expire(log, NOW + 9 * HOUR).segments == 6
    assert contents(log) == [(offset, b"%d" % offset) for offset in range(6, 10)]
    assert log.log_start_offset == 6
    names = {name for name in Path(log.directory).iterdir() if name.suffix == ".log"}
    assert len(names) == len(log.segments)


def test_expire_by_size_keeps_the_allowance(directory: LogDirectory) -> None:
    log = filled(directory, LogSettings(retention_ms=-1, retention_bytes=250))
    expire(log, NOW)
    kept = sum(segment.size_bytes for segment in log.segments)
    assert kept >= 250
    assert kept - log.segments[0].size_bytes < 250


def test_expire_can_empty_a_log_and_offsets_go_on(directory: LogDirectory) -> None:
    log = filled(directory, LogSettings(retention_ms=HOUR))
    expire(log, NOW + 100 * HOUR)
    assert contents(log) == []
    assert (log.log_start_offset, log.log_end_offset) == (10, 10)
    assert append(log, b"next", now_ms=NOW + 100 * HOUR) == 10
    directory.close()
    again = open_directory(RealFiles(), directory.path).logs["orders", 0]
    assert contents(again) == [(10, b"next")]


def test_expire_keeps_everything_when_only_compaction_is_on(directory: LogDirectory) -> None:
    log = filled(directory, LogSettings(delete=False, compact=True, retention_ms=1, retention_bytes=1))
    assert expire(log, NOW + 100 * HOUR).segments == 0


def test_expire_keeps_what_is_not_visible_yet(directory: LogDirectory) -> None:
    log = filled(directory, LogSettings(retention_ms=HOUR))
    log.high_watermark = 4
    expire(log, NOW + 100 * HOUR)
    assert log.log_start_offset == 4


def test_expire_removes_segments_below_the_log_start(directory: LogDirectory) -> None:
    log = filled(directory, LogSettings(retention_ms=-1))
    log.advance_log_start(5)
    assert expire(log, NOW).segments == 5
    assert log.segments[0].base_offset == 5


def test_expire_is_not_fooled_by_a_damaged_time_index(directory: LogDirectory) -> None:
    """R6: an entry that says "older" must not make a segment disappear early."""
    log = filled(directory, LogSettings(retention_ms=3 * HOUR))
    directory.close()
    for path in Path(log.directory).glob("*.timeindex"):
        data = bytearray(path.read_bytes())
        if data:
            data[4] ^= 0x80
            path.write_bytes(data)
    again = open_directory(RealFiles(), directory.path, LogSettings(retention_ms=3 * HOUR)).logs["orders", 0]
    assert expire(again, NOW + HOUR).segments == 0
    assert len(contents(again)) == 10


def test_segment_that_compaction_has_emptied_does_not_keep_those_behind_it(directory: LogDirectory) -> None:
    settings = LogSettings(segment_bytes=300, compact=True, min_cleanable_dirty_ratio=0.0, retention_ms=1000)
    log = directory.create("state", 0, TOPIC_ID, settings, NOW)
    for number in range(40):
        append(log, (b"k", b"%d" % number * 30))
    log.sync()
    plan = plan_compaction(log, NOW)
    assert plan is not None
    directory.install(compact(RealFiles(), plan, NOW))
    assert log.segments[0].size_bytes == 0
    expire(log, NOW + 2000)
    assert len(log.segments) == 1
    assert log.log_start_offset == log.log_end_offset == 40
