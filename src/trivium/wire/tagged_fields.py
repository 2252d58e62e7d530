"""Tagged fields (KIP-482): what a newer peer may add without breaking an older one.

    section   count uvarint, then for each field, in ascending order of tags:
    field     tag uvarint, size uvarint, size bytes

Every struct of a flexible version ends in one such section; an empty one is a single 0 byte. Fields
that nobody here knows are kept as they came, so that passing a message on loses nothing.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from trivium.wire.buffer import Buffer
from trivium.wire.builder import Builder
from trivium.wire.cursor import Cursor
from trivium.wire.errors import DecodeError
from trivium.wire.limits import TAGGED_FIELDS_MAX
from trivium.wire.varint import encode_uvarint

TaggedFields = Mapping[int, bytes]

NO_TAGGED_FIELDS: Final[TaggedFields] = MappingProxyType({})
"""The empty section, shared by all that have none."""

TAGGED_FIELD_BYTES_MIN: Final = 2
"""A tag and a size of one byte each, and no data."""


def read_tagged_fields(cursor: Cursor) -> TaggedFields:
    """One section. A tag that comes twice keeps its last data."""
    count = cursor.uvarint()
    if not count:
        return NO_TAGGED_FIELDS
    if count > TAGGED_FIELDS_MAX:
        raise DecodeError(f"{count} tagged fields announced, at most {TAGGED_FIELDS_MAX} are taken")
    cursor.require_elements(count, TAGGED_FIELD_BYTES_MIN)
    fields = {}
    for _ in range(count):
        tag = cursor.uvarint()
        fields[tag] = cursor.raw(cursor.uvarint())
    return fields


def write_tagged_fields(builder: Builder, fields: TaggedFields) -> Builder:
    """One section."""
    add_tagged_fields(builder.raw, fields)
    return builder


def add_tagged_fields(add: Callable[[Buffer], object], fields: TaggedFields) -> None:
    """The pieces of one section, in ascending order of tags as the protocol asks."""
    add(encode_uvarint(len(fields)))
    for tag in sorted(fields):
        value = fields[tag]
        add(encode_uvarint(tag))
        add(encode_uvarint(len(value)))
        add(value)
