"""The columns of a frame: which of them a sink gets, and each only once."""

from typing import TYPE_CHECKING, Final

from trivium.pipeline.checking.sql_text import parse_query, spoken_metadata
from trivium.pipeline.flow import Flow
from trivium.pipeline.schema import METADATA
from trivium.spark.running.errors import CannotRun
from trivium.spark.running.judging import DROPPED, REASONS
from trivium.spark.running.source_frames import RECORD
from trivium.spark.sinks.judged import ASIDE, PLACE

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


_RESERVED: Final = frozenset({REASONS, DROPPED, ASIDE, PLACE})
"""What is behind the columns of a flow's own."""


def unique(frame: "DataFrame", flow: Flow) -> "DataFrame":
    """What a join with ``SELECT *`` brings from both sides is there once: that of the first."""
    seen: dict[str, int] = {}
    for at, name in enumerate(frame.columns):
        if name.casefold() in _RESERVED:
            raise CannotRun(
                f"{flow.name} gives a column {name}, a name that Trivium needs; rename it with AS."
            )
        if seen.setdefault(name.casefold(), at) != at and not _is_brought(name):
            raise CannotRun(f"{flow.name} gives two columns {name}; rename one of them with AS.")
    if len(seen) == len(frame.columns):
        return frame
    numbered = frame.toDF(*(f"c{at}" for at in range(len(frame.columns))))
    return numbered.select(*(numbered[f"c{at}"].alias(frame.columns[at]) for at in seen.values()))


def visible(frame: "DataFrame", flow: Flow) -> list[str]:
    """Metadata goes to a sink where SQL asks for it by name, or the schema of a function has it."""
    if flow.sql is not None:
        spoken = spoken_metadata(parse_query("sql", flow.sql))
    else:
        spoken = frozenset(name.casefold() for name in (flow.schema.names if flow.schema else ()))
    return [
        name
        for name in frame.columns
        if name not in (RECORD, REASONS) and (METADATA.find(name) is None or name.casefold() in spoken)
    ]


def _is_brought(name: str) -> bool:
    return name == RECORD or METADATA.find(name) is not None
