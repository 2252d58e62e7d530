"""The offset index: Kafka's own read and written again (R11), searched like a list, damage found (R6, R7)."""

import contextlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trivium.log.files import RealFiles
from trivium.log.offset_index import OffsetIndex, OffsetPosition
from trivium.wire.errors import DecodeError, EncodeError

GOLDEN = (
    Path(__file__).parents[1] / "golden" / "kafka-files" / "big-segments-0" / "00000000000000001000.index"
)
KAFKA_SAYS = [OffsetPosition(1199 + 100 * n, 98_033 * (n + 1)) for n in range(9)]

steps = st.lists(st.tuples(st.integers(1, 1000), st.integers(0, 5000)), max_size=30)


def opened(path: Path, data: bytes | None = None, base_offset: int = 1000) -> OffsetIndex:
    if data is not None:
        path.write_bytes(data)
    return OffsetIndex(RealFiles(), str(path), base_offset)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "00000000000000001000.index"


def test_index_of_kafka_reads_as_kafka_reads_it(path: Path) -> None:
    index = opened(path, GOLDEN.read_bytes())
    assert list(index) == KAFKA_SAYS
    assert index.last() == KAFKA_SAYS[-1]
    index.check(segment_bytes=1_048_576)


def test_index_of_kafka_appended_again_is_byte_for_byte_the_same(path: Path) -> None:
    index = opened(path)
    for entry in KAFKA_SAYS:
        index.append(*entry)
    index.file.flush()
    assert path.read_bytes() == GOLDEN.read_bytes()


def test_index_with_the_zeros_of_a_killed_kafka_reads_without_them(path: Path) -> None:
    index = opened(path, GOLDEN.read_bytes().ljust(4096, b"\0"))
    assert list(index) == KAFKA_SAYS
    index.append(2099, 980_330)
    index.file.flush()
    assert path.stat().st_size == 80
    assert opened(path).last() == OffsetPosition(2099, 980_330)


@pytest.mark.parametrize(
    ("offset", "expected"),
    [
        (0, OffsetPosition(1000, 0)),
        (1198, OffsetPosition(1000, 0)),
        (1199, KAFKA_SAYS[0]),
        (1298, KAFKA_SAYS[0]),
        (1299, KAFKA_SAYS[1]),
        (10**12, KAFKA_SAYS[-1]),
    ],
)
def test_lookup_gives_the_greatest_entry_at_or_below(
    path: Path, offset: int, expected: OffsetPosition
) -> None:
    assert opened(path, GOLDEN.read_bytes()).lookup(offset) == expected


def test_lookup_in_an_index_without_a_file_gives_the_beginning(path: Path) -> None:
    index = opened(path)
    assert index.lookup(5000) == OffsetPosition(1000, 0)
    assert index.last() is None
    assert not index.file.exists()
    index.file.flush()
    assert path.read_bytes() == b""


def test_append_stays_in_memory_until_flush(path: Path) -> None:
    index = opened(path, b"")
    index.append(1001, 10)
    assert index.lookup(1001).position == 10
    assert path.read_bytes() == b""
    index.file.release()
    assert index.last() == OffsetPosition(1001, 10), "entries that are nowhere else may not be released"
    index.file.flush(sync=True)
    index.file.release()
    assert index.last() == OffsetPosition(1001, 10)


@pytest.mark.parametrize("entry", [(1199, 99_000), (1300, 98_032), (1001, 98_033)])
def test_append_out_of_order_is_refused(path: Path, entry: tuple[int, int]) -> None:
    index = opened(path, GOLDEN.read_bytes()[:8])
    with pytest.raises(ValueError, match="does not come after"):
        index.append(*entry)


@pytest.mark.parametrize("entry", [(1000 + 2**31, 5), (1001, 2**31), (1000, 0), (900, 98_033)])
def test_append_of_what_an_entry_cannot_hold_is_refused(path: Path, entry: tuple[int, int]) -> None:
    with pytest.raises(EncodeError):
        opened(path, b"").append(*entry)


def test_reset_of_a_damaged_file_forgets_it_and_the_next_flush_replaces_it(path: Path) -> None:
    index = opened(path, b"damaged" * 10)
    index.file.reset()
    index.file.release()
    assert len(index) == 0
    index.append(*KAFKA_SAYS[0])
    index.file.flush()
    assert path.read_bytes() == GOLDEN.read_bytes()[:8]


@pytest.mark.parametrize(
    "data",
    [
        b"\0" * 7,
        GOLDEN.read_bytes()[8:16] + GOLDEN.read_bytes()[:8],
        GOLDEN.read_bytes()[:8] * 2,
        b"\0" * 8 + GOLDEN.read_bytes(),
        GOLDEN.read_bytes()[:8] + b"\0" * 8 + GOLDEN.read_bytes()[16:],
        bytes.fromhex("ffffffff00000001"),
        bytes.fromhex("00000001ffffffff"),
    ],
)
def test_index_with_damage_is_refused(path: Path, data: bytes) -> None:
    with pytest.raises(DecodeError, match="is damaged"):
        opened(path, data).lookup(1500)


def test_check_of_a_segment_shorter_than_its_index_is_refused(path: Path) -> None:
    index = opened(path, GOLDEN.read_bytes())
    with pytest.raises(DecodeError):
        index.check(segment_bytes=KAFKA_SAYS[-1].position)


def test_index_cut_anywhere_is_refused_or_a_prefix(path: Path) -> None:
    """R7: an index that lost its tail still never points behind an offset."""
    data = GOLDEN.read_bytes()
    for size_bytes in range(len(data)):
        index = opened(path, data[:size_bytes])
        if size_bytes % 8:
            with pytest.raises(DecodeError):
                list(index)
        else:
            assert list(index) == KAFKA_SAYS[: size_bytes // 8]


def test_index_with_any_bit_flipped_is_refused_or_differs_in_one_entry(path: Path) -> None:
    """R6: what cannot be seen here (one entry moved between its neighbours) the batch there contradicts."""
    data = GOLDEN.read_bytes()
    for bit in range(len(data) * 8):
        damaged = bytearray(data)
        damaged[bit // 8] ^= 1 << bit % 8
        with contextlib.suppress(DecodeError):
            entries = list(opened(path, bytes(damaged)))
            assert entries == sorted(entries)
            assert sum(1 for entry, was in zip(entries, KAFKA_SAYS, strict=True) if entry != was) == 1


@given(st.binary(max_size=64), st.integers(0, 2**33))
def test_any_bytes_read_or_raise_decode_error(
    tmp_path_factory: pytest.TempPathFactory, data: bytes, offset: int
) -> None:
    index = opened(tmp_path_factory.getbasetemp() / "fuzz.index", data)
    with contextlib.suppress(DecodeError):
        assert index.lookup(offset).offset <= max(offset, 1000)


@given(steps, st.integers(0, 40_000))
def test_lookup_equals_a_linear_search(
    tmp_path_factory: pytest.TempPathFactory, increments: list[tuple[int, int]], offset: int
) -> None:
    index = OffsetIndex(RealFiles(), str(tmp_path_factory.getbasetemp() / "none.index"), 0)
    entries, last = [OffsetPosition(0, 0)], OffsetPosition(0, 1)
    for offset_step, position_step in increments:
        last = OffsetPosition(last.offset + offset_step, last.position + position_step)
        index.append(*last)
        entries.append(last)
    assert index.lookup(offset) == max(entry for entry in entries if entry.offset <= offset)
