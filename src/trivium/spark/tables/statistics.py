"""The least and greatest values of a file, so that readers of Delta can pass over it unopened."""

from datetime import UTC, date, datetime, timedelta
from typing import Any, Final

TEXT_CHARACTERS_MAX: Final = 64
"""Longer texts have no bounds: they help little, and every reader of the log has to carry them."""


def statistics_of(metadata: Any) -> dict[str, Any]:
    """From the footer of a Parquet file (``pyarrow.parquet.FileMetaData``); columns at the top level only."""
    low: dict[str, Any] = {}
    high: dict[str, Any] = {}
    nulls: dict[str, int] = {}
    for column in range(metadata.num_columns):
        name = metadata.schema.column(column).path
        chunks = [metadata.row_group(group).column(column) for group in range(metadata.num_row_groups)]
        found = [chunk.statistics for chunk in chunks if chunk.is_stats_set]
        if "." in name or len(found) != len(chunks) or not chunks:
            continue
        if all(each.has_null_count for each in found):
            nulls[name] = sum(each.null_count for each in found)
        least, greatest = _bounds(found)
        if least is not None and greatest is not None:
            low[name], high[name] = least, greatest
    return {"numRecords": metadata.num_rows, "minValues": low, "maxValues": high, "nullCount": nulls}


def _bounds(found: list[Any]) -> tuple[Any, Any]:
    """Of the statistics of a column in each row group; None for what has no bound."""
    bounded = [each for each in found if each.has_min_max]
    if not bounded or any(each.num_values and not each.has_min_max for each in found):
        return None, None
    try:
        least, greatest = min(each.min for each in bounded), max(each.max for each in bounded)
    except OverflowError:  # A time that Python's calendar does not reach.
        return None, None
    return _bound(least, is_upper=False), _bound(greatest, is_upper=True)


def _bound(value: Any, *, is_upper: bool) -> Any:
    """As JSON has it in Delta's log; None for what is better left out."""
    if isinstance(value, bool | bytes):
        return None
    if isinstance(value, float):
        return value if value == value and abs(value) != float("inf") else None
    if isinstance(value, int):
        return value
    if isinstance(value, str):
        return value if len(value) <= TEXT_CHARACTERS_MAX else None
    if isinstance(value, datetime):
        # Delta keeps milliseconds; the bound has to hold for the microseconds behind them, too.
        utc = value.astimezone(UTC) if value.tzinfo else value.replace(tzinfo=UTC)
        cut = utc.replace(microsecond=utc.microsecond // 1000 * 1000)
        if is_upper and cut != utc:
            cut += timedelta(milliseconds=1)
        return cut.strftime("%Y-%m-%dT%H:%M:%S.") + f"{cut.microsecond // 1000:03}Z"
    return value.isoformat() if isinstance(value, date) else None
