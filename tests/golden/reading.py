"""Reading a log the way consumers do, and records in the manifest's spelling."""

import zlib
from collections.abc import Iterator
from typing import Any, NamedTuple

from trivium.log.partition_log import PartitionLog
from trivium.records.batch import BatchHeader, TimestampType, iter_batches, iter_records
from trivium.records.control import ControlType, read_control_type
from trivium.records.record import Record

FETCH_BYTES = 10_000
"""Small enough that reading a log takes several fetches."""

_INLINE_BYTES = 600
_HEAD_BYTES = 32
_TIMESTAMP_TYPES = {TimestampType.CREATE_TIME: "CreateTime", TimestampType.LOG_APPEND_TIME: "LogAppendTime"}


class Delivered(NamedTuple):
    header: BatchHeader
    record: Record


def fetch(log: PartitionLog, offset_end: int) -> Iterator[Delivered]:
    """Every record below ``offset_end`` with its batch, markers among them, in one fetch after another."""
    offset = log.log_start_offset
    while offset < offset_end:
        piece = log.read(offset, FETCH_BYTES, offset_end=offset_end)
        for run in piece.runs:
            for position, header in iter_batches(run):
                for record in iter_records(run, position):
                    if record.offset >= log.log_start_offset:
                        yield Delivered(header, record)
        assert piece.offset_next > offset
        offset = piece.offset_next


def read_uncommitted(log: PartitionLog) -> Iterator[Delivered]:
    return (each for each in fetch(log, log.high_watermark) if not each.header.is_control)


def read_committed(log: PartitionLog) -> Iterator[Delivered]:
    """What a consumer of committed records delivers: it is told of aborted transactions and leaves out
    their records, from the first of the transaction to its marker.
    """
    aborted = log.aborted_transactions(log.log_start_offset, log.last_stable_offset)
    upcoming = sorted(aborted, key=lambda transaction: transaction.first_offset)
    dropping: set[int] = set()
    for header, record in fetch(log, log.last_stable_offset):
        while upcoming and upcoming[0].first_offset <= record.offset:
            dropping.add(upcoming.pop(0).producer_id)
        if header.is_control:
            if read_control_type(record.key) is ControlType.ABORT:
                dropping.discard(header.producer_id)
        elif not (header.is_transactional and header.producer_id in dropping):
            yield Delivered(header, record)


def as_manifest(delivered: Delivered) -> dict[str, Any]:
    """A record as the manifest spells it."""
    header, record = delivered
    return {
        "offset": record.offset,
        "timestamp": record.timestamp,
        "timestamp_type": _TIMESTAMP_TYPES[header.timestamp_type],
        "leader_epoch": header.leader_epoch,
        "key": None if record.key is None else record.key.hex(),
        "value": _value(record.value),
        "headers": [
            [name.encode("utf-8", "surrogateescape").hex(), None if value is None else value.hex()]
            for name, value in record.headers
        ],
    }


def _value(value: bytes | None) -> str | dict[str, Any] | None:
    if value is None:
        return None
    if len(value) > _INLINE_BYTES:
        return {"length": len(value), "crc32": zlib.crc32(value), "head": value[:_HEAD_BYTES].hex()}
    return value.hex()
