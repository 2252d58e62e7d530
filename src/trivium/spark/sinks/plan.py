"""What a query writes where, in a form that fits into an option of Spark."""

import json
from dataclasses import asdict, dataclass
from typing import Any

from trivium.pipeline.sink import Sink, SinkMode, TableSink, TopicSink, ValueFormat
from trivium.pipeline.table import Table, TableFormat


@dataclass(frozen=True, slots=True)
class SinkPlan:
    flow: str
    """``<pipeline>.<flow>``."""

    checkpoint: str
    bootstrap: str
    rows: Sink
    rejected: Sink | None

    def to_option(self) -> str:
        return json.dumps(asdict(self))


def from_option(text: str) -> SinkPlan:
    said = json.loads(text)
    rejected = said["rejected"]
    return SinkPlan(
        said["flow"],
        said["checkpoint"],
        said["bootstrap"],
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
    )
