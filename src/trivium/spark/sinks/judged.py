"""Rows with a judgement: what a sink is told of each row behind the columns of its flow, and never writes.

A row that is set aside brings the record it was made of and what is wrong with it as one JSON text, which
good rows leave out. As columns of their own (structs, arrays) they would be NULL nearly everywhere, and Spark
measures what it has gathered for Python after each row: Arrow goes through all NULLs of an array again each
time, 20 us a row and array.
"""

import json
from base64 import b64decode
from typing import TYPE_CHECKING, Any, Final

from trivium.pipeline.quarantine import RAW_COLUMNS
from trivium.pipeline.quarantine import RECORD as QUARANTINE
from trivium.spark.formats.arrow_types import arrow_type

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import Column

ASIDE: Final = "__aside"
"""The record of a row that is set aside, and the reasons (STRING, JSON); NULL for a good one."""

PLACE: Final = "__place"
"""Partition and offset of the record that a row was made of (STRUCT), or NULL; only where rows replace
others."""

_WITHOUT_NULLS: Final = {"ignoreNullFields": "true"}
"""Said here, because a session may have it otherwise."""


def aside(record: "Column", reasons: "Column") -> "Column":
    """``ASIDE``, of a struct that has ``RAW_COLUMNS`` and an array of sentences."""
    from pyspark.sql import functions as F  # noqa: N812

    parts = {name: record.getField(name) for name in RAW_COLUMNS} | {"reasons": reasons}
    parts["timestamp"] = F.unix_micros(parts["timestamp"])
    said = F.to_json(F.struct(*(part.alias(name) for name, part in parts.items())), _WITHOUT_NULLS)
    return F.when(reasons.isNotNull(), said).alias(ASIDE)


def place(record: "Column") -> "Column":
    """``PLACE``, of such a struct."""
    from pyspark.sql import functions as F  # noqa: N812

    where = F.struct(*(record.getField(name).alias(name) for name in ("partition", "offset")))
    return F.when(record.getField("offset").isNotNull(), where).alias(PLACE)


def good_rows(rows: "pa.RecordBatch") -> "pa.RecordBatch":
    """The flow's own columns, and ``PLACE`` if it is there."""
    import pyarrow.compute as pc

    said = rows.column(ASIDE)
    good = rows if said.null_count == rows.num_rows else rows.filter(pc.is_null(said))
    return good.drop_columns([ASIDE])


def set_aside(rows: "pa.RecordBatch", flow: str, query_id: str, batch: int) -> "pa.RecordBatch":
    """The others, with the columns of a quarantine."""
    import pyarrow as pa

    found = [_taken_apart(text) for text in rows.column(ASIDE).drop_null().to_pylist()]
    for each in found:
        each |= {"flow": flow, "query": query_id, "batch": batch}
    columns = {
        column.name: pa.array([each.get(column.name) for each in found], arrow_type(column.type))
        for column in QUARANTINE.columns
    }
    return pa.RecordBatch.from_pydict(columns)


def _taken_apart(text: str) -> dict[str, Any]:
    """What Spark's JSON leaves out is NULL, and it writes bytes as base64."""
    said: dict[str, Any] = json.loads(text)
    for name in ("key", "value"):
        said[name] = _bytes(said.get(name))
    for header in said.get("headers") or ():
        header["value"] = _bytes(header.get("value"))
    return said


def _bytes(text: str | None) -> bytes | None:
    return None if text is None else b64decode(text)
