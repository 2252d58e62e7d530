"""Checkpoints: Kafka's own read and written again byte for byte (R11); every damage named (R6, R7)."""

import contextlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trivium.log import checkpoint
from trivium.log.checkpoint import EpochStart
from trivium.log.files import RealFiles
from trivium.wire.errors import DecodeError

GOLDEN = Path(__file__).parents[1] / "golden" / "kafka-files"

partitions = st.tuples(
    st.from_regex(r"[a-z0-9_][a-zA-Z0-9._-]{0,20}", fullmatch=True), st.integers(0, 2**31 - 1)
)
offsets = st.dictionaries(partitions, st.integers(0, 2**63 - 1), max_size=8)


def golden(name: str) -> bytes:
    return (GOLDEN / name).read_bytes()


def test_offsets_of_kafka_read_as_written() -> None:
    assert checkpoint.decode_offsets(golden("cleaner-offset-checkpoint"), "c") == {
        ("compacted-txn", 0): 48,
        ("compacted", 0): 100,
    }
    recovery_points = checkpoint.decode_offsets(golden("recovery-point-offset-checkpoint"), "r")
    assert len(recovery_points) == 43
    assert recovery_points["name.with.dots_and-dashes", 0] == 5
    assert recovery_points["big-segments", 0] == 2600


@pytest.mark.parametrize(
    "name", ["cleaner-offset-checkpoint", "log-start-offset-checkpoint", "recovery-point-offset-checkpoint"]
)
def test_offsets_of_kafka_encode_byte_for_byte(name: str) -> None:
    assert checkpoint.encode_offsets(checkpoint.decode_offsets(golden(name), name)) == golden(name)


def test_epochs_of_kafka_read_and_encode_byte_for_byte() -> None:
    epochs = checkpoint.decode_epochs(golden("trimmed-0/leader-epoch-checkpoint"), "e")
    assert epochs == [EpochStart(0, 30), EpochStart(2, 50)]
    assert checkpoint.encode_epochs(epochs) == golden("trimmed-0/leader-epoch-checkpoint")


def test_offsets_written_to_a_file_read_back(tmp_path: Path) -> None:
    path = str(tmp_path / "recovery-point-offset-checkpoint")
    assert checkpoint.read_offsets(RealFiles(), path) == {}
    for offset in (10**18, 7):
        checkpoint.write_offsets(RealFiles(), path, {("plain", 2): offset})
        assert checkpoint.read_offsets(RealFiles(), path) == {("plain", 2): offset}
    assert [name.name for name in tmp_path.iterdir()] == ["recovery-point-offset-checkpoint"]


def test_epochs_written_to_a_file_read_back(tmp_path: Path) -> None:
    path = str(tmp_path / "leader-epoch-checkpoint")
    assert checkpoint.read_epochs(RealFiles(), path) == []
    checkpoint.write_epochs(RealFiles(), path, [EpochStart(0, 0), EpochStart(3, 70)])
    assert checkpoint.read_epochs(RealFiles(), path) == [EpochStart(0, 0), EpochStart(3, 70)]


def test_file_without_bytes_has_no_entries() -> None:
    """Kafka creates its checkpoints empty and fills them at the first write."""
    assert checkpoint.decode_offsets(b"", "c") == {}
    assert checkpoint.decode_epochs(b"", "e") == []


@pytest.mark.parametrize(
    ("data", "line"),
    [
        (b"\n", 1),
        (b"1\n0\n", 1),
        (b"0\n", 2),
        (b"0\n-1\n", 2),
        (b"0\n2\na 0 5\n", 2),
        (b"0\n0\na 0 5\n", 2),
        (b"0\n9999999999\n", 2),
        (b"0\n1\na 0 5", 3),
        (b"0\n1\na 0 +5\n", 3),
        (b"0\n1\na 0 05\n", 3),
        (b"0\n1\na 0 5 \n", 3),
        (b"0\n1\na  0 5\n", 3),
        (b"0\n1\na 0 5\r\n", 3),
        (b"0\n1\na 0 9223372036854775808\n", 3),
        (b"0\n1\na 2147483648 5\n", 3),
        (b"0\n1\n../a 0 5\n", 3),
        (b"0\n1\na 0 \xb2\n", 3),
        (b"0\n2\na 0 5\na 0 5\n", 4),
        (b"0\n1\na 0 " + b"9" * 5000 + b"\n", 3),
    ],
)
def test_offsets_with_damage_name_file_and_line(data: bytes, line: int) -> None:
    with pytest.raises(DecodeError, match=rf"^dir/cp is damaged: line {line} "):
        checkpoint.decode_offsets(data, "dir/cp")


@pytest.mark.parametrize("entries", [b"1 5\n1 6", b"1 5\n0 6", b"1 5\n2 5", b"1 5\n2 4"])
def test_epochs_out_of_order_are_refused(entries: bytes) -> None:
    with pytest.raises(DecodeError, match="line 4"):
        checkpoint.decode_epochs(b"0\n2\n" + entries + b"\n", "e")


def test_offsets_cut_anywhere_are_refused() -> None:
    """R7: no prefix of a checkpoint is a checkpoint, save the one of no bytes."""
    data = golden("cleaner-offset-checkpoint")
    for size_bytes in range(1, len(data)):
        with pytest.raises(DecodeError):
            checkpoint.decode_offsets(data[:size_bytes], "c")


@pytest.mark.parametrize("tail", [b"\0", b"\0" * 512, b"0\n", b"x 0 0\n", b"\n"])
def test_offsets_with_a_tail_are_refused(tail: bytes) -> None:
    with pytest.raises(DecodeError):
        checkpoint.decode_offsets(golden("cleaner-offset-checkpoint") + tail, "c")


def test_offsets_with_any_bit_flipped_are_refused_or_what_the_bytes_say() -> None:
    """R6: without a checksum another digit reads as another digit, but nothing is ever guessed."""
    data = golden("cleaner-offset-checkpoint")
    refused = 0
    for bit in range(len(data) * 8):
        damaged = bytearray(data)
        damaged[bit // 8] ^= 1 << bit % 8
        try:
            decoded = checkpoint.decode_offsets(bytes(damaged), "c")
        except DecodeError:
            refused += 1
        else:
            assert checkpoint.encode_offsets(decoded) == bytes(damaged)
    assert refused > len(data) * 4


@given(st.binary(max_size=80))
def test_any_bytes_decode_or_raise_decode_error(data: bytes) -> None:
    for decode in (checkpoint.decode_offsets, checkpoint.decode_epochs):
        with contextlib.suppress(DecodeError):
            decode(data, "c")


@given(offsets)
def test_offsets_of_any_value_round_trip(values: dict[tuple[str, int], int]) -> None:
    assert checkpoint.decode_offsets(checkpoint.encode_offsets(values), "c") == values
