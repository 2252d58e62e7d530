"""The files of one segment, and the stages of its life that their names tell: renamed and removed together.

::

    .cleaned   being written by compaction; a crash forgets it
    .swap      whole and durable, about to replace its elders; a crash finishes that
    (none)     live
    .deleted   leaving: removed after ``file.delete.delay.ms``, or by the next start

Nothing here syncs: what has to be durable before what, the callers say.
"""

from collections.abc import Sequence
from contextlib import suppress

from trivium.log.files import Files
from trivium.log.names import Kind, Stage, offset_file

INDEXES: tuple[Kind, ...] = (".index", ".timeindex", ".txnindex")
KINDS: tuple[Kind, ...] = (*INDEXES, ".snapshot", ".log")
"""The log file last: as long as it is there the rest can be made again, and it decides about the stage."""


def rename_stage(
    files: Files, directory: str, base_offset: int, old: Stage, new: Stage, kinds: Sequence[Kind] = KINDS
) -> None:
    """Move a segment's files from one stage to another; what is not there is no error."""
    for kind in kinds:
        path = f"{directory}/{offset_file(base_offset, kind, old)}"
        if files.exists(path):
            files.rename(path, f"{directory}/{offset_file(base_offset, kind, new)}")


def remove_stage(files: Files, directory: str, base_offset: int, stage: Stage) -> None:
    """Remove a segment's files in that stage; what is not there is no error."""
    for kind in KINDS:
        path = f"{directory}/{offset_file(base_offset, kind, stage)}"
        if files.exists(path):
            # Two threads may be at it, for two lives of a partition of one name.
            with suppress(FileNotFoundError):
                files.remove(path)
