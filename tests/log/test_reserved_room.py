"""Room that a log sets aside for what comes next, while it is synced as it grows.

It costs a disk no more than a fourth of what is there, no reader ever sees it, and it is given back.
"""

import errno
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.log.log_of import NOW, TOPIC_ID, append, open_directory
from trivium.log import files
from trivium.log.files import RealFiles
from trivium.log.partition_log import PartitionLog
from trivium.log.segment import RESERVED_BYTES_MAX, RESERVED_BYTES_MIN, RESERVED_PART
from trivium.log.settings import LogSettings

MEBIBYTE = bytes(1 << 20)
SLACK_BYTES = 64 << 10
"""What a file system may take for itself, and what headers add to a mebibyte."""


@pytest.fixture
def log(tmp_path: Path) -> Iterator[PartitionLog]:
    (tmp_path / "probe").write_bytes(b"")
    probe = RealFiles().open(str(tmp_path / "probe"))
    probe.reserve(1 << 20)
    probe.close()
    if os.stat(tmp_path / "probe").st_blocks == 0:
        pytest.skip("this file system sets no room aside")
    directory = open_directory(RealFiles(), str(tmp_path / "data"))
    log = directory.create("orders", 0, TOPIC_ID, LogSettings(), NOW)
    yield log
    log.close()


def spare_bytes(log: PartitionLog, segment: int = -1) -> int:
    """What the disk holds for a log file besides its bytes."""
    path = sorted(Path(log.directory).glob("*.log"))[segment]
    found = path.stat()
    assert found.st_size == log.segments[segment].size_bytes, "a reader would take room for records"
    return found.st_blocks * 512 - found.st_size


def grow(log: PartitionLog, mebibytes: int) -> None:
    for _ in range(mebibytes):
        append(log, MEBIBYTE)
        log.sync()


def test_small_log_sets_nothing_aside(log: PartitionLog) -> None:
    grow(log, RESERVED_BYTES_MIN * RESERVED_PART // len(MEBIBYTE) - 1)
    assert spare_bytes(log) < SLACK_BYTES


def test_log_that_is_synced_as_it_grows_has_room_for_what_comes_next(log: PartitionLog) -> None:
    grow(log, 48)
    assert RESERVED_BYTES_MAX / 2 - SLACK_BYTES < spare_bytes(log) < RESERVED_BYTES_MAX + SLACK_BYTES


def test_log_that_nobody_syncs_sets_nothing_aside(log: PartitionLog) -> None:
    for _ in range(12):
        append(log, MEBIBYTE)
    os.sync()
    assert spare_bytes(log) < SLACK_BYTES


def test_room_does_not_reach_beyond_the_segment(log: PartitionLog) -> None:
    log.configure(LogSettings(segment_bytes=17 << 20))
    grow(log, 16)
    assert spare_bytes(log) < len(MEBIBYTE) + SLACK_BYTES


def test_sealed_segment_gives_its_room_back(log: PartitionLog) -> None:
    grow(log, 8)
    assert spare_bytes(log) > SLACK_BYTES
    log.roll(NOW)
    assert spare_bytes(log, 0) < SLACK_BYTES


def test_clean_stop_gives_the_room_back(log: PartitionLog) -> None:
    grow(log, 8)
    assert spare_bytes(log) > SLACK_BYTES
    log.close()
    assert spare_bytes(log) < SLACK_BYTES


@pytest.mark.parametrize(
    "answer", [None, lambda *_: -errno.ENOSPC], ids=["unknown to the system", "full disk"]
)
def test_log_does_without_room_that_it_does_not_get(
    log: PartitionLog, monkeypatch: pytest.MonkeyPatch, answer: object
) -> None:
    monkeypatch.setattr(files, "_allocating", lambda: answer)
    grow(log, 6)
    assert log.recovery_point == log.log_end_offset == 6
    assert spare_bytes(log) < SLACK_BYTES
