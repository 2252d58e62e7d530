"""Rows with a judgement: two columns behind those of the flow, which no sink gets to see."""

from typing import TYPE_CHECKING, Final

from trivium.pipeline.quarantine import RAW_COLUMNS as RAW_COLUMNS

if TYPE_CHECKING:
    import pyarrow as pa

RECORD: Final = "__record"
"""The record that a row was made of (STRUCT, ``RAW_COLUMNS``), or NULL."""

REASONS: Final = "__reasons"
"""Why a row is set aside (ARRAY<STRING>); NULL for a good one."""


def good_rows(rows: "pa.RecordBatch") -> "pa.RecordBatch":
    """The flow's own columns."""
    import pyarrow.compute as pc

    good = (
        rows.filter(pc.is_null(rows.column(REASONS))) if rows.column(REASONS).null_count else rows.slice(0, 0)
    )
    return good.drop_columns([RECORD, REASONS])


def set_aside(rows: "pa.RecordBatch", flow: str, query_id: str, batch: int) -> "pa.RecordBatch":
    """The others, with the columns of a quarantine."""
    import pyarrow as pa
    import pyarrow.compute as pc

    bad = rows.filter(pc.is_valid(rows.column(REASONS)))
    record = bad.column(RECORD)
    columns = {name: pc.struct_field(record, name) for name in RAW_COLUMNS}
    columns["flow"] = pa.array([flow] * bad.num_rows, pa.string())
    columns["reasons"] = bad.column(REASONS)
    columns["query"] = pa.array([query_id] * bad.num_rows, pa.string())
    columns["batch"] = pa.array([batch] * bad.num_rows, pa.int64())
    return pa.RecordBatch.from_pydict(columns)
