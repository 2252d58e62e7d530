"""Which part of a log is worth compacting now: sealed segments that are stable, durable and old enough."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from typing import NamedTuple

from trivium.log.faults import Stopped
from trivium.log.partition_log import PartitionLog
from trivium.log.scan import Found
from trivium.log.segment import Segment
from trivium.log.settings import LogSettings
from trivium.log.txn_index import AbortedTransaction

IsStopped = Callable[[], bool]
"""Asked now and then, in the thread that compacts."""


class Plan(NamedTuple):
    """Clean these segments; records from ``offset_end`` on stay as they are."""

    log: PartitionLog
    segments: Sequence[Segment]
    first_dirty_offset: int
    offset_end: int
    settings: LogSettings
    dirty_ratio: float
    """How much of it has never been cleaned."""

    def pin(self) -> None:
        """Before ``compact`` runs beside the log: what it reads stays open, whatever becomes of the files."""
        with ExitStack() as undo:
            for segment in self.segments:
                with self.log.reading():
                    _ = segment.file
                segment.pin()
                undo.callback(segment.unpin)
            undo.pop_all()

    def release(self) -> None:
        for segment in self.segments:
            segment.unpin()

    def batches(self, is_stopped: IsStopped) -> Iterator[Found]:
        return batches_of(self.segments, is_stopped)

    def aborted(self) -> list[AbortedTransaction]:
        """Asked of the whole log: a transaction may be listed in a segment after those of the plan."""
        return self.log.aborted_transactions(self.segments[0].base_offset, self.offset_end)


def plan_compaction(log: PartitionLog, now_ms: int) -> Plan | None:
    """What is to be cleaned now; None while it is not worth it."""
    if not log.settings.compact or log.corruption is not None:
        return None
    start = max(log.cleaned_offset, log.log_start_offset)
    with log.reading():
        cleanable = _cleanable(log, now_ms)
    dirty = [
        segment for segment in cleanable if segment.offset_limit is not None and segment.offset_limit > start
    ]
    if not dirty:
        return None
    dirty_bytes = sum(segment.size_bytes for segment in dirty)
    total_bytes = sum(segment.size_bytes for segment in cleanable)
    with log.reading():
        overdue = now_ms - dirty[0].first_timestamp > log.settings.max_compaction_lag_ms
    if not overdue and dirty_bytes < total_bytes * log.settings.min_cleanable_dirty_ratio:
        return None
    offset_end = cleanable[-1].offset_limit
    assert offset_end is not None
    return Plan(log, cleanable, start, offset_end, log.settings, dirty_bytes / max(1, total_bytes))


def _cleanable(log: PartitionLog, now_ms: int) -> list[Segment]:
    """Sealed segments that are stable, durable and old enough, from the beginning on without a gap.

    Durable, because what a record is dropped for, a newer one or an abort marker, must not be lost after it.
    """
    stable = log.durable_stable_offset
    found = []
    for segment in log.segments[:-1]:
        limit = segment.offset_limit
        if limit is None or limit > stable:
            break
        lag_ms = log.settings.min_compaction_lag_ms
        if lag_ms > 0 and now_ms - segment.max_timestamp.timestamp < lag_ms:
            break
        found.append(segment)
    return found


def batches_of(segments: Sequence[Segment], is_stopped: IsStopped) -> Iterator[Found]:
    """Every batch of these segments; ``Stopped`` as soon as ``is_stopped``."""
    for segment in segments:
        for found in segment.batches():
            if is_stopped():
                raise Stopped
            yield found
