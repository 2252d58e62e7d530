"""Producer snapshots: Kafka's own read and written again (R11); every cut and every bit found (R6, R7)."""

import struct
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trivium.log.producer_snapshot import decode_snapshot, encode_snapshot
from trivium.log.producer_state import ProducedBatch, ProducerState
from trivium.records.crc import crc32c
from trivium.wire.errors import DecodeError

GOLDEN = Path(__file__).parents[1] / "golden" / "kafka-files"
TXN = (GOLDEN / "txn-0" / "00000000000000000072.snapshot").read_bytes()
OPEN = (GOLDEN / "txn-open-0" / "00000000000000000015.snapshot").read_bytes()


def state(
    producer_id: int, epoch: int, coordinator_epoch: int, txn_first_offset: int | None, *batch: int
) -> ProducerState:
    made = ProducerState(producer_id, epoch, coordinator_epoch, batch[-1], txn_first_offset)
    made.batches.append(ProducedBatch(*batch))
    return made


def sealed(body: bytes, version: int = 1) -> bytes:
    return struct.pack(">hI", version, crc32c(body)) + body


def test_snapshots_of_kafka_read_as_kafka_reads_them() -> None:
    assert decode_snapshot(TXN, "s") == [
        state(1, 0, 0, None, 29, 34, 1, 1_794_780_195_109),
        state(2, 0, 0, None, 29, 70, 1, 1_794_780_195_460),
    ]
    assert decode_snapshot(OPEN, "s") == [state(1000, 0, -1, 5, 4, 9, 4, 1_750_000_004_000)]


@pytest.mark.parametrize("data", [TXN, OPEN])
def test_snapshots_of_kafka_encode_byte_for_byte(data: bytes) -> None:
    assert encode_snapshot(decode_snapshot(data, "s")) == data


def test_snapshot_of_no_producers_is_ten_bytes() -> None:
    assert len(encode_snapshot([])) == 10
    assert decode_snapshot(encode_snapshot([]), "s") == []


def test_snapshot_of_a_producer_without_batches_round_trips() -> None:
    only_markers = ProducerState(7, 3, 2, 1000)
    assert decode_snapshot(encode_snapshot([only_markers]), "s") == [only_markers]


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (sealed(TXN[6:], version=0), "version 0"),
        (sealed(TXN[6:], version=2), "version 2"),
        (sealed(b"\0\0\0\3" + TXN[10:]), "promises 3"),
        (sealed(b"\x7f\xff\xff\xff" + TXN[10:]), "promises 2147483647"),
        (sealed(b"\xff\xff\xff\xff"), "promises -1"),
        (sealed(TXN[6:] + b"\0"), "promises 2"),
        (sealed(b"\0\0\0\2" + TXN[10:56] * 2), "twice"),
        (sealed(b"\0\0\0\1" + b"\xff" * 8 + TXN[18:56]), "cannot be"),
    ],
)
def test_snapshot_that_contradicts_itself_is_refused(data: bytes, reason: str) -> None:
    """S2: the number of producers is compared with the bytes, never allocated."""
    with pytest.raises(DecodeError, match=reason):
        decode_snapshot(data, "s")


def test_snapshot_cut_anywhere_is_refused() -> None:
    for size_bytes in range(len(TXN)):
        with pytest.raises(DecodeError):
            decode_snapshot(TXN[:size_bytes], "s")


def test_snapshot_with_any_bit_flipped_is_refused() -> None:
    for bit in range(len(TXN) * 8):
        damaged = bytearray(TXN)
        damaged[bit // 8] ^= 1 << bit % 8
        with pytest.raises(DecodeError):
            decode_snapshot(bytes(damaged), "s")


@given(
    st.dictionaries(
        st.integers(0, 2**63 - 1),
        st.tuples(
            st.integers(0, 2**15 - 1),
            st.integers(-1, 2**31 - 1),
            st.none() | st.integers(0, 2**63 - 1),
            st.integers(0, 2**31 - 1),
            st.integers(0, 2**63 - 1),
            st.integers(0, 2**31 - 1),
            st.integers(-1, 2**63 - 1),
        ),
        max_size=5,
    )
)
def test_snapshot_of_any_producers_round_trips(
    producers: dict[int, tuple[int, int, int | None, int, int, int, int]],
) -> None:
    states = [state(producer_id, *fields) for producer_id, fields in producers.items()]
    assert decode_snapshot(encode_snapshot(states), "s") == states
