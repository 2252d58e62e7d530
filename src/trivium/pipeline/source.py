"""What flows read: topics as streams, and tables that streams are joined with."""

import re
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeAlias

from trivium.pipeline.expectation import Otherwise
from trivium.pipeline.mistake import Mistake
from trivium.pipeline.record_format import RecordFormat, record_format
from trivium.pipeline.start import EARLIEST, Start, parse_start
from trivium.pipeline.table import Table, TableFormat, parse_table
from trivium.pipeline.value import choice, optional_text, texts
from trivium.pipeline.watermark import Watermark, parse_watermark


class NewColumns(StrEnum):
    """What becomes of columns that records have and the schema has not."""

    REPORT = "report"
    """They are left out, and the run's summary names them."""

    ADD = "add"
    """They are added to the pinned schema and to the tables, as NULL in what was there before."""

    FAIL = "fail"
    """The flow stops."""


class Expired(StrEnum):
    """What becomes of a flow whose next records are gone, because retention was faster."""

    FAIL = "fail"
    """It stops and says which offsets are gone."""

    SKIP = "skip"
    """It goes on behind them."""


@dataclass(frozen=True, slots=True)
class TopicSource:
    name: str
    topics: tuple[str, ...] = ()
    pattern: str | None = None
    """Instead of topics: all whose whole name it matches."""

    format: RecordFormat = field(default_factory=RecordFormat)
    start: Start = EARLIEST
    watermark: Watermark | None = None
    new_columns: NewColumns = NewColumns.REPORT
    malformed: Otherwise = Otherwise.QUARANTINE
    """What becomes of records that the format cannot read."""

    expired: Expired = Expired.FAIL


@dataclass(frozen=True, slots=True)
class TableSource:
    """Read as it is when a batch begins."""

    name: str
    table: Table


Source: TypeAlias = TopicSource | TableSource

_OF_TABLES = ("path", "table", "catalog")
_OF_FORMATS = ("schema", "schema_file", "schema_id", "message", "delimiter")


def parse_source(name: str, options: dict[str, object]) -> Source:
    """``options``: keys that there are (``building.Pipeline.source``), those not given left out."""
    if options.keys() & set(_OF_TABLES) or options.get("format") in list(TableFormat):
        return _table_source(name, options)
    return _topic_source(name, options)


def _table_source(name: str, options: dict[str, object]) -> TableSource:
    for key in options:
        if key not in (*_OF_TABLES, "format"):
            raise Mistake(key, f"'{key}' belongs to topics, and {name} is a table.", "Remove it.")
    if "format" not in options:
        raise Mistake("format", f"The format of the table {name} is missing.", "delta, iceberg or parquet.")
    table = parse_table(options["format"], *(options.get(key) for key in _OF_TABLES))
    return TableSource(name, table)


def _topic_source(name: str, options: dict[str, object]) -> TopicSource:
    given = [key for key in ("topic", "topics", "pattern") if key in options]
    if len(given) > 1:
        raise Mistake(given[1], f"There is '{given[0]}' and '{given[1]}'.", "Keep one of them.")
    pattern = optional_text("pattern", options.get("pattern"))
    if pattern is not None:
        try:
            re.compile(pattern)
        except re.error as error:
            raise Mistake("pattern", f"'{pattern}' is no regular expression: {error}.") from None
    topics: tuple[str, ...] = ()
    if pattern is None:
        key = given[0] if given else "topic"
        topics = texts(key, options.get(key, name))
        if not topics:
            raise Mistake(key, "There is no topic to read.", "Name one.")
    encoding = {key: options[key] for key in _OF_FORMATS if key in options}
    return TopicSource(
        name,
        topics,
        pattern,
        record_format(options.get("format", "json"), **encoding),
        parse_start(options.get("start", "earliest"), topics),
        parse_watermark(options.get("watermark")),
        choice("new_columns", options.get("new_columns", "report"), NewColumns),
        choice("malformed", options.get("malformed", "quarantine"), Otherwise),
        choice("expired", options.get("expired", "fail"), Expired),
    )
