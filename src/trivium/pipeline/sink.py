"""Where a flow's rows go: a topic, or a table that is appended to or changed by key.

The functions are how Python says it; ``parse_sink`` reads the same from a table of TOML and calls them.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, TypeAlias, TypedDict, Unpack

from trivium.pipeline.mistake import Mistake
from trivium.pipeline.span import Span, parse_span
from trivium.pipeline.table import Table, TableFormat, parse_table
from trivium.pipeline.value import check_keys, choice, optional_text, table, text, texts


class ValueFormat(StrEnum):
    """How the columns of a row become the value of a record."""

    JSON = "json"
    CSV = "csv"
    TEXT = "text"
    """The one column that is not the key, as text."""

    RAW = "raw"
    """The one column that is not the key, as it is."""


class SinkMode(StrEnum):
    APPEND = "append"
    UPSERT = "upsert"
    """A row replaces the one of the same key."""


@dataclass(frozen=True, slots=True)
class TopicSink:
    topic: str
    key: str | None = None
    """The column that becomes the record's key; records of a key stay in order."""

    format: ValueFormat = ValueFormat.JSON

    def __str__(self) -> str:
        return f"topic {self.topic}"


@dataclass(frozen=True, slots=True)
class TableSink:
    table: Table
    mode: SinkMode = SinkMode.APPEND
    key: tuple[str, ...] = ()
    partition_by: tuple[str, ...] = ()
    compact: Span | None = None
    """How often its small files become large ones while the flow runs; None: when somebody asks for it."""

    def __str__(self) -> str:
        return f"{self.table.format} table {self.table}"


Sink: TypeAlias = TopicSink | TableSink


def to_topic(topic: str, *, key: str | None = None, format: str = "json") -> TopicSink:  # noqa: A002
    return TopicSink(text("topic", topic), optional_text("key", key), choice("format", format, ValueFormat))


class TableOptions(TypedDict, total=False):
    mode: str
    key: str | Sequence[str]
    partition_by: str | Sequence[str]
    compact: str


class IcebergOptions(TableOptions, total=False):
    table: str
    catalog: str


class FileOptions(TypedDict, total=False):
    partition_by: str | Sequence[str]
    compact: str


def delta(path: str, **options: Unpack[TableOptions]) -> TableSink:
    """Appended to, or with ``mode="upsert"`` changed by ``key``."""
    return _table_sink(TableFormat.DELTA, {"path": path, **options})


def iceberg(path: str | None = None, **options: Unpack[IcebergOptions]) -> TableSink:
    """A path, or ``table="namespace.name"`` of a ``catalog``; the rest as of ``delta``."""
    return _table_sink(TableFormat.ICEBERG, options if path is None else {"path": path, **options})


def parquet(path: str, **options: Unpack[FileOptions]) -> TableSink:
    """Files that are only added to."""
    return _table_sink(TableFormat.PARQUET, {"path": path, **options})


COMPACT_MS_LEAST: Final = 60_000
"""More often than every minute, a table would be rewritten more than it is written."""

_TOPIC_KEYS: Final = ("topic", "key", "format")
_TABLE_KEYS: Final = ("format", "path", "table", "catalog", "mode", "key", "partition_by", "compact")


def parse_sink(value: object) -> Sink:
    if isinstance(value, TopicSink | TableSink):
        return value
    options = dict(table("", value))
    if "topic" in options:
        check_keys(options, _TOPIC_KEYS, "A topic as a sink")
        make: Callable[..., TopicSink] = to_topic
        return make(**options)
    check_keys(options, (*_TABLE_KEYS, "topic"), "A sink")
    if "format" not in options:
        raise Mistake(
            "", "The sink is neither a topic nor a table.", 'Write topic = "…", or format and path.'
        )
    return _table_sink(choice("format", options.pop("format"), TableFormat), options)


def _table_sink(format: TableFormat, options: Mapping[str, object]) -> TableSink:  # noqa: A002
    check_keys(options, _TABLE_KEYS, f"A {format} table as a sink")
    sink = TableSink(
        parse_table(format, options.get("path"), options.get("table"), options.get("catalog")),
        choice("mode", options.get("mode", "append"), SinkMode),
        texts("key", options.get("key", ())),
        texts("partition_by", options.get("partition_by", ())),
        _compact(options.get("compact")),
    )
    if sink.mode is SinkMode.UPSERT and format is TableFormat.PARQUET:
        raise Mistake("mode", "Parquet files cannot be changed by key.", "Use delta or iceberg, or append.")
    if sink.mode is SinkMode.UPSERT and not sink.key:
        raise Mistake(
            "mode", "An upsert needs to know which rows are the same.", 'Add key = ["id"], for example.'
        )
    if sink.mode is SinkMode.APPEND and sink.key:
        raise Mistake("key", "A table that is only appended to has no use for a key.", 'Add mode = "upsert"?')
    return sink


def _compact(value: object) -> Span | None:
    if value is None:
        return None
    every = parse_span("compact", text("compact", value))
    if every.milliseconds < COMPACT_MS_LEAST:
        raise Mistake("compact", f"A table cannot be compacted every {every}.", "Write '1 minute' or more.")
    return every
