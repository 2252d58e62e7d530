"""``new_columns = "add"``: a batch that brings columns is not written; they are added, and it is done again.

Spark fixes the columns of a query when it starts. So the query ends with the names and the place of the first
record that has them, their types are inferred from the records there, they are kept with the state, and the
query starts again from its checkpoint: nothing of them is lost, and nothing was written without them. Fields
inside a STRUCT are columns in this, named by their place (``address.zip``).
"""

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from trivium.client.door import Door
from trivium.client.reader import Reader
from trivium.client.topology import TopicPartition
from trivium.pipeline.ddl import parse_schema
from trivium.pipeline.definition import Definition
from trivium.pipeline.nested import column_at, grown, parse_place, structs_in, type_at
from trivium.pipeline.schema import METADATA, STRING, Column, Schema, bare, quoted
from trivium.pipeline.source import TopicSource
from trivium.spark.running.errors import CannotRun

if TYPE_CHECKING:
    from pyspark.sql import Column as Expression
    from pyspark.sql import SparkSession

ADDED_COLUMNS_MAX: Final = 200
"""Of one source. Records with more have data where names should be, and a table of them helps nobody."""

SAMPLE_RECORDS_MAX: Final = 1_000
"""From the first record with a new column on, to infer types from."""

_POLL_S: Final = 5.0
_ANNOUNCED: Final = re.compile(r"New columns: (\{[^{}]*\})")


@dataclass(frozen=True, slots=True)
class NewColumnsSeen:
    source: str
    columns: tuple[str, ...]
    place: TopicPartition
    offset: int


def announced(source: TopicSource, unknown: "Expression", record: "Expression") -> "Expression":
    """The end of a query that meets columns it does not know."""
    from pyspark.sql import functions as F  # noqa: N812

    place = [record.getField(name).alias(name) for name in ("topic", "partition", "offset")]
    said = F.to_json(F.struct(F.lit(source.name).alias("source"), unknown.alias("columns"), *place))
    return F.raise_error(F.concat(F.lit("New columns: "), said))


def seen_in(error: BaseException) -> NewColumnsSeen | None:
    """What a query ended with, if it was this."""
    found = _ANNOUNCED.search(str(error))
    if found is None:
        return None
    try:
        said: dict[str, Any] = json.loads(found[1].replace('\\"', '"'))
    except ValueError:
        return None
    place = TopicPartition(said["topic"], said["partition"])
    return NewColumnsSeen(said["source"], tuple(said["columns"]), place, said["offset"])


def add_columns(session: "SparkSession", definition: Definition, seen: NewColumnsSeen, door: Door) -> None:
    """Infer their types and keep them with the state."""
    source = definition.source(seen.source)
    assert isinstance(source, TopicSource)
    for name in seen.columns:
        if METADATA.find(name) is not None:
            raise CannotRun(
                f'Records of {source.name} have a column {name}, which is ours; say new_columns = "report".'
            )
    file = Path(definition.added_columns_of(source).removeprefix("file://"))
    before = parse_schema("schema", file.read_text(encoding="utf-8")) if file.exists() else Schema(())
    added = before
    for column in _inferred(session, _values(seen, door), seen.columns):
        added = grown(added, Schema((column,)))
    if _count(added) > ADDED_COLUMNS_MAX:
        raise CannotRun(
            f"Records of {source.name} have brought more than {ADDED_COLUMNS_MAX} new columns; say "
            'new_columns = "report", and read what varies as a MAP in the schema.'
        )
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"{added}\n", encoding="utf-8")


def _values(seen: NewColumnsSeen, door: Door) -> list[str]:
    values: list[str] = []
    with door.connect() as cluster, Reader(cluster, {seen.place: seen.offset}) as reader:
        while not values:
            # Bounded: the record is there, a query has just read it.
            chunks = reader.poll(_POLL_S)
            if not chunks:
                break
            texts = (record.value for chunk in chunks for record in chunk.records if record.value is not None)
            values = [text.decode("utf-8", "replace") for text in texts][:SAMPLE_RECORDS_MAX]
    return values


def _inferred(session: "SparkSession", values: list[str], places: tuple[str, ...]) -> list[Column]:
    """A column for each place that is new, with nothing else inside."""
    lines = session.sparkContext.parallelize(values, 1)
    found = {
        each.name: each.dataType.simpleString()
        for each in session.read.json(lines, mode="DROPMALFORMED").schema
    }
    columns = []
    for place in map(parse_place, places):
        # Only NULL so far, or gone since: text holds whatever comes.
        kind = found.get(place[0].name, "string").replace("void", "string")
        whole = parse_schema("schema", f"{quoted(place[0].name)} {kind}")
        columns.append(column_at(place, bare(type_at(whole, place) or STRING)))
    return columns


def _count(schema: Schema) -> int:
    return len(schema.columns) + sum(len(struct.fields) for _, struct in structs_in(schema))
