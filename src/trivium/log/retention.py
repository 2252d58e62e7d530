"""Which segments are too old or too many. The oldest goes first, and never one that is still needed.

A segment is judged by its largest timestamp, which has been checked against its batches: a damaged
time index cannot make records disappear early.
"""

from collections.abc import Sequence
from typing import NamedTuple

from trivium.log.partition_log import PartitionLog
from trivium.log.segment import Segment
from trivium.log.shortening import drop_oldest
from trivium.log.staged import Staged, carry_out


class Expired(NamedTuple):
    """What one pass took away."""

    dropped: Sequence[Segment]

    @property
    def segments(self) -> int:
        return len(self.dropped)

    @property
    def size_bytes(self) -> int:
        return sum(segment.size_bytes for segment in self.dropped)


def expire(log: PartitionLog, now_ms: int) -> Expired:
    """``expiring``, here and now."""
    return carry_out(expiring(log, now_ms))


def expiring(log: PartitionLog, now_ms: int) -> Staged[Expired]:
    """Drop every segment that retention no longer keeps, and those below the log's start."""
    dropped = []
    while _oldest_is_expendable(log, now_ms):
        segment = yield from drop_oldest(log, now_ms)
        if segment is None:
            break
        dropped.append(segment)
    return Expired(dropped)


def _oldest_is_expendable(log: PartitionLog, now_ms: int) -> bool:
    oldest = log.segments[0]
    end = oldest.offset_limit if oldest.offset_limit is not None else log.log_end_offset
    is_active = oldest.offset_limit is None
    if (is_active and not oldest.size_bytes) or end > log.high_watermark:
        return False
    if not is_active and end <= log.log_start_offset:
        return True
    if not log.settings.delete:
        return False
    # One that compaction has emptied has no age, and must not keep those behind it.
    return not oldest.size_bytes or _is_too_old(log, now_ms) or _is_too_much(log)


def _is_too_old(log: PartitionLog, now_ms: int) -> bool:
    if log.settings.retention_ms < 0:
        return False
    with log.reading():
        timestamp = log.segments[0].max_timestamp.timestamp
    # Records without a timestamp have no age; only size can send them away.
    return timestamp >= 0 and now_ms - timestamp > log.settings.retention_ms


def _is_too_much(log: PartitionLog) -> bool:
    limit = log.settings.retention_bytes
    if limit < 0 or len(log.segments) == 1:
        return False
    # What remains without the oldest segment must still fill the allowance.
    return sum(segment.size_bytes for segment in log.segments[1:]) >= limit
