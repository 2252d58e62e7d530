"""Finding records by time: the first at or after a moment, and the latest of all."""

from typing import NamedTuple

from trivium.log.partition_log import PartitionLog
from trivium.log.scan import Found
from trivium.records.batch import find_timestamp, iter_records
from trivium.wire.errors import DecodeError


class Timed(NamedTuple):
    """A record's place in time and in the log."""

    offset: int
    timestamp: int
    leader_epoch: int


def first_at_or_after(log: PartitionLog, timestamp: int, *, offset_end: int | None = None) -> Timed | None:
    """The first record that is not older than ``timestamp``; None if there is none below ``offset_end``
    (default: the high watermark).
    """
    limit = log.high_watermark if offset_end is None else offset_end
    for segment in log.segments:
        with log.reading():
            if segment.max_timestamp.timestamp < timestamp:
                continue
            start = max(log.log_start_offset, segment.offset_before(timestamp))
        for found in log.batches(start):
            if found.header.base_offset >= limit:
                return None
            match = _match(found, timestamp, log.log_start_offset)
            if match is not None:
                return Timed(*match, found.header.leader_epoch) if match[0] < limit else None
        return None
    return None


def latest(log: PartitionLog) -> Timed | None:
    """The record with the largest timestamp, the first of them if there are several."""
    with log.reading():
        largest = max(segment.max_timestamp.timestamp for segment in log.segments)
    return first_at_or_after(log, largest) if largest >= 0 else None


def _match(found: Found, timestamp: int, log_start_offset: int) -> tuple[int, int] | None:
    """The first record in a batch that is young enough and not deleted.

    Markers count, as in Kafka: a reader who begins at one gets the same records, and a partition whose
    youngest timestamp is a marker's still has a latest record.
    """
    header = found.header
    if header.max_timestamp < timestamp:
        return None
    try:
        if header.base_offset >= log_start_offset:
            return find_timestamp(found.data, timestamp=timestamp)
        for record in iter_records(found.data):
            if record.offset >= log_start_offset and record.timestamp >= timestamp:
                return record.offset, record.timestamp
    except DecodeError:
        # The checksum is right, so a client sent it like this: it has no records to be found by time.
        pass
    return None
