"""Which error codes an answer carries, wherever they stand in it: for counting.

From the class of a response a function is made once: loops over just the fields that lead to a code, as
straight-line source, because it runs for every answer.
"""

from collections.abc import Callable
from functools import cache
from typing import Any

from trivium.messages.schema import ListOf, Response, StructType

_INDENT = "    "


def error_codes(response: Response) -> list[int]:
    """Every code other than 0 in a response, as often as it is there."""
    return _finder(type(response))(response)


@cache
def _finder(cls: StructType) -> Callable[[Any], list[int]]:
    source = ["def find(value_0):", f"{_INDENT}found = []", *_lines(cls, 0), f"{_INDENT}return found"]
    scope: dict[str, Any] = {}
    exec(compile("\n".join(source), f"<error codes of {cls.__name__}>", "exec"), scope)  # noqa: S102 - our own
    find: Callable[[Any], list[int]] = scope["find"]
    return find


def _lines(cls: StructType, depth: int) -> list[str]:
    """Source that looks through ``value_<depth>``; empty if there can be no code in it."""
    indent, value = _INDENT * (depth + 1), f"value_{depth}"
    lines: list[str] = []
    for field in cls.fields:
        is_list = isinstance(field.type, ListOf)
        element = field.type.element if isinstance(field.type, ListOf) else field.type
        if field.name == "error_code":
            lines += [f"{indent}if {value}.error_code:", f"{indent}{_INDENT}found.append({value}.error_code)"]
        elif isinstance(element, StructType) and (inner := _lines(element, depth + 1)):
            each = f"{value}.{field.name}" if is_list else f"({value}.{field.name},)"
            if field.is_ever_nullable:
                each = f"{each} if {value}.{field.name} is not None else ()"
            lines += [f"{indent}for value_{depth + 1} in {each}:", *inner]
    return lines
