"""What a query writes where, in a form that fits into options of Spark.

A password is an option of its own, by a name that Spark shows to nobody (``spark.redaction.regex``).
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final

from trivium.client.door import Door
from trivium.client.security import Security
from trivium.pipeline.sink import Sink, SinkMode, TableSink, TopicSink, ValueFormat
from trivium.pipeline.span import Span
from trivium.pipeline.table import Table, TableFormat

_PLAN: Final = "plan"
_PASSWORD: Final = "password"  # noqa: S105 - a name


@dataclass(frozen=True, slots=True)
class SinkPlan:
    flow: str
    """``<pipeline>.<flow>``."""

    checkpoint: str
    door: Door
    rows: Sink
    rejected: Sink | None

    def to_options(self) -> dict[str, str]:
        said = asdict(self)
        password = said["door"]["security"].pop("password")
        return {_PLAN: json.dumps(said)} | ({} if password is None else {_PASSWORD: password})


def from_options(options: Mapping[str, str]) -> SinkPlan:
    said = json.loads(options[_PLAN])
    rejected, door = said["rejected"], said["door"]
    security = Security(**door["security"], password=options.get(_PASSWORD))
    return SinkPlan(
        said["flow"],
        said["checkpoint"],
        Door(door["bootstrap"], security),
        _sink(said["rows"]),
        None if rejected is None else _sink(rejected),
    )


def _sink(said: dict[str, Any]) -> Sink:
    if "topic" in said:
        return TopicSink(said["topic"], said["key"], ValueFormat(said["format"]))
    table = said["table"]
    return TableSink(
        Table(TableFormat(table["format"]), table["path"], table["name"], table["catalog"]),
        SinkMode(said["mode"]),
        tuple(said["key"]),
        tuple(said["partition_by"]),
        None if said["compact"] is None else Span(**said["compact"]),
    )
