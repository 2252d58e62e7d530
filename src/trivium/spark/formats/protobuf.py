"""Messages of Protobuf, one in each value, behind a registry's prefix where there is one, by the ``protobuf``
library and a set of descriptors."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Any, Final

from trivium.pipeline.checking.protobuf import TIMESTAMP_MESSAGE, is_map, message_descriptor, message_indexes
from trivium.pipeline.schema import Array, DataType, Map, Schema, Struct
from trivium.spark.formats.batches import Unreadable, ValueDecoder
from trivium.spark.formats.registry_prefix import after_indexes, after_prefix

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


@lru_cache(maxsize=16)
def protobuf_decoder(
    descriptors: bytes, message: str, columns: Schema, schema_ids: tuple[int, ...] | None = None
) -> ValueDecoder:
    """``schema_ids``: numbers that a registry's prefix may have; None where values have no prefix."""
    from google.protobuf.message import DecodeError
    from google.protobuf.message_factory import GetMessageClass

    descriptor = message_descriptor("schema_file", descriptors, message)
    make = GetMessageClass(descriptor)
    indexes = message_indexes(descriptor)

    def decode(value: bytes) -> dict[str, Any]:
        if schema_ids is not None:
            value = value[after_indexes(value, after_prefix(value, schema_ids), indexes) :]
        read = make()
        try:
            read.ParseFromString(value)
        except DecodeError:
            raise Unreadable(f"not a message {message} of Protobuf") from None
        try:
            return _fields(read, columns.columns)
        except OverflowError:
            raise Unreadable("a time that no calendar has") from None

    return decode


def _fields(message: Any, columns: Any) -> dict[str, Any]:
    by_name = message.DESCRIPTOR.fields_by_name
    return {column.name: _field(message, by_name[column.name], column.type) for column in columns}


def _field(message: Any, field: Any, kind: DataType) -> Any:
    if is_map(field):
        assert isinstance(kind, Map)
        one = _single(field.message_type.fields_by_name["value"], kind.value)
        return [(key, one(each)) for key, each in getattr(message, field.name).items()]
    if field.is_repeated:
        element = kind.element if isinstance(kind, Array) else kind
        one = _single(field, element)
        return [one(each) for each in getattr(message, field.name)]
    if field.has_presence and not message.HasField(field.name):
        return None
    return _single(field, kind)(getattr(message, field.name))


def _single(field: Any, kind: DataType) -> Callable[[Any], Any]:
    if field.enum_type is not None:
        names = field.enum_type.values_by_number
        return lambda number: names[number].name if number in names else str(number)
    if field.message_type is None:
        return lambda value: value
    if field.message_type.full_name == TIMESTAMP_MESSAGE:
        return lambda at: _EPOCH + timedelta(seconds=at.seconds, microseconds=at.nanos // 1000)
    if isinstance(kind, Struct):
        return lambda inner: _fields(inner, kind.fields)
    from google.protobuf.json_format import MessageToJson

    return lambda inner: MessageToJson(inner, indent=None)
