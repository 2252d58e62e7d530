"""The producers of a partition as of an offset, in a ``.snapshot`` file: a start replays only what follows.

::

    0   2   version, 1
    2   4   CRC-32C of all that follows
    6   4   number of producers, then for each:
        8   producer id
        2   epoch
        4   last sequence         -1 without a batch in this epoch
        8   last offset           -1 likewise
        4   offset delta          last offset - first offset of that batch, 0 likewise
        8   timestamp             of the last batch or marker, milliseconds
        4   coordinator epoch     -1 before the first marker
        8   first offset          of the open transaction, -1 without one

The file is named after the offset up to which (exclusive) it speaks. Of the batches that are remembered
only the last is written, as in Kafka.
"""

from collections.abc import Collection
from struct import Struct

from trivium.log.producer_state import NO_OFFSET, ProducedBatch, ProducerState
from trivium.records.crc import crc32c
from trivium.wire.errors import DecodeError

_VERSION = 1
_HEADER = Struct(">hIi")
_COUNT = Struct(">i")
_PREFIX = Struct(">hI")
_ENTRY = Struct(">qhiqiqiq")


def encode_snapshot(states: Collection[ProducerState]) -> bytes:
    body = _COUNT.pack(len(states)) + b"".join(map(_encode_state, states))
    return _PREFIX.pack(_VERSION, crc32c(body)) + body


def decode_snapshot(data: bytes, path: str) -> list[ProducerState]:
    if len(data) < _HEADER.size:
        raise DecodeError(f"{path} is damaged: {len(data)} bytes are too few for a snapshot")
    version, crc, count = _HEADER.unpack_from(data)
    if version != _VERSION:
        raise DecodeError(f"{path} has version {version}: only version {_VERSION} is known")
    if crc32c(data, _PREFIX.size) != crc:
        raise DecodeError(f"{path} is damaged: its checksum does not match its bytes")
    if len(data) != _HEADER.size + count * _ENTRY.size:
        raise DecodeError(f"{path} is damaged: it promises {count} producers and has {len(data)} bytes")
    states = [_decode_state(*entry) for entry in _ENTRY.iter_unpack(memoryview(data)[_HEADER.size :])]
    if len({state.producer_id for state in states}) < count or any(state.producer_id < 0 for state in states):
        raise DecodeError(f"{path} is damaged: it names a producer twice, or one that cannot be")
    return states


def _encode_state(state: ProducerState) -> bytes:
    return _ENTRY.pack(
        state.producer_id,
        state.epoch,
        state.last_sequence,
        state.last_offset,
        state.batches[-1].offset_delta if state.batches else 0,
        state.last_timestamp,
        state.coordinator_epoch,
        NO_OFFSET if state.txn_first_offset is None else state.txn_first_offset,
    )


def _decode_state(
    producer_id: int,
    epoch: int,
    last_sequence: int,
    last_offset: int,
    offset_delta: int,
    timestamp: int,
    coordinator_epoch: int,
    txn_first_offset: int,
) -> ProducerState:
    state = ProducerState(producer_id, epoch, coordinator_epoch, timestamp)
    if txn_first_offset >= 0:
        state.txn_first_offset = txn_first_offset
    if last_offset >= 0:
        state.batches.append(ProducedBatch(last_sequence, last_offset, offset_delta, timestamp))
    return state
