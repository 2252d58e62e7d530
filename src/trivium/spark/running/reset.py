"""A flow from the beginning: what would be forgotten and removed, said first and done afterwards.

Knows folders of this machine; what lies elsewhere its owner removes by the means of that place.
"""

import shutil
from dataclasses import dataclass
from pathlib import Path

from trivium.pipeline.checking.graph import graph_of
from trivium.pipeline.definition import Definition
from trivium.pipeline.flow import Flow
from trivium.pipeline.sink import Sink, TableSink
from trivium.spark.running.errors import CannotRun
from trivium.spark.running.leases import Lease
from trivium.spark.tables.stores import open_store


@dataclass(frozen=True, slots=True)
class Reset:
    sentences: tuple[str, ...]
    """What it does, for whoever has to agree."""

    folders: tuple[Path, ...]
    state: str
    name: str
    """What must not run meanwhile."""

    def carry_out(self) -> None:
        """The checkpoint goes first: broken off then, a run refuses a table whose checkpoint is gone, and the
        reset is repeated. The other way round it would go on without the rows that are gone."""
        lease = Lease(self.state, self.name)
        try:
            for folder in self.folders:
                shutil.rmtree(folder)
        finally:
            lease.end()


def plan_reset(definition: Definition, flow: Flow, *, removes_output: bool) -> Reset:
    checkpoint, group = _folder(definition.checkpoint_of(flow)), definition.group_of(flow)
    sentences, folders = [], []
    if checkpoint.exists():
        folders.append(checkpoint)
        sentences.append(f"Forgets how far {group} has read ({checkpoint}, and in the broker).")
    else:
        sentences.append(f"{group} has no checkpoint; there is nothing to forget.")
    # Where it began, and with its rows what was filled and sent through again, is forgotten, too.
    memories = [definition.beginnings_of(flow)]
    memories += [definition.backfills_of(flow), definition.replay_of(flow)] if removes_output else []
    folders += [folder for folder in map(_folder, memories) if folder.exists()]
    for sink in (flow.sink, flow.quarantine):
        if sink is not None:
            sentence, folder = _output(sink, removes_output=removes_output)
            sentences.append(sentence)
            folders += [folder] if folder is not None else []
    sentences.append("The next run begins where the sources say: " + _starts(definition, flow) + ".")
    return Reset(tuple(sentences), tuple(folders), definition.state, group)


def _output(sink: Sink, *, removes_output: bool) -> tuple[str, Path | None]:
    if not isinstance(sink, TableSink):
        return f"Records in {sink} stay, and the next run writes them again.", None
    if sink.table.path is None:
        return f"The {sink} is its catalog's, and stays; remove it there before the next run.", None
    folder = _folder(sink.table.path)
    if not open_store(sink).writers():
        return f"The {sink} has no rows of any flow, and is left alone.", None
    if not removes_output:
        return (
            f"The {sink} stays; a run refuses to write its rows again until it is removed, as by "
            "--remove-output.",
            None,
        )
    return f"Removes the {sink} with all its rows.", folder


def _folder(path: str) -> Path:
    if "://" in path and not path.startswith("file://"):
        raise CannotRun(f"{path} is not on this machine; remove it by the means of the place where it is.")
    return Path(path.removeprefix("file://"))


def _starts(definition: Definition, flow: Flow) -> str:
    topics = graph_of(definition).topic_sources(definition, flow)
    return ", ".join(f"{each.name} at {each.start.kind}" for each in topics)
