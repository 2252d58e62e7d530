"""Types that cannot meet: conditions that are none, sums of what cannot be added, comparisons of strangers.

Only kinds are told apart, not widths, and what sqlglot does not know passes: a false alarm would stop a
pipeline that is right. Texts are let through where Spark casts them, save for a constant that
no cast can read.
"""

from collections.abc import Iterator
from enum import StrEnum
from typing import TYPE_CHECKING

from trivium.pipeline.checking.sql_text import as_written
from trivium.pipeline.mistake import Mistake, did_you_mean

if TYPE_CHECKING:
    from sqlglot import exp


class Kind(StrEnum):
    NUMBER = "a number"
    TEXT = "a text"
    TIME = "a time"
    BOOLEAN = "true or false"
    BYTES = "bytes"
    NESTED = "an array, map or struct"
    INTERVAL = "an interval"
    UNKNOWN = "unknown"


def kind_of(expression: "exp.Expr | None") -> Kind:
    from sqlglot import exp

    data_type = expression.type if expression is not None else None
    if data_type is None or not isinstance(data_type, exp.DataType):
        return Kind.UNKNOWN
    kinds = exp.DataType
    found = data_type.this
    if found in kinds.NUMERIC_TYPES:
        return Kind.NUMBER
    if found in kinds.TEXT_TYPES:
        return Kind.TEXT
    if found in kinds.TEMPORAL_TYPES:
        return Kind.TIME
    if found == kinds.Type.BOOLEAN:
        return Kind.BOOLEAN
    if found in (kinds.Type.BINARY, kinds.Type.VARBINARY):
        return Kind.BYTES
    if found in kinds.NESTED_TYPES:
        return Kind.NESTED
    return Kind.INTERVAL if found == kinds.Type.INTERVAL else Kind.UNKNOWN


def type_mistakes(key: str, tree: "exp.Expr") -> Iterator[Mistake]:
    """``tree``: annotated with types."""
    from sqlglot import exp

    for node in tree.walk():
        if isinstance(node, exp.Where | exp.Having | exp.Not | exp.Connector):
            yield from _conditions(key, node)
        elif isinstance(node, exp.EQ | exp.NEQ | exp.GT | exp.GTE | exp.LT | exp.LTE):
            yield from _comparison(key, node)
        elif isinstance(node, exp.Add | exp.Sub | exp.Mul | exp.Div | exp.Mod):
            yield from _arithmetic(key, node)
        elif isinstance(node, exp.Sum | exp.Avg):
            if kind_of(node.this) in (Kind.BOOLEAN, Kind.TIME, Kind.NESTED, Kind.BYTES):
                yield Mistake(key, f"{as_written(node)} adds what is no number: {kind_of(node.this)}.")
        elif isinstance(node, exp.Dot):
            yield from _field(key, node)
        elif isinstance(node, exp.Anonymous) and node.name.casefold() in ("window", "session_window"):
            yield from _time_window(key, node)


def _conditions(key: str, node: "exp.Expr") -> Iterator[Mistake]:
    for part in (node.this, node.args.get("expression")):
        kind = kind_of(part)
        if part is not None and kind not in (Kind.BOOLEAN, Kind.UNKNOWN):
            yield Mistake(
                key, f"{as_written(part)} is {kind}, and no condition.", "Compare it with something."
            )


def _comparison(key: str, node: "exp.Expr") -> Iterator[Mistake]:
    from sqlglot import exp

    left, right = node.this, node.args["expression"]
    kinds = {kind_of(left), kind_of(right)}
    if kinds == {Kind.TEXT, Kind.NUMBER}:
        for part in (left, right):
            if isinstance(part, exp.Literal) and part.is_string and not _is_number(part.name):
                yield Mistake(key, f"{as_written(node)} compares a number with a text that is none.")
    elif len(kinds) == 2 and not kinds & {Kind.TEXT, Kind.UNKNOWN}:
        yield Mistake(
            key,
            f"{as_written(node)} compares {kind_of(left)} with {kind_of(right)}.",
            "Cast one of them, if that is what is meant.",
        )


def _arithmetic(key: str, node: "exp.Expr") -> Iterator[Mistake]:
    from sqlglot import exp

    parts = (node.this, node.args["expression"])
    refused = {Kind.BOOLEAN, Kind.NESTED, Kind.BYTES}
    if not isinstance(node, exp.Add | exp.Sub):
        refused.add(Kind.TIME)
    for part in parts:
        if kind_of(part) in refused:
            yield Mistake(
                key, f"{as_written(node)} calculates with {as_written(part)}, which is {kind_of(part)}."
            )


def _field(key: str, node: "exp.Dot") -> Iterator[Mistake]:
    from sqlglot import exp

    outer = node.this.type
    if not isinstance(outer, exp.DataType) or outer.this != exp.DataType.Type.STRUCT:
        return
    names = [field.name for field in outer.expressions]
    if names and node.name.casefold() not in (name.casefold() for name in names):
        yield Mistake(
            key, f"{as_written(node.this)} has no field {node.name}.", did_you_mean(node.name, names)
        )


def _time_window(key: str, node: "exp.Anonymous") -> Iterator[Mistake]:
    time = node.expressions[0] if node.expressions else None
    if kind_of(time) not in (Kind.TIME, Kind.UNKNOWN, Kind.TEXT):
        yield Mistake(key, f"{as_written(node)} needs a time, and {as_written(time)} is {kind_of(time)}.")


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
