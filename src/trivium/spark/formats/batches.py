"""A column of values through a decoder: a column of structs, with a reason beside what cannot be read."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Protocol

from trivium.pipeline.schema import STRING, Column, Schema, Struct
from trivium.spark.formats.arrow_types import arrow_type

if TYPE_CHECKING:
    import pyarrow as pa

REASON: Final = "__corrupt"
"""The last field: why a value could not be read, NULL where it could."""


class Unreadable(Exception):
    """A value that is not what the schema says. The message goes to the quarantine."""


class ValueDecoder(Protocol):
    def __call__(self, value: bytes) -> dict[str, Any]:
        """The columns of one value, in Python's types, or ``Unreadable``."""


@dataclass(frozen=True)
class ColumnDecoder:
    """What Spark sends to its workers: the decoder itself is made there, once in each."""

    columns: Schema
    make: Callable[..., ValueDecoder]
    arguments: tuple[Any, ...]

    @property
    def type(self) -> Struct:
        own = (Column(column.name, column.type) for column in self.columns.columns)
        return Struct((*own, Column(REASON, STRING)))

    def __call__(self, values: "pa.Array") -> "pa.Array":
        import pyarrow as pa

        decode = self.make(*self.arguments)
        rows = [None if value is None else _row(decode, value) for value in values.to_pylist()]
        kind = arrow_type(self.type)
        try:
            return pa.array(rows, kind)
        except (pa.ArrowException, OverflowError, ValueError, TypeError):
            # One of them does not fit, such as a number with too many digits: which, is asked of each.
            return pa.array([_fitting(row, kind) for row in rows], kind)


def _row(decode: ValueDecoder, value: bytes) -> dict[str, Any]:
    try:
        return decode(value)
    except Unreadable as error:
        return {REASON: str(error)}


def _fitting(row: dict[str, Any] | None, kind: "pa.DataType") -> dict[str, Any] | None:
    import pyarrow as pa

    try:
        pa.array([row], kind)
    except (pa.ArrowException, OverflowError, ValueError, TypeError) as error:
        return {REASON: f"a value does not fit its column: {' '.join(str(error).split())}"}
    return row
