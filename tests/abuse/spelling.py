"""Messages of plain dictionaries, in any version, and where in an answer there is which error."""

from collections.abc import Iterator, Mapping
from typing import Any

from trivium.messages.schema import REQUIRED, ListOf, StructType
from trivium.messages.types import Blob, FixedSize, Text


def said(cls: Any, version: int, values: Mapping[str, Any]) -> Any:
    """A message: what a version lacks is left out, what is not named is empty."""
    unknown = values.keys() - {each.name for each in cls.fields}
    assert not unknown, f"{cls.__name__} has no {unknown}"
    fields = {}
    for each in cls.fields:
        if version in each.versions and each.name in values:
            fields[each.name] = _value(each.type, version, values[each.name])
        elif each.rules.default is REQUIRED and each.rules.default_factory is None:
            fields[each.name] = None if each.is_ever_nullable else _empty(each.type)
    return cls(**fields)


def _value(kind: Any, version: int, value: Any) -> Any:
    if isinstance(kind, StructType) and value is not None:
        return said(kind, version, value)
    if isinstance(kind, ListOf) and value is not None:
        return [_value(kind.element, version, each) for each in value]
    return value


def _empty(kind: Any) -> Any:
    if isinstance(kind, ListOf):
        return []
    if isinstance(kind, Text):
        return ""
    if isinstance(kind, Blob):
        return b""
    assert isinstance(kind, FixedSize), kind
    return bytes(16) if kind.letter == "16s" else 0


def errors_in(message: Any, version: int, path: str = "") -> Iterator[tuple[str, int]]:
    """Path and code of every error of an answer; the elements of a list have one path."""
    for each in type(message).fields:
        value = getattr(message, each.name)
        if version not in each.versions or value is None:
            continue
        here = path + each.name
        if each.name.endswith("error_code") and value:
            yield here, value
        for inner in value if isinstance(each.type, ListOf) else [value]:
            if isinstance(type(inner), StructType):
                yield from errors_in(inner, version, f"{here}.")
