"""What readers see of transactions: mission 003.33."""

from collections.abc import Iterable

import pytest

from trivium.client.visibility import find_batches, whole_batches
from trivium.messages.api.fetch import AbortedTransaction
from trivium.records.batch import build_batch, iter_records
from trivium.records.control import EndTxnMarker, build_end_txn
from trivium.records.record import Record
from trivium.wire.errors import DecodeError


def data(offset: int, *values: bytes, producer_id: int = -1, transactional: bool = False) -> bytes:
    records = [Record(0, 0, None, value) for value in values]
    return build_batch(
        records,
        base_offset=offset,
        producer_id=producer_id,
        producer_epoch=0 if producer_id >= 0 else -1,
        transactional=transactional,
    )


def marker(offset: int, producer_id: int, committed: bool) -> bytes:
    return build_end_txn(
        EndTxnMarker(committed, 0), producer_id=producer_id, producer_epoch=0, timestamp=0, base_offset=offset
    )


def aborted(*transactions: tuple[int, int]) -> list[AbortedTransaction]:
    return [AbortedTransaction(producer_id=who, first_offset=first) for who, first in transactions]


def seen(batches: Iterable[bytes], *transactions: tuple[int, int]) -> list[bytes | None]:
    fetched = b"".join(batches)
    return [
        record.value
        for found in find_batches(fetched, aborted(*transactions))
        if found.is_visible
        for record in iter_records(fetched, found.position)
    ]


MIXED = [
    data(0, b"plain"),
    data(1, b"bad", producer_id=7, transactional=True),
    data(2, b"good", producer_id=8, transactional=True),
    data(3, b"bad", producer_id=7, transactional=True),
    marker(4, 7, committed=False),
    data(5, b"better", producer_id=7, transactional=True),
    marker(6, 8, committed=True),
    marker(7, 7, committed=True),
    data(8, b"idempotent", producer_id=7),
]


def test_aborted_records_are_hidden_until_their_marker() -> None:
    assert seen(MIXED, (7, 1)) == [b"plain", b"good", b"better", b"idempotent"]


def test_control_records_are_never_seen() -> None:
    assert seen(MIXED) == [b"plain", b"bad", b"good", b"bad", b"better", b"idempotent"]


def test_transaction_that_began_before_what_was_fetched_is_hidden() -> None:
    assert seen(MIXED[3:], (7, 1)) == [b"better", b"idempotent"]


def test_two_aborted_transactions_of_one_producer_are_both_hidden() -> None:
    batches = [
        data(0, b"bad", producer_id=7, transactional=True),
        marker(1, 7, committed=False),
        data(2, b"good", producer_id=7, transactional=True),
        marker(3, 7, committed=True),
        data(4, b"bad", producer_id=7, transactional=True),
        marker(5, 7, committed=False),
    ]
    assert seen(batches, (7, 4), (7, 0)) == [b"good"]


@pytest.mark.parametrize("cut", range(1, 100, 7))
def test_batch_that_is_cut_off_is_left_for_next_time(cut: int) -> None:
    whole, second = data(0, b"a" * 50), data(1, b"b" * 50)
    assert [header.base_offset for _, header in whole_batches((whole + second)[:-cut])] == [0]


def test_nothing_fetched_is_nothing_found() -> None:
    assert list(whole_batches(b"")) == []


def test_formats_before_kafka_0_11_are_named() -> None:
    old = bytearray(data(0, b"a"))
    old[16] = 1
    with pytest.raises(DecodeError, match=r"before Kafka 0\.11"):
        list(whole_batches(bytes(old)))


@pytest.mark.parametrize(("at", "byte"), [(8, 0x80), (10, 0), (16, 3)], ids=["negative", "short", "format"])
def test_batches_before_a_damaged_one_are_found_and_then_it_is_named(at: int, byte: int) -> None:
    second = bytearray(data(1, b"b"))
    second[at] = byte
    second[10:12] = second[10:12] if at != 10 else b"\0\0"
    found = whole_batches(data(0, b"a") + bytes(second))
    assert next(found)[1].base_offset == 0
    with pytest.raises(DecodeError, match=r"length|format"):
        next(found)
