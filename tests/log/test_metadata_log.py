"""Reading a metadata log: snapshot and rest in order, and one sentence where either is damaged (R6)."""

from pathlib import Path

import pytest

from tests.log.log_of import NOW
from trivium.log.faults import Corrupt
from trivium.log.files import RealFiles
from trivium.log.metadata_log import METADATA_DIRECTORY, has_metadata_log, read_metadata_log
from trivium.log.names import CLEAN_SHUTDOWN, metadata_snapshot, offset_file
from trivium.records.batch import build_batch
from trivium.records.control import ControlType, control_key
from trivium.records.record import Record


def data(*values: bytes | None, base_offset: int) -> bytes:
    records = [Record(n, NOW, None, value) for n, value in enumerate(values)]
    return build_batch(records, base_offset=base_offset, leader_epoch=1)


def control(kind: ControlType, base_offset: int) -> bytes:
    record = Record(0, NOW, control_key(kind), b"\0\0")
    return build_batch([record], base_offset=base_offset, leader_epoch=1, control=True)


def framed(*values: bytes) -> bytes:
    """A whole snapshot."""
    return (
        control(ControlType.SNAPSHOT_HEADER, 0)
        + data(*values, base_offset=1)
        + control(ControlType.SNAPSHOT_FOOTER, 1 + len(values))
    )


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    (tmp_path / METADATA_DIRECTORY).mkdir()
    return tmp_path / METADATA_DIRECTORY


def write_log(directory: Path, *batches: bytes, base_offset: int = 0) -> None:
    (directory / offset_file(base_offset, ".log")).write_bytes(b"".join(batches))


def write_snapshot(directory: Path, offset: int, content: bytes) -> None:
    (directory / metadata_snapshot(offset, 1)).write_bytes(content)


def values(directory: Path) -> list[bytes]:
    return [entry.value for entry in read_metadata_log(RealFiles(), str(directory.parent), now_ms=NOW)]


def test_log_without_a_snapshot_is_read_from_its_beginning_without_control_records(directory: Path) -> None:
    write_log(
        directory,
        control(ControlType.LEADER_CHANGE, 0),
        data(b"a", b"b", base_offset=1),
        data(b"c", base_offset=3),
    )
    assert values(directory) == [b"a", b"b", b"c"]


def test_log_with_snapshots_is_read_from_the_newest_on(directory: Path) -> None:
    write_log(directory, data(b"1", b"2", b"3", base_offset=0), data(b"4", b"5", base_offset=3))
    write_snapshot(directory, 2, framed(b"up to two"))
    write_snapshot(directory, 4, framed(b"up to four"))
    assert values(directory) == [b"up to four", b"5"]


def test_log_that_begins_at_its_snapshot_is_whole(directory: Path) -> None:
    write_log(directory, data(b"5", base_offset=4), base_offset=4)
    write_snapshot(directory, 4, framed(b"up to four"))
    assert values(directory) == [b"up to four", b"5"]


def test_log_that_begins_after_its_snapshot_misses_records(directory: Path) -> None:
    write_log(directory, data(b"6", base_offset=5), base_offset=5)
    write_snapshot(directory, 4, framed(b"up to four"))
    with pytest.raises(Corrupt, match="corrupt from offset 4: the records up to 4 are missing"):
        values(directory)


def test_log_that_ends_before_its_snapshot_misses_records(directory: Path) -> None:
    write_log(directory, data(b"1", base_offset=0))
    write_snapshot(directory, 4, framed(b"up to four"))
    with pytest.raises(Corrupt, match="the records up to 3 are missing"):
        values(directory)


def test_torn_tail_after_a_crash_is_left_out_and_stays_on_disk(directory: Path) -> None:
    torn = data(b"torn", base_offset=1)[:-3]
    write_log(directory, data(b"1", base_offset=0), torn)
    before = {path.name: path.read_bytes() for path in directory.iterdir()}
    assert values(directory) == [b"1"]
    assert {path.name: path.read_bytes() for path in directory.iterdir()} == before


def test_torn_tail_after_a_clean_stop_is_damage(directory: Path) -> None:
    write_log(directory, data(b"1", base_offset=0), data(b"torn", base_offset=1)[:-3])
    (directory.parent / CLEAN_SHUTDOWN).write_bytes(b"{}")
    with pytest.raises(Corrupt, match=f"{METADATA_DIRECTORY} is corrupt from offset 1"):
        values(directory)


def test_damage_below_the_snapshot_is_no_torn_tail(directory: Path) -> None:
    first = bytearray(data(b"1", base_offset=0))
    first[-1] ^= 1
    write_log(directory, bytes(first), data(b"2", base_offset=1))
    write_snapshot(directory, 1, framed(b"up to one"))
    with pytest.raises(Corrupt, match="corrupt from offset 0"):
        values(directory)


def test_snapshot_with_a_flipped_bit_is_named_in_the_sentence(directory: Path) -> None:
    write_log(directory, data(b"1", base_offset=0))
    for position in (len(framed(b"up to one")) - 1, 100):
        content = bytearray(framed(b"up to one"))
        content[position] ^= 1
        write_snapshot(directory, 1, bytes(content))
        with pytest.raises(Corrupt, match=f"{metadata_snapshot(1, 1)}: .*checksum"):
            values(directory)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        data(b"no frame", base_offset=0),
        control(ControlType.SNAPSHOT_HEADER, 0) + data(b"no footer", base_offset=1),
        data(b"no header", base_offset=0) + control(ControlType.SNAPSHOT_FOOTER, 1),
    ],
)
def test_snapshot_that_is_not_whole_is_refused(directory: Path, content: bytes) -> None:
    write_log(directory, data(b"1", base_offset=0))
    write_snapshot(directory, 1, content)
    with pytest.raises(Corrupt, match="is not framed as a snapshot"):
        values(directory)


def test_record_without_a_value_is_damage(directory: Path) -> None:
    write_log(directory, data(b"1", None, base_offset=0))
    with pytest.raises(Corrupt, match="record at offset 1 has no value"):
        values(directory)


def test_directory_without_a_metadata_log_says_so(tmp_path: Path) -> None:
    assert not has_metadata_log(RealFiles(), str(tmp_path))
    (tmp_path / METADATA_DIRECTORY).mkdir()
    assert has_metadata_log(RealFiles(), str(tmp_path))
