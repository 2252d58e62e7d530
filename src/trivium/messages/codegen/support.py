"""What generated code calls at run time: refusals, unknown tagged fields, and layouts of counted numbers."""

import struct
from collections.abc import Callable
from typing import Any, Final

from trivium.wire.buffer import Buffer
from trivium.wire.cursor import Cursor
from trivium.wire.errors import DecodeError, EncodeError
from trivium.wire.limits import MESSAGE_ELEMENTS_MAX, TEXT_BYTES_MAX
from trivium.wire.tagged_fields import TaggedFields, add_tagged_fields, read_tagged_fields

COUNTED_LAYOUTS_MAX: Final = 32
"""Fewer numbers than this, all arrays of a run together, have a layout made once: replicas, partitions. It
also bounds how many layouts a run can have."""


def numbers_format(letter: str, count: int) -> str:
    return f"{count}{letter}" if len(letter) == 1 else letter * count


class CountedLayouts(dict[int | tuple[int, ...], Callable[..., Any]]):
    """For each count, or each combination of counts: a method of the layout that holds so many numbers.

    A template lists letters of ``struct``; one in a tuple is a number that occurs as often as its count says.
    """

    def __init__(self, template: list[str | tuple[str]], method: str) -> None:
        self._template = template
        self._method = method

    def __missing__(self, counts: int | tuple[int, ...]) -> Callable[..., Any]:
        left = iter((counts,) if isinstance(counts, int) else counts)
        letters = [
            piece if isinstance(piece, str) else numbers_format(piece[0], next(left))
            for piece in self._template
        ]
        method: Callable[..., Any] = getattr(struct.Struct(">" + "".join(letters)), self._method)
        self[counts] = method
        return method


def pack_numbers(letter: str, numbers: list[Any]) -> bytes:
    return struct.pack(f">{numbers_format(letter, len(numbers))}", *numbers)


def unpack_numbers(letter: str, count: int, buf: Buffer, pos: int) -> tuple[Any, ...]:
    return struct.unpack_from(f">{numbers_format(letter, count)}", buf, pos)


def read_unknown_tags(buf: Buffer, pos: int) -> tuple[TaggedFields, int]:
    """A whole section of a struct that has no tagged fields of its own."""
    cursor = Cursor(buf, pos)
    return read_tagged_fields(cursor), cursor.pos


def write_tags(known: dict[int, bytes], unknown: TaggedFields, add: Callable[[Buffer], None]) -> None:
    """A whole section: a known field wins over an unknown one of the same tag."""
    add_tagged_fields(add, {**unknown, **known} if unknown else known)


def refuse_length(field_label: str, length: int, remaining: int) -> DecodeError:
    return DecodeError(f"{field_label} announces {length}, {remaining} bytes remain")


def refuse_text(field_label: str, size_bytes: int) -> DecodeError:
    return DecodeError(f"{field_label} is a text of {size_bytes} bytes, and {TEXT_BYTES_MAX} is the most")


def refuse_elements(field_label: str) -> DecodeError:
    return DecodeError(f"{field_label}: more than {MESSAGE_ELEMENTS_MAX} elements in one message")


def refuse_tag_size(field_label: str) -> DecodeError:
    return DecodeError(f"{field_label} does not end where its tag says")


def refuse_value(field_label: str) -> EncodeError:
    return EncodeError(f"{field_label} is set, and this version does not have it")


def refuse_uuid(field_label: str) -> EncodeError:
    return EncodeError(f"{field_label} is not 16 bytes long")
