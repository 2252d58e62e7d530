"""Control batches: records that brokers write for each other and that no consumer sees.

A control batch has bit 5 of its attributes set and holds one record, whose key says what it is::

    key    version int16 (0) | type int16
    value  of ABORT and COMMIT: version int16 (0) | coordinator epoch int32
           of the others: a message of KRaft, which this module does not read

Later versions may only append fields, so longer keys and values are read by their beginning.
"""

from enum import IntEnum
from struct import Struct
from typing import NamedTuple

from trivium.records.batch import build_batch, iter_records, read_header
from trivium.records.record import Record
from trivium.wire.buffer import Buffer
from trivium.wire.errors import DecodeError

_KEY = Struct(">hh")
_END_TXN = Struct(">hi")


class ControlType(IntEnum):
    """What a control record says. ``UNKNOWN`` is any type of a newer Kafka: to be skipped, not refused."""

    UNKNOWN = -1
    ABORT = 0
    COMMIT = 1
    LEADER_CHANGE = 2
    SNAPSHOT_HEADER = 3
    SNAPSHOT_FOOTER = 4
    KRAFT_VERSION = 5
    KRAFT_VOTERS = 6


class EndTxnMarker(NamedTuple):
    """How a transaction of a producer ended, and under which epoch its coordinator said so."""

    committed: bool
    coordinator_epoch: int

    @property
    def aborted(self) -> bool:
        return not self.committed


def build_end_txn(
    marker: EndTxnMarker,
    *,
    producer_id: int,
    producer_epoch: int,
    timestamp: int,
    base_offset: int = 0,
    leader_epoch: int = -1,
) -> bytes:
    """The batch that ends a transaction in a partition."""
    control_type = ControlType.COMMIT if marker.committed else ControlType.ABORT
    record = Record(
        offset=base_offset,
        timestamp=timestamp,
        key=control_key(control_type),
        value=_END_TXN.pack(0, marker.coordinator_epoch),
    )
    return build_batch(
        [record],
        base_offset=base_offset,
        leader_epoch=leader_epoch,
        producer_id=producer_id,
        producer_epoch=producer_epoch,
        transactional=True,
        control=True,
    )


def control_key(control_type: ControlType) -> bytes:
    return _KEY.pack(0, control_type)


def read_control_type(key: bytes | None) -> ControlType:
    if key is None or len(key) < _KEY.size:
        raise DecodeError("a control record has no type in its key")
    version, code = _KEY.unpack_from(key)
    if version < 0:
        raise DecodeError(f"a control record's key has version {version}")
    return ControlType(code) if 0 <= code <= ControlType.KRAFT_VOTERS else ControlType.UNKNOWN


def read_end_txn(buffer: Buffer, position: int = 0) -> EndTxnMarker | None:
    """The marker in the control batch at ``position``; ``None`` where it is a control batch of another kind.

    A control batch that compaction has emptied holds no marker either.
    """
    if not read_header(buffer, position).is_control:
        raise DecodeError(f"a control batch was expected at {position}")
    record = next(iter_records(buffer, position), None)
    if record is None:
        return None
    control_type = read_control_type(record.key)
    if control_type not in (ControlType.ABORT, ControlType.COMMIT):
        return None
    if record.value is None or len(record.value) < _END_TXN.size:
        raise DecodeError("a transaction marker ends too early")
    version, coordinator_epoch = _END_TXN.unpack_from(record.value)
    if version < 0:
        raise DecodeError(f"a transaction marker has version {version}")
    return EndTxnMarker(control_type is ControlType.COMMIT, coordinator_epoch)
