"""Aborted transactions: Kafka's own read and written again (R11), searched, damage found (R6, R7)."""

import contextlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trivium.log.files import RealFiles
from trivium.log.txn_index import AbortedTransaction, TxnIndex
from trivium.wire.errors import DecodeError

GOLDEN = Path(__file__).parents[1] / "golden" / "kafka-files" / "txn-0" / "00000000000000000005.txnindex"
KAFKA_SAYS = [
    AbortedTransaction(1, 6, 11, 12),
    AbortedTransaction(1, 18, 23, 24),
    AbortedTransaction(1, 24, 29, 30),
    AbortedTransaction(2, 42, 47, 48),
    AbortedTransaction(2, 54, 59, 60),
    AbortedTransaction(2, 60, 65, 66),
]


def opened(path: Path, data: bytes | None = None) -> TxnIndex:
    if data is not None:
        path.write_bytes(data)
    return TxnIndex(RealFiles(), str(path), 5)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "00000000000000000005.txnindex"


def test_index_of_kafka_reads_as_kafka_reads_it(path: Path) -> None:
    index = opened(path, GOLDEN.read_bytes())
    assert list(index) == KAFKA_SAYS


def test_index_of_kafka_appended_again_is_byte_for_byte_the_same(path: Path) -> None:
    index = opened(path)
    for transaction in KAFKA_SAYS:
        index.append(transaction)
    index.file.flush(sync=True)
    assert path.read_bytes() == GOLDEN.read_bytes()


def test_flush_without_transactions_makes_no_file(path: Path) -> None:
    index = opened(path)
    index.file.flush()
    assert not path.exists()


@pytest.mark.parametrize(
    ("start", "end", "expected", "complete"),
    [
        (0, 6, [], True),
        (0, 7, KAFKA_SAYS[:1], True),
        (11, 12, KAFKA_SAYS[:1], True),
        (12, 18, [], True),
        (22, 43, KAFKA_SAYS[1:4], True),
        (60, 66, KAFKA_SAYS[5:], True),
        (60, 67, KAFKA_SAYS[5:], False),
        (66, 100, [], False),
        (0, 1000, KAFKA_SAYS, False),
    ],
)
def test_overlapping_gives_the_transactions_in_the_range(
    path: Path, start: int, end: int, expected: list[AbortedTransaction], complete: bool
) -> None:
    assert opened(path, GOLDEN.read_bytes()).overlapping(start, end) == (expected, complete)


def test_overlapping_goes_on_while_an_older_transaction_was_open(path: Path) -> None:
    """The stable offset stood at 5 when the first marker came: a later marker may decide about 5 and on."""
    index = opened(path, b"")
    index.append(AbortedTransaction(1, 6, 11, 5))
    index.append(AbortedTransaction(2, 5, 12, 13))
    assert index.overlapping(5, 7) == ([(1, 6, 11, 5), (2, 5, 12, 13)], True)


@pytest.mark.parametrize(
    "transaction",
    [
        AbortedTransaction(1, 60, 65, 66),
        AbortedTransaction(1, 70, 64, 66),
        AbortedTransaction(1, 70, 70, 71),
        AbortedTransaction(1, 70, 72, 74),
        AbortedTransaction(-1, 70, 72, 73),
        AbortedTransaction(1, -1, 72, 73),
    ],
)
def test_append_of_a_transaction_that_cannot_be_is_refused(
    path: Path, transaction: AbortedTransaction
) -> None:
    with pytest.raises(ValueError, match="cannot be appended"):
        opened(path, GOLDEN.read_bytes()).append(transaction)


@pytest.mark.parametrize(("offset", "left"), [(0, 0), (11, 0), (12, 1), (47, 3), (66, 6)])
def test_truncate_drops_markers_at_and_above_on_disk_too(path: Path, offset: int, left: int) -> None:
    index = opened(path, GOLDEN.read_bytes())
    index.truncate(offset)
    assert list(index) == KAFKA_SAYS[:left]
    assert path.stat().st_size == left * 34


def test_index_with_zeros_at_its_end_is_refused(path: Path) -> None:
    """Nobody preallocates this file, so zeros are entries that a crash took: rebuild, do not guess."""
    with pytest.raises(DecodeError):
        list(opened(path, GOLDEN.read_bytes() + b"\0" * 34))


def test_index_of_an_unknown_version_is_refused(path: Path) -> None:
    with pytest.raises(DecodeError, match="version 1 is unknown"):
        list(opened(path, b"\0\1" + GOLDEN.read_bytes()[2:]))


def test_index_of_a_later_segment_is_refused(path: Path) -> None:
    path.write_bytes(GOLDEN.read_bytes())
    with pytest.raises(DecodeError):
        list(TxnIndex(RealFiles(), str(path), 12))


def test_index_cut_anywhere_is_refused_or_a_prefix(path: Path) -> None:
    """R7."""
    data = GOLDEN.read_bytes()
    for size_bytes in range(len(data)):
        index = opened(path, data[:size_bytes])
        if size_bytes % 34:
            with pytest.raises(DecodeError):
                list(index)
        else:
            assert list(index) == KAFKA_SAYS[: size_bytes // 34]


@given(st.binary(max_size=34 * 3))
def test_any_bytes_read_or_raise_decode_error(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    index = opened(tmp_path_factory.getbasetemp() / "fuzz.txnindex", data)
    with contextlib.suppress(DecodeError):
        index.overlapping(0, 2**63 - 1)
