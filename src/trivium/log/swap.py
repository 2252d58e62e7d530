"""Putting a compacted segment in the place of those it replaces, so that a crash at any point is harmless.

::

    .cleaned   being written; a crash forgets it
    .swap      whole and durable; a crash finishes the swap
    (none)     in place

Each step that the next one relies on is made durable first: without that a crash could keep the new
segment and bring back the old ones, and two segments would hold the same offsets.
"""

from collections.abc import Sequence

from trivium.log.files import Files
from trivium.log.names import Kind, Stage, offset_file, parse_offset_file
from trivium.log.segment import Segment, remove_segment_files
from trivium.log.settings import LogSettings

_INDEXES: tuple[Kind, ...] = (".index", ".timeindex", ".txnindex")
_LOG_LAST: tuple[Kind, ...] = (*_INDEXES, ".log")


def rename_stage(files: Files, directory: str, base_offset: int, old: Stage, new: Stage) -> None:
    """Move a segment's files from one stage of life to another; the log file last, for it decides."""
    for kind in _LOG_LAST:
        path = f"{directory}/{offset_file(base_offset, kind, old)}"
        if files.exists(path):
            files.rename(path, f"{directory}/{offset_file(base_offset, kind, new)}")
    files.sync_directory(directory)


def remove_stage(files: Files, directory: str, base_offset: int, stage: Stage) -> None:
    """Remove a segment's files in that stage; what is not there is no error."""
    for kind in _LOG_LAST:
        path = f"{directory}/{offset_file(base_offset, kind, stage)}"
        if files.exists(path):
            files.remove(path)


def complete_swap(files: Files, directory: str, base_offset: int, replaced: Sequence[int]) -> None:
    """Take the replaced segments away, then give the ``.swap`` files their final names."""
    for base in replaced:
        if base != base_offset:
            remove_segment_files(files, directory, base)
    # The old indexes of the first one, too: they describe positions in another file.
    for kind in _INDEXES:
        if files.exists(path := f"{directory}/{offset_file(base_offset, kind)}"):
            files.remove(path)
    files.sync_directory(directory)
    rename_stage(files, directory, base_offset, ".swap", "")


def finish_swaps(files: Files, directory: str) -> list[int]:
    """Complete every swap that a crash interrupted. Returns the base offsets of the new segments."""
    parsed = [found for name in files.list(directory) if (found := parse_offset_file(name))]
    live = [found.offset for found in parsed if found.kind == ".log" and not found.stage]
    finished = []
    for swap in parsed:
        if swap.stage == ".swap" and swap.kind == ".log":
            end = _end_of_swap(files, directory, swap.offset, live)
            complete_swap(files, directory, swap.offset, [base for base in live if swap.offset < base < end])
            finished.append(swap.offset)
    for swap in parsed:
        if swap.stage == ".swap" and swap.offset not in finished:
            files.remove(f"{directory}/{offset_file(swap.offset, swap.kind, swap.stage)}")
    return finished


def _end_of_swap(files: Files, directory: str, base_offset: int, live: Sequence[int]) -> int:
    """What a swap replaces is told by the offsets it holds. A replaced segment that lost all its records
    may be missed; it then stays as it was, which the next compaction puts right.
    """
    segment = Segment(files, directory, base_offset, settings=LogSettings(compact=True), suffix=".swap")
    # The segment that is written to is never compacted, so the swap ends before it begins.
    segment.offset_limit = max((base for base in live if base > base_offset), default=None)
    end = segment.find_end()
    segment.retire()
    return end
