"""Sources as frames: topics as streams of decoded rows, tables as they are when a batch begins.

A row of a topic has the source's columns, those that every record brings (``_offset`` …), and the record
itself behind them, with what is wrong with it.
"""

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from trivium.client.door import Door
from trivium.client.topology import TopicPartition
from trivium.pipeline.quarantine import RAW_COLUMNS
from trivium.pipeline.schema import METADATA, Schema, quoted
from trivium.pipeline.source import Expired, NewColumns, TableSource, TopicSource
from trivium.pipeline.start import StartKind
from trivium.spark.connector.offsets_json import to_json
from trivium.spark.connector.security import options_of
from trivium.spark.running.added_columns import announced
from trivium.spark.running.decoding import parsed_value, problem_of
from trivium.spark.running.topics import FILE_OPTION, FORMAT
from trivium.spark.running.unknown_names import unknown_names

if TYPE_CHECKING:
    from pyspark.sql import Column as Expression
    from pyspark.sql import DataFrame, SparkSession

OFFSETS_PER_BATCH_MAX: Final = 2_000_000
"""Of one source. A flow that has a day to catch up on does it in steps that can be repeated."""

RECORD: Final = "__record"
"""The record that a row was made of (STRUCT, ``RAW_COLUMNS`` and ``PROBLEM``), or NULL."""

PROBLEM: Final = "problem"
"""Field of a record: why it could not be read (ARRAY<STRING>), NULL where it could."""


def raw_stream(
    session: "SparkSession",
    source: TopicSource,
    door: Door,
    group: str,
    begins_at: Mapping[TopicPartition, int] | None,
    topics_file: str,
) -> "DataFrame":
    """``begins_at``: without a checkpoint; None where no topic is there yet."""
    reader = session.readStream.format(FORMAT).options(
        **{**topic_options(door, group), **_subscription(source), **_start(source, begins_at)},
        **{FILE_OPTION: topics_file},
    )
    reader = reader.option("failOnDataLoss", str(source.expired is not Expired.SKIP).lower())
    return reader.load()


def topic_options(door: Door, group: str) -> dict[str, str]:
    """How a pipeline reads any topic."""
    return {
        "kafka.bootstrap.servers": door.bootstrap,
        **options_of(door.security),
        "kafka.group.id": group,
        "kafka.isolation.level": "read_committed",
        "includeHeaders": "true",
        "maxOffsetsPerTrigger": str(OFFSETS_PER_BATCH_MAX),
    }


def _subscription(source: TopicSource) -> dict[str, str]:
    if source.pattern is not None:
        return {"subscribePattern": source.pattern}
    return {"subscribe": ",".join(source.topics)}


def _start(source: TopicSource, begins_at: Mapping[TopicPartition, int] | None) -> dict[str, str]:
    if begins_at is not None:
        return {"startingOffsets": json.dumps(to_json(begins_at))}
    # Topics that come later than the flow are read as a whole.
    return {"startingOffsets": str(StartKind.EARLIEST)}


def decoded(source: TopicSource, columns: Schema, raw: "DataFrame") -> "DataFrame":
    """Rows of a topic, those that cannot be read among them."""
    from pyspark.sql import functions as F  # noqa: N812

    record = F.struct(*(F.col(name) for name in RAW_COLUMNS), F.col("__problem").alias(PROBLEM))
    # A parser gives what it could read of a malformed record, too; no query may stumble over that.
    readable = F.when(F.col("__problem").isNull(), F.col("__columns"))
    parsed = raw.withColumn("__columns", parsed_value(source.format, columns, F.col("value")))
    problem = problem_of(source.format, columns, F.col("value"), F.col("__columns"))
    return (
        parsed.withColumn("__problem", problem)
        .withColumn("__columns", readable)
        .select(
            *(F.col("__columns").getField(name).alias(name) for name in columns.names),
            *(F.col(name.removeprefix("_")).alias(name) for name in METADATA.names),
            record.alias(RECORD),
        )
    )


def new_columns(source: TopicSource, columns: Schema) -> "Expression | None":
    """What a record has and the schema does not know, sorted (ARRAY<STRING>); NULL where there is nothing."""
    from pyspark.sql import functions as F  # noqa: N812

    from trivium.pipeline.record_format import FormatKind

    if source.format.kind is not FormatKind.JSON:
        return None
    unknown = unknown_names(columns, F.col(RECORD).getField("value").cast("string"))
    found = F.when(F.size(unknown) > 0, unknown)
    if source.new_columns is NewColumns.ADD:
        return F.when(F.size(unknown) > 0, announced(source, unknown, F.col(RECORD)).cast("array<string>"))
    if source.new_columns is NewColumns.FAIL:
        sentence = F.concat(
            F.lit(f"The records of {source.name} have columns that its schema has not: "),
            F.array_join(unknown, ", "),
            F.lit('; add them to the schema, or say new_columns = "report".'),
        )
        return F.when(F.size(unknown) > 0, F.raise_error(sentence).cast("array<string>"))
    return found


def table_frame(session: "SparkSession", source: TableSource) -> "DataFrame":
    from trivium.spark.tables.lookup import FORMAT, TABLE_OPTION
    from trivium.spark.tables.table_json import to_json

    return session.read.format(FORMAT).option(TABLE_OPTION, to_json(source.table)).load()


def column(name: str) -> "Expression":
    """A column whose name may have dots and spaces."""
    from pyspark.sql import functions as F  # noqa: N812

    return F.col(name if quoted(name) == name else "`" + name.replace("`", "``") + "`")
