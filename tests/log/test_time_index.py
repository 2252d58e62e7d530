"""The time index: Kafka's own read and written again (R11), searched like a list, damage found (R6, R7)."""

import contextlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trivium.log.files import RealFiles
from trivium.log.time_index import TimeIndex, TimestampOffset
from trivium.wire.errors import DecodeError, EncodeError

GOLDEN = (
    Path(__file__).parents[1] / "golden" / "kafka-files" / "big-segments-0" / "00000000000000001000.timeindex"
)
KAFKA_SAYS = [TimestampOffset(1_750_000_001_199 + 100 * n, 1199 + 100 * n) for n in range(9)]

steps = st.lists(st.tuples(st.integers(0, 50), st.integers(0, 50)), max_size=30)


def opened(path: Path, data: bytes | None = None) -> TimeIndex:
    if data is not None:
        path.write_bytes(data)
    return TimeIndex(RealFiles(), str(path), 1000)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "00000000000000001000.timeindex"


def test_index_of_kafka_reads_as_kafka_reads_it(path: Path) -> None:
    index = opened(path, GOLDEN.read_bytes())
    assert list(index) == KAFKA_SAYS
    assert index.last() == KAFKA_SAYS[-1]


def test_index_of_kafka_appended_again_is_byte_for_byte_the_same(path: Path) -> None:
    index = opened(path)
    for entry in KAFKA_SAYS:
        index.append(*entry)
    index.file.flush()
    assert path.read_bytes() == GOLDEN.read_bytes()


def test_index_with_the_zeros_of_a_killed_kafka_reads_without_them(path: Path) -> None:
    assert list(opened(path, GOLDEN.read_bytes().ljust(4092, b"\0"))) == KAFKA_SAYS


@pytest.mark.parametrize(
    ("timestamp", "expected"),
    [
        (-1, TimestampOffset(-1, 1000)),
        (1_750_000_001_198, TimestampOffset(-1, 1000)),
        (1_750_000_001_199, KAFKA_SAYS[0]),
        (1_750_000_001_298, KAFKA_SAYS[0]),
        (2**62, KAFKA_SAYS[-1]),
    ],
)
def test_lookup_gives_the_greatest_entry_at_or_below(
    path: Path, timestamp: int, expected: TimestampOffset
) -> None:
    assert opened(path, GOLDEN.read_bytes()).lookup(timestamp) == expected


def test_append_of_a_timestamp_that_is_not_larger_adds_nothing(path: Path) -> None:
    index = opened(path, b"")
    index.append(5, 1001)
    index.append(5, 1002)
    index.append(6, 1002)
    assert list(index) == [TimestampOffset(5, 1001), TimestampOffset(6, 1002)]


def test_append_of_no_timestamp_adds_nothing(path: Path) -> None:
    """Batches of old clients carry the timestamp -1."""
    index = opened(path, b"")
    index.append(-1, 1000)
    assert len(index) == 0


@pytest.mark.parametrize("entry", [(4, 1010), (6, 1000)])
def test_append_out_of_order_is_refused(path: Path, entry: tuple[int, int]) -> None:
    index = opened(path, b"")
    index.append(5, 1005)
    with pytest.raises(ValueError, match="does not come after"):
        index.append(*entry)


def test_append_of_what_an_entry_cannot_hold_is_refused(path: Path) -> None:
    with pytest.raises(EncodeError):
        opened(path, b"").append(5, 1000 + 2**31)


@pytest.mark.parametrize(
    "data",
    [
        b"\0" * 11,
        GOLDEN.read_bytes()[12:24] + GOLDEN.read_bytes()[:12],
        GOLDEN.read_bytes()[:12] + b"\0" * 12 + GOLDEN.read_bytes()[24:],
        bytes.fromhex("ffffffffffffffff00000001"),
        bytes.fromhex("0000000000000001ffffffff"),
    ],
)
def test_index_with_damage_is_refused(path: Path, data: bytes) -> None:
    with pytest.raises(DecodeError, match="is damaged"):
        opened(path, data).lookup(1500)


def test_index_cut_anywhere_is_refused_or_a_prefix(path: Path) -> None:
    """R7."""
    data = GOLDEN.read_bytes()
    for size_bytes in range(len(data)):
        index = opened(path, data[:size_bytes])
        if size_bytes % 12:
            with pytest.raises(DecodeError):
                list(index)
        else:
            assert list(index) == KAFKA_SAYS[: size_bytes // 12]


def test_index_with_any_bit_flipped_is_refused_or_still_in_order(path: Path) -> None:
    """R6: what cannot be seen here (one entry moved between its neighbours) the batches contradict."""
    data = GOLDEN.read_bytes()
    for bit in range(len(data) * 8):
        damaged = bytearray(data)
        damaged[bit // 8] ^= 1 << bit % 8
        with contextlib.suppress(DecodeError):
            entries = list(opened(path, bytes(damaged)))
            assert entries == sorted(entries)
            assert sum(1 for entry, was in zip(entries, KAFKA_SAYS, strict=True) if entry != was) == 1


@given(steps, st.integers(0, 2000))
def test_lookup_equals_a_linear_search(
    tmp_path_factory: pytest.TempPathFactory, increments: list[tuple[int, int]], timestamp: int
) -> None:
    index = TimeIndex(RealFiles(), str(tmp_path_factory.getbasetemp() / "none.timeindex"), 0)
    entries, time, offset = [TimestampOffset(-1, 0)], -1, 0
    for time_step, offset_step in increments:
        time, offset = time + time_step, offset + offset_step
        index.append(time, offset)
        if time_step:
            entries.append(TimestampOffset(time, offset))
    assert index.lookup(timestamp) == max(entry for entry in entries if entry.timestamp <= timestamp)
