"""The columns of topic sources: said by the author, read from a file, pinned by an earlier run, or inferred.

What is inferred is pinned beside the state before anything runs, so that the second run reads as the first.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Final

from trivium.client.door import Door
from trivium.client.offsets import offset_ranges
from trivium.client.reader import Reader
from trivium.pipeline.checking.source_columns import relation_of
from trivium.pipeline.ddl import parse_schema
from trivium.pipeline.definition import Definition
from trivium.pipeline.record_format import FormatKind
from trivium.pipeline.schema import METADATA, Schema
from trivium.pipeline.source import TopicSource
from trivium.spark.running.errors import CannotRun

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SAMPLE_RECORDS_MAX: Final = 10_000
"""The first of a topic, from which its columns are inferred."""

_POLL_S: Final = 5.0


def schemas_of(
    session: "SparkSession", definition: Definition, sources: Iterable[TopicSource], door: Door
) -> dict[str, Schema]:
    return {source.name: _schema_of(session, definition, source, door) for source in sources}


def _schema_of(session: "SparkSession", definition: Definition, source: TopicSource, door: Door) -> Schema:
    known = relation_of(definition, source)[0].columns
    if known is not None:
        return Schema(tuple(each for each in known.columns if METADATA.find(each.name) is None))
    schema = _inferred(session, source, _sample(source, door))
    pinned = Path(definition.pinned_schema_of(source).removeprefix("file://"))
    pinned.parent.mkdir(parents=True, exist_ok=True)
    pinned.write_text(f"{schema}\n", encoding="utf-8")
    return schema


def _sample(source: TopicSource, door: Door) -> list[str]:
    """The first values of a source's topics, as text."""
    import re

    values: list[str] = []
    with door.connect() as cluster:
        names = source.topics
        if source.pattern is not None:
            names = tuple(name for name in cluster.topics() if re.fullmatch(source.pattern, name))
        keys = [key for name in names for key in cluster.topic(name).partition_keys()]
        ranges = offset_ranges(cluster, keys)
        unread = {key: start for key, (start, end) in ranges.items() if start < end}
        with Reader(cluster, unread) as reader:
            while unread and len(values) < SAMPLE_RECORDS_MAX:
                for chunk in reader.poll(_POLL_S):
                    texts = (record.value for record in chunk.records if record.value is not None)
                    values += [text.decode("utf-8", "replace") for text in texts]
                unread = {key: at for key, at in reader.positions.items() if at < ranges[key][1]}
    return values[:SAMPLE_RECORDS_MAX]


def _inferred(session: "SparkSession", source: TopicSource, values: list[str]) -> Schema:
    from pyspark.sql.types import StructType

    if not values:
        raise CannotRun(
            f"The columns of {source.name} cannot be inferred from an empty topic; give it a schema, or "
            "write records first."
        )
    lines = session.sparkContext.parallelize(values, 1)
    if source.format.kind is FormatKind.CSV:
        found = session.read.csv(lines, inferSchema=True, sep=source.format.delimiter)
    else:
        found = session.read.json(lines, mode="DROPMALFORMED")
    schema: StructType = found.schema
    if not schema.fields:
        raise CannotRun(f"No record of {source.name} can be read as {source.format.kind}; give it a schema.")
    return parse_schema(
        "schema", ", ".join(f"`{each.name}` {each.dataType.simpleString()}" for each in schema)
    )
