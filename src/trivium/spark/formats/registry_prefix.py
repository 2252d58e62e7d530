"""What serializers of a schema registry write before a value, and which schema it says the value has.

    0            magic byte
    1..4         the schema's number in the registry, big-endian
    5..          Protobuf alone: which message of the file, from the outside in, as zigzag varints behind
                 their count; the first message of a file is the single byte 0

Nobody is asked what is behind the number: the pipeline has the schema, and says which numbers are its own.
"""

from collections.abc import Collection
from typing import Final

from trivium.spark.formats.batches import Unreadable

MAGIC: Final = 0
_HEADER_BYTES: Final = 5
_INDEXES_MAX: Final = 64
"""Messages inside messages; deeper than the schemas that are read."""

_FIRST: Final = (0,)


def after_prefix(value: bytes, schema_ids: Collection[int]) -> int:
    """Where the value begins; ``Unreadable`` without a prefix or with another number than those. No numbers:
    any will do."""
    if len(value) < _HEADER_BYTES or value[0] != MAGIC:
        raise Unreadable("no prefix of a schema registry")
    schema_id = int.from_bytes(value[1:_HEADER_BYTES], "big")
    if schema_ids and schema_id not in schema_ids:
        raise Unreadable(f"schema {schema_id} of the registry, which is not in schema_id")
    return _HEADER_BYTES


def after_indexes(value: bytes, at: int, wanted: tuple[int, ...]) -> int:
    """Behind the place of a message in its file, which must be the one that is wanted."""
    count, at = _zigzag(value, at)
    if not 0 <= count <= _INDEXES_MAX:
        raise Unreadable("a prefix of a schema registry with impossible message indexes")
    indexes = []
    for _ in range(count):
        index, at = _zigzag(value, at)
        indexes.append(index)
    found = tuple(indexes) or _FIRST
    if found != wanted:
        raise Unreadable(f"message {list(found)} of its file, and not {list(wanted)}")
    return at


def _zigzag(value: bytes, at: int) -> tuple[int, int]:
    number = shift = 0
    while True:
        if at >= len(value) or shift > 28:
            raise Unreadable("a prefix of a schema registry that ends too early")
        byte = value[at]
        at += 1
        number |= (byte & 0x7F) << shift
        if byte < 0x80:
            return (number >> 1) ^ -(number & 1), at
        shift += 7
