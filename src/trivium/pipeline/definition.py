"""A whole pipeline as data. Readers make it, ``checking`` looks at it, Spark runs it; nobody changes it."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from trivium.pipeline.flow import Flow
from trivium.pipeline.source import Source

DEFAULT_BROKER: Final = "127.0.0.1:9092"
_BROKER_VARIABLES: Final = ("TRIVIUM_BOOTSTRAP", "TRIVIUM_BROKER")
"""The second is what the other commands listen to."""


@dataclass(frozen=True, slots=True)
class Definition:
    name: str
    sources: tuple[Source, ...] = ()
    flows: tuple[Flow, ...] = ()
    bootstrap: str | None = None
    """None: what the environment says, else the broker of this machine."""

    state: str = ""
    """Checkpoints and pinned schemas: a folder or any URI that Spark can write."""

    file: Path | None = field(default=None, compare=False)
    lines: Mapping[str, int] = field(default_factory=dict, compare=False)
    """Where in the file things are said, by their path: ``flow.revenue.sql``."""

    def source(self, name: str) -> Source | None:
        return next((source for source in self.sources if source.name == name), None)

    def flow(self, name: str) -> Flow | None:
        return next((flow for flow in self.flows if flow.name == name), None)

    def broker(self, environment: Mapping[str, str] = os.environ) -> str:
        said = (environment.get(variable) for variable in _BROKER_VARIABLES)
        return self.bootstrap or next(filter(None, said), DEFAULT_BROKER)

    def group_of(self, flow: Flow) -> str:
        """The consumer group by which the broker and its tools know a flow."""
        return f"{self.name}.{flow.name}"

    def checkpoint_of(self, flow: Flow) -> str:
        return f"{self.state}/checkpoints/{flow.name}"

    def beginnings_of(self, flow: Flow) -> str:
        """The folder that knows where a flow began to read."""
        return f"{self.state}/beginnings/{flow.name}"

    def backfills_of(self, flow: Flow) -> str:
        """The folder with what was filled beside a flow, one folder for each time."""
        return f"{self.state}/backfills/{flow.name}"

    def replay_of(self, flow: Flow) -> str:
        """The checkpoint that knows how much of a flow's quarantine was sent through again."""
        return f"{self.state}/replays/{flow.name}"

    def compactions_of(self, flow: Flow) -> str:
        """The file that knows when the tables of a flow were compacted last."""
        return f"{self.state}/compactions/{flow.name}.json"

    def pinned_schema_of(self, source: Source) -> str:
        """The file of DDL that the first run writes for a source without a schema."""
        return f"{self.state}/schemas/{source.name}.ddl"

    def added_columns_of(self, source: Source) -> str:
        """The file of DDL with columns that records have brought, where the author wants them added."""
        return f"{self.state}/schemas/{source.name}.added.ddl"

    def beside(self, path: str) -> Path:
        """A file that the definition names, as seen from it."""
        return (self.file.parent if self.file else Path()) / path

    def line_of(self, where: str) -> int | None:
        """The line of what is at a path, or of the nearest thing around it."""
        while where and where not in self.lines:
            where = where.rpartition(".")[0]
        return self.lines.get(where)
