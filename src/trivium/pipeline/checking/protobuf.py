"""The columns of a Protobuf message, in Spark's types, from a set of descriptors (``protoc -o``).

Numbers without a sign get a type that holds them all. An enum is its name as text, a message inside itself is
JSON as text. The library is an extra: without it the check says so.
"""

from typing import Any, Final

from trivium.pipeline.mistake import Mistake, did_you_mean
from trivium.pipeline.schema import (
    STRING,
    TIMESTAMP,
    Array,
    Column,
    DataType,
    Decimal,
    Map,
    Scalar,
    Schema,
    Struct,
)

TIMESTAMP_MESSAGE: Final = "google.protobuf.Timestamp"

_UNSIGNED_64: Final = Decimal(20, 0)
_SCALARS: Final[dict[int, DataType]] = {
    1: Scalar("DOUBLE"),
    2: Scalar("FLOAT"),
    3: Scalar("BIGINT"),
    4: _UNSIGNED_64,
    5: Scalar("INT"),
    6: _UNSIGNED_64,
    7: Scalar("BIGINT"),
    8: Scalar("BOOLEAN"),
    9: STRING,
    12: Scalar("BINARY"),
    13: Scalar("BIGINT"),
    14: STRING,
    15: Scalar("INT"),
    16: Scalar("BIGINT"),
    17: Scalar("INT"),
    18: Scalar("BIGINT"),
}
"""By the number of a field's type in ``descriptor.proto``: fixed64 is 6, fixed32 7, uint32 13, enum 14."""


def protobuf_columns(key: str, descriptors: bytes, message: str) -> Schema:
    found = message_descriptor(key, descriptors, message)
    return Schema(_columns(found, ()))


def message_descriptor(key: str, descriptors: bytes, message: str) -> Any:
    try:
        from google.protobuf.descriptor_pb2 import FileDescriptorSet
        from google.protobuf.descriptor_pool import DescriptorPool
        from google.protobuf.message import DecodeError
    except ModuleNotFoundError:
        raise Mistake(
            "format", "Protobuf cannot be read without its library.", "pip install 'trivium[protobuf]'."
        ) from None
    files = FileDescriptorSet()
    try:
        files.ParseFromString(descriptors)
    except DecodeError:
        raise _no_descriptors(key) from None
    names = [f"{file.package}.{each.name}".lstrip(".") for file in files.file for each in file.message_type]
    if not names:
        raise _no_descriptors(key)
    pool = DescriptorPool()
    try:
        for file in files.file:
            pool.Add(file)
        return pool.FindMessageTypeByName(message)
    except KeyError:
        raise Mistake(
            "message", f"The descriptor set has no message {message}.", did_you_mean(message, names)
        ) from None
    except TypeError:
        sentence = "The descriptor set lacks files that others of it import."
        raise Mistake(key, sentence, "Write it with protoc --include_imports.") from None


def message_indexes(message: Any) -> tuple[int, ...]:
    """Where a message stands in its file, from the outside in, as a registry's serializers count: the entries
    of maps, which the compiler makes up, are no messages."""
    from google.protobuf.descriptor_pb2 import FileDescriptorProto

    names = [message.name]
    while (message_around := message.containing_type) is not None:
        names.insert(0, message_around.name)
        message = message_around
    file = FileDescriptorProto()
    message.file.CopyToProto(file)
    found, inside = [], file.message_type
    for name in names:
        counted = [each for each in inside if not each.options.map_entry]
        at = [each.name for each in counted].index(name)
        found.append(at)
        inside = counted[at].nested_type
    return tuple(found)


def is_map(field: Any) -> bool:
    return bool(field.message_type is not None and field.message_type.GetOptions().map_entry)


def _no_descriptors(key: str) -> Mistake:
    return Mistake(
        key,
        "The file is no descriptor set.",
        "protoc --include_imports -o orders.desc orders.proto writes one.",
    )


def _columns(message: Any, around: tuple[str, ...]) -> tuple[Column, ...]:
    inside = (*around, message.full_name)
    return tuple(Column(field.name, _type(field, inside)) for field in message.fields)


def _type(field: Any, around: tuple[str, ...]) -> DataType:
    if is_map(field):
        parts = field.message_type.fields_by_name
        return Map(_single(parts["key"], around), _single(parts["value"], around))
    single = _single(field, around)
    return Array(single) if field.is_repeated else single


def _single(field: Any, around: tuple[str, ...]) -> DataType:
    if field.message_type is None:
        return _SCALARS[field.type]
    name = field.message_type.full_name
    if name == TIMESTAMP_MESSAGE:
        return TIMESTAMP
    if name in around or not field.message_type.fields:
        return STRING
    return Struct(_columns(field.message_type, around))
