"""Compaction: for every key only its last record stays, and order and offsets stay as they are.

A pass has three steps, so that the slow one may run beside a busy log::

    plan = plan_compaction(log, now_ms)                         what is worth cleaning, and up to where
    compaction = compact(files, plan, now_ms)                   reads sealed segments, writes new ones beside
    directory.install(compaction)                               swaps them in, in one decided step

What survives is told by ``survivors``, what is worth it by ``compaction_plan``.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from trivium.log.compaction_plan import IsStopped, Plan, batches_of
from trivium.log.faults import Deleted, Stopped
from trivium.log.files import Files
from trivium.log.partition_log import PartitionLog
from trivium.log.scan import CHUNK_BYTES, Damage
from trivium.log.segment import Segment
from trivium.log.staged import Staged
from trivium.log.stages import remove_stage, rename_stage
from trivium.log.survivors import Judge, last_offsets
from trivium.log.swap import put_in_place, set_aside
from trivium.records.batch import BatchHeader, read_header


class Cleaned(NamedTuple):
    """One group of segments and the base offset of the one that is to replace them."""

    replaced: Sequence[Segment]
    base_offset: int


@dataclass(slots=True)
class Compaction:
    """What one pass did."""

    log: PartitionLog
    offset_end: int
    groups: list[Cleaned] = field(default_factory=list)
    records_kept: int = 0
    records_dropped: int = 0
    bytes_before: int = 0
    bytes_after: int = 0


def compact(files: Files, plan: Plan, now_ms: int, is_stopped: IsStopped = lambda: False) -> Compaction:
    """Write the cleaned segments beside the old ones. Touches nothing that a reader sees.

    ``Stopped`` as soon as ``is_stopped``, with nothing left behind: a pass over a large log takes minutes.
    """
    with plan.log.reading():
        last = last_offsets(plan, is_stopped)
        compaction = Compaction(plan.log, last.offset_end)
        judge = Judge(plan, last, now_ms)
        groups = list(_groups(plan, last.offset_end))
        try:
            for group in groups:
                writer = _GroupWriter(files, plan, group, judge, is_stopped)
                compaction.groups.append(writer.write(compaction))
        except (OSError, Damage, Stopped):
            if plan.log.is_abandoned:
                # Its directory is gone, or belongs to a namesake.
                raise Deleted(plan.log.name) from None
            # On a full disk, of all places, nothing half-made may stay.
            for group in groups:
                remove_stage(files, plan.log.directory, group[0].base_offset, ".cleaned")
            raise
    return compaction


def _groups(plan: Plan, offset_end: int) -> Iterator[list[Segment]]:
    """Neighbours that fit into one segment again, judged by their size before cleaning."""
    group: list[Segment] = []
    size_bytes = 0
    for segment in plan.segments:
        if segment.base_offset >= offset_end:
            break
        limit = segment.offset_limit or segment.base_offset
        fits = size_bytes + segment.size_bytes <= plan.settings.segment_bytes
        if group and not (fits and limit - group[0].base_offset <= 0x7FFFFFFF):
            yield group
            group, size_bytes = [], 0
        group.append(segment)
        size_bytes += segment.size_bytes
    if group:
        yield group


class _GroupWriter:
    """Writes the survivors of one group of segments to one new segment."""

    def __init__(
        self,
        files: Files,
        plan: Plan,
        group: Sequence[Segment],
        judge: Judge,
        is_stopped: IsStopped,
    ) -> None:
        self._files = files
        self._is_stopped = is_stopped
        self._directory = plan.log.directory
        self._settings = plan.settings
        self._group = group
        self._judge = judge
        self._pending = bytearray()
        self._batches: list[tuple[int, BatchHeader]] = []

    def write(self, compaction: Compaction) -> Cleaned:
        base_offset = self._group[0].base_offset
        remove_stage(self._files, self._directory, base_offset, ".cleaned")
        segment = Segment(
            self._files, self._directory, base_offset, settings=self._settings, suffix=".cleaned"
        )
        try:
            self._write_survivors(segment, compaction)
        finally:
            segment.retire()
        compaction.bytes_before += sum(old.size_bytes for old in self._group)
        compaction.bytes_after += segment.size_bytes
        return Cleaned(self._group, base_offset)

    def _write_survivors(self, segment: Segment, compaction: Compaction) -> None:
        segment.create()
        for found in batches_of(self._group, self._is_stopped):
            survivor = self._judge.survivor(found, compaction)
            if survivor is not None:
                self._batches.append((len(self._pending), read_header(survivor)))
                self._pending += survivor
                if len(self._pending) >= CHUNK_BYTES:
                    self._flush(segment)
        self._flush(segment)
        for transaction in self._judge.take_kept_aborted():
            segment.aborted.append(transaction)
        segment.seal()
        segment.sync()
        segment.sync_indexes()

    def _flush(self, segment: Segment) -> None:
        segment.append(self._pending, self._batches)
        self._pending, self._batches = bytearray(), []


# -- taking their place ----------------------------------------------------------------------------------


def discard(files: Files, compaction: Compaction) -> None:
    """What was cleaned is not wanted after all."""
    with compaction.log.health.guard(f"compaction of {compaction.log.name}"):
        for cleaned in compaction.groups:
            remove_stage(files, compaction.log.directory, cleaned.base_offset, ".cleaned")


def install(files: Files, compaction: Compaction) -> Staged[None]:
    """Put the cleaned segments in the place of the old ones, group by group (see ``swap``). Readers are never
    without one of the two; compaction and retention of the same log have to wait until it is done.
    """
    log = compaction.log
    for cleaned in compaction.groups:
        if log.is_abandoned:
            raise Deleted(log.name)
        with log.health.guard(f"compaction of {log.name}"):
            if log.holds(cleaned.replaced):
                yield from _install_group(files, log, cleaned)
            else:
                # Retention or a truncation was faster; what was cleaned is no longer there.
                remove_stage(files, log.directory, cleaned.base_offset, ".cleaned")
    log.cleaned_offset = max(log.cleaned_offset, compaction.offset_end)


def _install_group(files: Files, log: PartitionLog, cleaned: Cleaned) -> Staged[None]:
    rename_stage(files, log.directory, cleaned.base_offset, ".cleaned", ".swap")
    yield log.sync_names
    if log.is_abandoned:
        raise Deleted(log.name)
    new = Segment(files, log.directory, cleaned.base_offset, settings=log.settings, suffix=".swap")
    log.replace(cleaned.replaced, new)
    set_aside(files, log.directory, cleaned.base_offset, [each.base_offset for each in cleaned.replaced])
    yield log.sync_names
    if log.is_abandoned:
        raise Deleted(log.name)
    put_in_place(files, log.directory, cleaned.base_offset)
    new.note_names(log.directory, "")
    yield log.sync_names
