"""Whether tables and state can be made and written where the pipeline wants them, on this machine.

Nothing is made to find out: what is asked is the folder that is there already, or the nearest one above it.
What another system keeps (``s3://…``) is believed.
"""

import os
from collections.abc import Iterator
from typing import Final

from trivium.pipeline.checking.nesting import is_local, local
from trivium.pipeline.definition import Definition
from trivium.pipeline.finding import Finding, error
from trivium.pipeline.sink import TableSink

_OWN: Final = frozenset(
    {
        *("_delta_log", "_trivium", "data", "metadata"),
        *("beginnings", "checkpoints", "running"),
        *("commits", "offsets", "sources", "state"),
    }
)
"""Folders inside that every batch or every start writes into: of tables, of a pipeline's state and of Spark's
checkpoints. Others may be anybody's, such as a disk's ``lost+found``."""


def folder_findings(definition: Definition) -> Iterator[Finding]:
    """One for each folder that is in the way."""
    told = set()
    for where, what, path in _wanted(definition):
        problem = _problem(path) if is_local(path) else None
        if problem is not None and problem not in told:
            told.add(problem)
            yield error(
                where, f"{what} {path} cannot be written: {problem}.", "Correct that, or choose another."
            )


def _wanted(definition: Definition) -> Iterator[tuple[str, str, str]]:
    """Where it is said, what it is, and the folder."""
    for flow in definition.flows:
        if flow.sink is not None:
            for path in (definition.state, definition.checkpoint_of(flow), definition.beginnings_of(flow)):
                yield "pipeline.state", "The state in", path
        for key, sink in (("sink", flow.sink), ("quarantine", flow.quarantine)):
            if isinstance(sink, TableSink) and sink.table.path:
                yield f"flow.{flow.name}.{key}", "The table in", sink.table.path


def _problem(path: str) -> str | None:
    """Why nothing can be written into a folder, or the folder cannot be made; None where all is well."""
    try:
        there, missing = _nearest(os.path.abspath(local(path)))
        if not os.path.isdir(there):
            return f"{there} is no folder"
        for name in missing:
            _exists(os.path.join(there, name))  # Of a name that is too long the file system says so.
        inside = [] if missing else [os.path.join(there, name) for name in sorted(_OWN)]
        refused = [
            each for each in (there, *filter(os.path.isdir, inside)) if not os.access(each, os.W_OK | os.X_OK)
        ]
        if refused:
            return f"this user may not write into {refused[0]}"
        space = os.statvfs(there)
        is_full = space.f_blocks and not space.f_bavail  # Some file systems do not say how large they are.
        return f"no space is left where {there} is" if is_full else None
    except ValueError:
        return "no path can have such a character"
    except OSError as problem:
        return f"{problem.filename}: {problem.strerror}"


def _nearest(path: str) -> tuple[str, list[str]]:
    """The folder itself or the first above it that is there, and the names that are missing below it."""
    missing: list[str] = []
    while not _exists(path):
        path, name = os.path.split(path)
        missing.append(name)
    return path, missing


def _exists(path: str) -> bool:
    """Also of a link that leads nowhere: no folder can be made in its place."""
    try:
        os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return False
    return True
