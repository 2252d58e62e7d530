"""Where records go that cannot be read or break an expectation: beside the sink, and of its kind.

A quarantined record is the raw one with where it came from, so that it can be sent through again; what was
wrong with it stands beside it.
"""

from typing import Final

from trivium.pipeline.schema import BIGINT, BINARY, HEADERS, INT, STRING, TIMESTAMP, Array, Column, Schema
from trivium.pipeline.sink import Sink, TableSink, TopicSink

SUFFIX: Final = "__quarantine"

RECORD: Final = Schema(
    (
        Column("topic", STRING),
        Column("partition", INT),
        Column("offset", BIGINT),
        Column("timestamp", TIMESTAMP),
        Column("key", BINARY),
        Column("value", BINARY),
        Column("headers", HEADERS),
        Column("flow", STRING),
        Column("reasons", Array(STRING)),
        Column("query", STRING),
        Column("batch", BIGINT),
    )
)
"""The columns of a quarantine: one row for each record, with all that is wrong with it. The last two say by
which query and in which of its batches it was set aside: batches of a query come in order and whole, so they
also say up to where a replay has come."""

RAW_COLUMNS: Final = RECORD.names[:7]
"""Those of the record itself."""


def beside(sink: Sink) -> Sink:
    """The quarantine that a flow has unless it names another."""
    if isinstance(sink, TopicSink):
        return TopicSink(sink.topic + SUFFIX)
    return TableSink(sink.table.beside(SUFFIX), compact=sink.compact)
