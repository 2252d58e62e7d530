"""Any value of any message: hypothesis strategies made from the classes.

Structs hold extremes as well as plain values, nulls where the version allows them, and defaults in fields
that the version lacks. ``Narrowing`` lets an oracle that cannot hold every value (a date, a known error
code) say so, field by field.
"""

from collections.abc import Mapping
from typing import Any, TypeAlias

from hypothesis import strategies as st

from trivium.messages.schema import Field, ListOf, StructType
from trivium.messages.types import Blob, FixedSize, Text

Narrowing: TypeAlias = Mapping[tuple[StructType, str], st.SearchStrategy[Any]]

ELEMENTS_MAX = 2
_INTEGER_BITS = {"b": 8, "h": 16, "i": 32, "q": 64, "H": 16, "I": 32}
_TEXTS = st.text(max_size=4) | st.sampled_from(["", "topic", "ключ", "x" * 130])
_BLOBS = st.binary(max_size=4) | st.just(bytes(200))


def structs(cls: StructType, version: int, narrowing: Narrowing) -> st.SearchStrategy[Any]:
    """Structs of this class as this version can carry them."""
    values = {
        each.name: narrowing[cls, each.name]
        if (cls, each.name) in narrowing
        else field_values(each, version, narrowing)
        for each in cls.fields
        if version in each.versions
    }
    return st.fixed_dictionaries(values).map(lambda fields: cls(**fields))


def field_values(each: Field, version: int, narrowing: Narrowing) -> st.SearchStrategy[Any]:
    values = _values(each.type, version, narrowing)
    return st.none() | values if version in each.nullable else values


def _values(kind: object, version: int, narrowing: Narrowing) -> st.SearchStrategy[Any]:
    if isinstance(kind, StructType):
        return structs(kind, version, narrowing)
    if isinstance(kind, ListOf):
        return st.lists(_values(kind.element, version, narrowing), max_size=ELEMENTS_MAX)
    if isinstance(kind, Text):
        return _TEXTS
    if isinstance(kind, Blob):
        return _BLOBS
    assert isinstance(kind, FixedSize)
    return _fixed_size(kind.letter)


def _fixed_size(letter: str) -> st.SearchStrategy[Any]:
    if letter == "?":
        return st.booleans()
    if letter == "d":
        return st.floats(allow_nan=False, allow_infinity=False)
    if letter == "16s":
        return st.binary(min_size=16, max_size=16)
    bits = _INTEGER_BITS[letter]
    if letter.isupper():
        return st.integers(0, (1 << bits) - 1)
    return st.integers(-(1 << bits - 1), (1 << bits - 1) - 1)
