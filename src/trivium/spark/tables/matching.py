"""Whether rows fit a table that is there: the same types under the same names, and no column too many."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from trivium.spark.tables.errors import TableError

if TYPE_CHECKING:
    import pyarrow as pa


def check_fit(table: str, there: "pa.Schema", given: "pa.Schema") -> None:
    """``there``: the table's columns. Those that are not given become NULL."""
    known = {field.name.casefold(): field for field in there}
    for field in given:
        found = known.get(field.name.casefold())
        if found is None:
            raise TableError(
                f"The table {table} has no column {field.name}, which the flow gives; leave it out of the "
                "flow, add it to the table, or write to another table."
            )
        if not _is_same(found.type, field.type):
            raise TableError(
                f"The table {table} has {found.name} as {found.type}, and the flow gives {field.type}; cast "
                "it in the flow, or write to another table."
            )
    names = {field.name.casefold() for field in given}
    for field in there:
        if not field.nullable and field.name.casefold() not in names:
            raise TableError(
                f"The table {table} must have a value in {field.name}, which the flow does not give; add it."
            )


def widened(there: "pa.Schema", given: "pa.Schema") -> "pa.Schema":
    """A table's columns with those that it has not, and the fields that it has not inside those it has."""
    import pyarrow as pa

    new = {field.name.casefold(): field for field in given}
    own = [_widened_field(field, new.pop(field.name.casefold(), None)) for field in there]
    return pa.schema([*own, *nullable(new.values())])


def missing(there: "pa.Schema", given: "pa.Schema") -> "pa.Schema":
    """The columns that a table has not, or not with everything inside."""
    import pyarrow as pa

    known = {field.name: field.type for field in there}
    whole = widened(there, given)
    return pa.schema([field for field in whole if known.get(field.name) != field.type])


def shared(there: "pa.Schema", given: "pa.Schema") -> "pa.Schema":
    """Of what is given only what the table has, inside its columns, too."""
    import pyarrow as pa

    known = {field.name.casefold(): field for field in there}
    own = (field for field in given if field.name.casefold() in known)
    return pa.schema(
        [pa.field(field.name, _shared_type(known[field.name.casefold()].type, field.type)) for field in own]
    )


def _widened_field(field: "pa.Field", new: "pa.Field | None") -> "pa.Field":
    return field if new is None else field.with_type(_widened_type(field.type, new.type))


def _widened_type(there: "pa.DataType", given: "pa.DataType") -> "pa.DataType":
    import pyarrow as pa
    from pyarrow import types

    if types.is_struct(there) and types.is_struct(given):
        return pa.struct(list(widened(pa.schema(list(there)), pa.schema(list(given)))))
    if _is_list(there) and _is_list(given):
        element = _widened_type(there.value_type, given.value_type)
        # The same list, of the same kind, where nothing is new.
        return there if element == there.value_type else pa.list_(there.value_field.with_type(element))
    return there


def _shared_type(there: "pa.DataType", given: "pa.DataType") -> "pa.DataType":
    import pyarrow as pa
    from pyarrow import types

    if types.is_struct(there) and types.is_struct(given):
        return pa.struct(list(shared(pa.schema(list(there)), pa.schema(list(given)))))
    if _is_list(there) and _is_list(given):
        return pa.list_(given.value_field.with_type(_shared_type(there.value_type, given.value_type)))
    return given


def check_partitioning(table: str, there: Sequence[str], wanted: Sequence[str]) -> None:
    if list(there) != list(wanted):
        said, by = (f"by {', '.join(names)}" if names else "by no column" for names in (there, wanted))
        raise TableError(
            f"The table {table} is partitioned {said}, and the flow would partition it {by}; change "
            "partition_by, or write to another table."
        )


def _is_same(one: "pa.DataType", other: "pa.DataType") -> bool:
    """Formats have one kind of text, of bytes and of lists; Arrow has several of each."""
    from pyarrow import types

    if types.is_timestamp(one) and types.is_timestamp(other):
        return (one.tz is None) == (other.tz is None)
    if _is_list(one) and _is_list(other):
        return _is_same(one.value_type, other.value_type)
    if types.is_map(one) and types.is_map(other):
        return _is_same(one.key_type, other.key_type) and _is_same(one.item_type, other.item_type)
    if types.is_struct(one) and types.is_struct(other):
        return [field.name for field in one] == [field.name for field in other] and all(
            _is_same(field.type, other.field(at).type) for at, field in enumerate(one)
        )
    return _kind(one) == _kind(other)


def _is_list(kind: "pa.DataType") -> bool:
    from pyarrow import types

    return bool(types.is_list(kind) or types.is_large_list(kind) or types.is_list_view(kind))


def _kind(kind: "pa.DataType") -> str:
    text = str(kind)
    return text.removeprefix("large_").removesuffix("_view")


def with_wide_integers(schema: "pa.Schema") -> "pa.Schema":
    """For a format without TINYINT and SMALLINT: both are INT there, inside of columns, too."""
    import pyarrow as pa

    return pa.schema([field.with_type(_with_wide_integers(field.type)) for field in schema])


def _with_wide_integers(kind: "pa.DataType") -> "pa.DataType":
    import pyarrow as pa
    from pyarrow import types

    if types.is_int8(kind) or types.is_int16(kind):
        return pa.int32()
    if types.is_struct(kind):
        return pa.struct([field.with_type(_with_wide_integers(field.type)) for field in kind])
    if types.is_map(kind):
        return pa.map_(_with_wide_integers(kind.key_type), _with_wide_integers(kind.item_type))
    if _is_list(kind):
        return pa.list_(kind.value_field.with_type(_with_wide_integers(kind.value_type)))
    return kind


def nullable(schema: "Iterable[pa.Field]") -> "pa.Schema":
    """As tables keep it, inside of columns, too: whether Spark believes a column to be always there is no
    promise for later flows."""
    import pyarrow as pa

    return pa.schema([pa.field(field.name, _nullable_type(field.type)) for field in schema])


def _nullable_type(kind: "pa.DataType") -> "pa.DataType":
    import pyarrow as pa
    from pyarrow import types

    if types.is_struct(kind):
        return pa.struct([pa.field(field.name, _nullable_type(field.type)) for field in kind])
    if types.is_map(kind):
        # Keys of a map are always there, in every format.
        return pa.map_(
            kind.key_type, kind.item_field.with_type(_nullable_type(kind.item_type)).with_nullable(True)
        )
    if _is_list(kind):
        return pa.list_(kind.value_field.with_type(_nullable_type(kind.value_type)).with_nullable(True))
    return kind
