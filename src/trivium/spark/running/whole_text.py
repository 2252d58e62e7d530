"""Whether a value is what it is read as, from its first byte to its last.

Spark's parsers are lenient where a record would lose something in silence: bytes that are no UTF-8 become
question marks, and what stands behind the first object of a value is passed over.
"""

from typing import TYPE_CHECKING, Final

from trivium.pipeline.schema import Array, DataType, Map, Scalar, Struct

if TYPE_CHECKING:
    from pyspark.sql import Column

NOT_UTF8: Final = "not text in UTF-8"

YEAR_MIN: Final = 1
YEAR_MAX: Final = 9999
"""The calendar that every reader of a table has; Spark's own goes on to the year 294247. Milliseconds that
are read as seconds lie behind it."""

BLANKS: Final = " \t\r\n"
_TIMES: Final = ("TIMESTAMP", "TIMESTAMP_NTZ", "DATE")


def is_more_than_one_object(text: "Column") -> "Column":
    """For JSON whose first object could be read. Most records have one brace that closes, at the end: they
    are not looked at again."""
    from pyspark.sql import functions as F  # noqa: N812

    is_flat = F.locate("}", text) == F.length(F.rtrim(text, F.lit(BLANKS)))
    ends_well = F.rtrim(text, F.lit(BLANKS)).endswith("}")
    listed = F.concat(F.lit("["), text, F.lit("]"))
    # The second way is slower, and knows NaN.
    length = F.coalesce(F.json_array_length(listed), F.size(F.from_json(listed, "array<string>")))
    return ~is_flat & (~ends_well | ~length.eqNullSafe(1))


def is_beyond_calendar(value: "Column", kind: DataType) -> "Column | None":
    """Whether a time in a value is outside of the calendar; None where there can be none."""
    from pyspark.sql import functions as F  # noqa: N812

    match kind:
        case Scalar(name) if name in _TIMES:
            zone = "Z" if name == "TIMESTAMP" else ""
            first = F.lit(f"{YEAR_MIN:04}-01-01T00:00:00{zone}").cast(name)
            beyond = F.lit(f"+{YEAR_MAX + 1}-01-01T00:00:00{zone}").cast(name)
            return F.coalesce((value < first) | (value >= beyond), F.lit(False))
        case Array(element):
            return _in_any(value, element)
        case Map(key, item):
            return _either(_in_any(F.map_keys(value), key), _in_any(F.map_values(value), item))
        case Struct(fields):
            found = None
            for field in fields:
                found = _either(found, is_beyond_calendar(value.getField(field.name), field.type))
            return found
        case _:
            return None


def _in_any(values: "Column", kind: DataType) -> "Column | None":
    from pyspark.sql import functions as F  # noqa: N812

    if is_beyond_calendar(F.lit(None), kind) is None:
        return None

    def is_beyond(each: "Column") -> "Column":
        found = is_beyond_calendar(each, kind)
        assert found is not None
        return found

    return F.coalesce(F.exists(values, is_beyond), F.lit(False))


def _either(one: "Column | None", other: "Column | None") -> "Column | None":
    return other if one is None else one if other is None else one | other
