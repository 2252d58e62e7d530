"""Finding records by time."""

from pathlib import Path

import pytest

from tests.log.log_of import NOW, TOPIC_ID, append, open_directory
from trivium.log.files import RealFiles
from trivium.log.partition_log import PartitionLog
from trivium.log.settings import LogSettings
from trivium.log.timestamps import first_at_or_after, latest


@pytest.fixture
def log(tmp_path: Path) -> PartitionLog:
    settings = LogSettings(segment_bytes=500, index_interval_bytes=80)
    directory = open_directory(RealFiles(), str(tmp_path / "data"), settings)
    return directory.create("orders", 0, TOPIC_ID, settings, NOW)


def found(log: PartitionLog, timestamp: int) -> int | None:
    timed = first_at_or_after(log, timestamp)
    return None if timed is None else timed.offset


def test_first_at_or_after_finds_every_record_in_rising_time(log: PartitionLog) -> None:
    for number in range(60):
        append(log, b"a", b"b", timestamp=NOW + number * 10)
    assert len(log.segments) > 5
    for number in range(60):
        assert found(log, NOW + number * 10) == number * 2
        assert found(log, NOW + number * 10 + 1) == number * 2 + 1
    assert found(log, 0) == 0
    assert found(log, NOW + 60 * 10) is None


def test_first_at_or_after_agrees_with_a_plain_search_when_time_jumps(log: PartitionLog) -> None:
    times = [NOW + (number * 7919) % 97 for number in range(80)]
    for timestamp in times:
        append(log, b"x", timestamp=timestamp)
    for timestamp in range(NOW - 1, NOW + 99):
        expected = next((offset for offset, time in enumerate(times) if time >= timestamp), None)
        assert found(log, timestamp) == expected


def test_first_at_or_after_ignores_deleted_records(log: PartitionLog) -> None:
    append(log, b"a", b"b", b"c", timestamp=NOW)
    log.advance_log_start(2)
    assert found(log, NOW) == 2


def test_first_at_or_after_stops_at_the_high_watermark(log: PartitionLog) -> None:
    append(log, b"a", timestamp=NOW)
    assert first_at_or_after(log, NOW, offset_end=0) is None


def test_latest_is_the_first_record_with_the_largest_timestamp(log: PartitionLog) -> None:
    assert latest(log) is None
    for timestamp in (5, 9, 9, 3):
        append(log, b"x", timestamp=NOW + timestamp)
    timed = latest(log)
    assert timed is not None
    assert (timed.offset, timed.timestamp) == (1, NOW + 9)
