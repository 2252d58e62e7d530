"""Folders inside each other: no table lies below another one, nor the state of a pipeline below a table.

Whoever reads, compacts or expires the outer one would find files there that are none of its own. How tables
lie that are only read is not for us to say. Nothing is looked up: paths are compared as they are written,
relative ones from the working directory.
"""

import os
import posixpath
from collections.abc import Iterator
from dataclasses import dataclass

from trivium.pipeline.definition import Definition
from trivium.pipeline.finding import Finding, error
from trivium.pipeline.sink import TableSink
from trivium.pipeline.source import TableSource


@dataclass(frozen=True, slots=True)
class _Folder:
    place: str
    path: str
    said_by: str
    """In words, such as "the sink of revenue"."""

    where: str
    is_table: bool = True
    is_written: bool = True
    is_beside: bool = False
    """A quarantine that nobody placed lies beside its sink, and below what that is below."""


def nesting_findings(definition: Definition) -> Iterator[Finding]:
    folders = list(_folders(definition))
    for inner in folders:
        for outer in folders:
            is_below = inner is not outer and inner.place.startswith(f"{outer.place.rstrip('/')}/")
            is_written = inner.is_written or outer.is_written
            if is_below and is_written and outer.is_table and not inner.is_beside:
                yield error(
                    inner.where,
                    f"{inner.path}, {inner.said_by}, lies below {outer.path}, {outer.said_by}.",
                    "Files of the one would be taken for the other's; choose folders beside each other.",
                )


def whole(path: str) -> str:
    """The same text for the same folder, however it is written."""
    scheme, found, rest = path.partition("://")
    if found and scheme != "file":
        return f"{scheme}://{posixpath.normpath(rest)}"
    return os.path.abspath(local(path))


def is_local(path: str) -> bool:
    return "://" not in path or path.startswith("file://")


def local(path: str) -> str:
    """The path of a folder of this machine, without the scheme."""
    return path.removeprefix("file://").removeprefix("file:")


def _folders(definition: Definition) -> Iterator[_Folder]:
    yield _Folder(
        whole(definition.state), definition.state, "the pipeline's state", "pipeline.state", is_table=False
    )
    for source in definition.sources:
        if isinstance(source, TableSource) and source.table.path:
            path = source.table.path
            yield _Folder(
                whole(path),
                path,
                f"the table of {source.name}",
                f"source.{source.name}.path",
                is_written=False,
            )
    for flow in definition.flows:
        for key, sink in (("sink", flow.sink), ("quarantine", flow.quarantine)):
            if isinstance(sink, TableSink) and sink.table.path:
                path = sink.table.path
                is_beside = key == "quarantine" and flow.quarantine_at is None
                where = f"flow.{flow.name}.{key}"
                yield _Folder(whole(path), path, f"the {key} of {flow.name}", where, is_beside=is_beside)
