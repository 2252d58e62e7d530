"""Records that go: the oldest by whole segments, the newest by cutting.

Which segments are due is for ``retention`` to say, and for the metadata's snapshots; here is how they go so
that a crash at any point leaves a log without a hole.
"""

from bisect import bisect_left
from collections.abc import Callable
from operator import attrgetter

from trivium.log.aborted import ensure_proven
from trivium.log.partition_log import PartitionLog
from trivium.log.replay import replay
from trivium.log.scan import Damage
from trivium.log.segment import Segment
from trivium.log.staged import Staged
from trivium.log.stages import remove_stage, rename_stage


def drop_oldest(log: PartitionLog, now_ms: int) -> Staged[Segment | None]:
    """Take the oldest segment away; its last record must be visible to all. It is durable that it is gone
    before the next one goes, so that a crash never leaves a hole between two survivors.

    Returns it, or None if nothing is left to be dropped. ``remove_dropped`` frees its space.
    """
    if len(log.segments) == 1:
        log.roll(now_ms)
    oldest = log.segments[0]
    if oldest.offset_limit is not None and oldest.offset_limit > log.recovery_point:
        # What the producers did in it, the snapshot behind it tells from now on, after a crash too.
        yield from log.syncing()
    if len(log.segments) == 1 or log.segments[0] is not oldest or log.is_abandoned:
        return None
    with log.health.guard(f"retention of {log.name}"):
        rename_stage(log.files, log.directory, oldest.base_offset, "", ".deleted")
        oldest.retire()
        del log.segments[0]
        log.forget_unsynced([oldest])
        log.log_start_offset = max(log.log_start_offset, log.segments[0].base_offset)
        log.epochs.truncate_from_start(log.log_start_offset)
        yield log.sync_names
    return oldest


def remove_dropped(log: PartitionLog, base_offset: int) -> None:
    """Remove what is left of a segment that was dropped or replaced. In any thread."""
    with log.health.guard(f"removing segment {base_offset} of {log.name}"):
        remove_stage(log.files, log.directory, base_offset, ".deleted")


def truncate(log: PartitionLog, offset: int, *, announce: Callable[[], None] = lambda: None) -> None:
    """Forget every record at or after ``offset``. A batch that straddles it goes as a whole.

    ``announce`` is called before anything is cut, when the log promises no more than will be left. An
    offset behind damage is refused: records that nobody asked to cut would go with it.
    """
    log.health.check()
    if offset >= log.log_end_offset:
        return
    if log.corruption is not None and log.corruption.offset < offset:
        raise log.corruption
    number = max(0, bisect_left(log.segments, offset, key=attrgetter("base_offset")) - 1)
    with log.reading():
        position, end = _boundary(log.segments[number], offset)
        ensure_proven(log.segments, number, damaged_from=offset)
    log.high_watermark = min(log.high_watermark, end)
    log.recovery_point = min(log.recovery_point, end)
    log.cleaned_offset = min(log.cleaned_offset, end)
    log.log_start_offset = min(log.log_start_offset, end)
    # Before the rest, too: a sync that comes with the announcement promises nothing that will be cut.
    log.log_end_offset = end
    log.truncations += 1
    announce()
    with log.health.guard(f"truncation of {log.name}"):
        while len(log.segments) > number + 1:
            _cut_off(log, log.segments.pop())
        log.active.offset_limit = None
        log.active.cut(position, end)
        # Now, not with the next commit: what was cut must not come back between newer records.
        with log.sync_turn:
            log.active.sync()
    log.epochs.truncate_from_end(end)
    log.forget_unsynced([log.active])
    log.names_changed += 1
    log.corruption = None
    with log.reading():
        log.producers = replay(log.files, log.directory, log.segments, end)


def _cut_off(log: PartitionLog, segment: Segment) -> None:
    """Remove the last segment's files, durably before those of the one in front of it go."""
    segment.retire()
    remove_stage(log.files, log.directory, segment.base_offset, "")
    log.files.sync_directory(log.directory)
    log.forget_unsynced([segment])


def _boundary(segment: Segment, offset: int) -> tuple[int, int]:
    """Where to cut a segment so that nothing at or after ``offset`` stays: a position, and the offset where
    the log then ends. Every byte before it has been checked.
    """
    position, end = 0, segment.base_offset
    try:
        for found in segment.batches():
            if found.header.last_offset >= offset:
                break
            position, end = found.position + found.header.size_bytes, found.header.offset_end
    except Damage as damage:
        if damage.offset < offset:
            raise
    return position, end
