"""Putting a compacted segment in the place of those it replaces, so that a crash at any point is harmless.

In order, each step durable before the next: the new segment is called ``.swap``, which decides it; the elders
are set aside as ``.deleted``; the new one gets the name of the first of them. Without that a crash could keep
the new segment and bring back the old ones, and two segments would hold the same offsets.
"""

from collections.abc import Sequence

from trivium.log.files import Files
from trivium.log.names import offset_file, parse_offset_file
from trivium.log.segment import Segment
from trivium.log.settings import LogSettings
from trivium.log.stages import INDEXES, rename_stage


def set_aside(files: Files, directory: str, base_offset: int, replaced: Sequence[int]) -> None:
    """Take the replaced segments away, but for the log file of the first, whose name is still needed."""
    for base in replaced:
        if base != base_offset:
            rename_stage(files, directory, base, "", ".deleted")
    # The old indexes of the first one, too: they describe positions in another file.
    rename_stage(files, directory, base_offset, "", ".deleted", INDEXES)


def put_in_place(files: Files, directory: str, base_offset: int) -> None:
    """Give the ``.swap`` files their final names."""
    rename_stage(files, directory, base_offset, "", ".deleted", (".log",))
    rename_stage(files, directory, base_offset, ".swap", "")


def finish_swaps(files: Files, directory: str) -> list[int]:
    """Complete every swap that a crash interrupted. Returns the base offsets of the new segments."""
    parsed = [found for name in files.list(directory) if (found := parse_offset_file(name))]
    live = [found.offset for found in parsed if found.kind == ".log" and not found.stage]
    finished = []
    for swap in parsed:
        if swap.stage == ".swap" and swap.kind == ".log":
            end = _end_of_swap(files, directory, swap.offset, live)
            set_aside(files, directory, swap.offset, [base for base in live if swap.offset < base < end])
            files.sync_directory(directory)
            put_in_place(files, directory, swap.offset)
            files.sync_directory(directory)
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
