"""A stretch read at once is what a walk from batch to batch gives; what is not in order is left to the walk.

Promise R5: what is damaged is never served.
"""

from pathlib import Path
from random import Random

import pytest

from tests.log.log_of import NOW, TOPIC_ID, append, contents, open_directory
from trivium.log.directory import LogDirectory
from trivium.log.faults import Corrupt
from trivium.log.files import RealFiles
from trivium.log.partition_log import PartitionLog
from trivium.log.sequential import Sequential
from trivium.log.settings import LogSettings
from trivium.log.shortening import truncate
from trivium.log.slice import Slice, collect

SMALL = LogSettings(segment_bytes=4_000, index_interval_bytes=300)
CHUNK_BYTES = 1_000
WHOLE_BYTES = 1 << 20
"""Where chunks end is no matter."""


@pytest.fixture
def directory(tmp_path: Path) -> LogDirectory:
    return open_directory(RealFiles(), str(tmp_path / "data"), SMALL)


@pytest.fixture
def log(directory: LogDirectory) -> PartitionLog:
    return directory.create("orders", 0, TOPIC_ID, SMALL, NOW)


def fill(log: PartitionLog, random: Random, batches: int) -> None:
    for _ in range(batches):
        append(log, *(random.choice([b"", b"v" * 20, b"v" * 200]) for _ in range(random.randint(1, 5))))


def at_once(
    log: PartitionLog,
    sequential: Sequential,
    offset: int,
    max_bytes: int,
    offset_end: int,
    chunk_bytes: int = WHOLE_BYTES,
) -> Slice | None:
    segment = [each for each in log.segments if each.base_offset <= offset][-1]
    return sequential.read(segment, offset, max_bytes, chunk_bytes, offset_end)


def walked(log: PartitionLog, offset: int, max_bytes: int, offset_end: int) -> Slice:
    return collect(log.batches(offset, chunk_bytes=WHOLE_BYTES), offset, max_bytes, offset_end)


def test_stretch_is_what_a_walk_gives(log: PartitionLog) -> None:
    random = Random(5)
    sequential = Sequential()
    fill(log, random, 60)
    assert len(log.segments) > 2
    offset, found = 0, 0
    for _ in range(400):
        max_bytes = random.choice([0, 100, 700, 5_000])
        offset_end = random.randint(offset + 1, log.log_end_offset)
        stretch = at_once(log, sequential, offset, max_bytes, offset_end)
        if stretch is not None:
            found += 1
            expected = walked(log, offset, max_bytes, offset_end)
            assert (stretch.join(), stretch.offset_next) == (expected.join(), expected.offset_next)
        # On where it has stopped, as readers do, or anywhere.
        if stretch is not None and random.random() < 0.7:
            offset = stretch.offset_next % log.log_end_offset
        else:
            offset = random.randrange(log.log_end_offset)
    assert found > 300


def test_reader_that_goes_on_needs_neither_index_nor_headers(log: PartitionLog) -> None:
    fill(log, Random(1), 10)
    first = log.read(0, 300)
    segment = log.segments[0]
    segment.index.file.reset()
    extent = log.extent(first.offset_next, 300)
    assert extent is not None
    assert extent.position == len(first.join())
    assert contents(log, first.offset_next)[0][0] == first.offset_next


def test_batch_larger_than_a_chunk_is_left_to_the_walk(log: PartitionLog) -> None:
    large = b"v" * 2 * CHUNK_BYTES
    append(log, large)
    append(log, b"small")
    assert at_once(log, Sequential(), 0, 10_000, 2, CHUNK_BYTES) is None
    assert contents(log) == [(0, large), (1, b"small")]


def test_stretch_ends_with_the_last_batch_that_is_whole_in_its_chunk(log: PartitionLog) -> None:
    append(log, b"v" * 600)
    append(log, b"v" * 600)
    stretch = at_once(log, Sequential(), 0, 10_000, 2, CHUNK_BYTES)
    assert stretch is not None
    assert stretch.offset_next == 1


@pytest.mark.parametrize("byte", [3, 20, 61], ids=["offset", "checksum", "records"])
def test_damage_is_left_to_the_walk_and_never_served(log: PartitionLog, byte: int) -> None:
    append(log, b"a")
    second = log.active.size_bytes
    append(log, b"b")
    path = Path(log.active.path(".log"))
    data = bytearray(path.read_bytes())
    data[second + byte] ^= 1
    path.write_bytes(data)
    assert at_once(log, Sequential(), 0, 10_000, 2) is None
    assert log.read(0, 10_000).offset_next == 1
    with pytest.raises(Corrupt):
        log.read(1, 10_000)


def test_leader_epoch_that_falls_is_left_to_the_walk(log: PartitionLog) -> None:
    append(log, b"a")
    second = log.active.size_bytes
    append(log, b"b")
    path = Path(log.active.path(".log"))
    data = bytearray(path.read_bytes())
    data[15] = 7  # The leader epoch of the first batch, which its checksum leaves out.
    path.write_bytes(data)
    sequential = Sequential()
    assert at_once(log, sequential, 0, second, 2) is not None
    assert at_once(log, sequential, 1, 10_000, 2) is None


def test_place_after_a_cut_is_not_believed(log: PartitionLog) -> None:
    append(log, b"a")
    append(log, b"b")
    append(log, b"c" * 100)
    assert log.read(0, 1).offset_next == 1
    assert log.read(1, 1).offset_next == 2
    truncate(log, 1)
    append(log, b"new", b"newer")
    assert contents(log, 2) == [(2, b"newer")]
    truncate(log, 0)
    append(log, b"other")
    assert contents(log) == [(0, b"other")]
