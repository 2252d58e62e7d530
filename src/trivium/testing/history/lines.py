"""Operations as lines of JSON, one each, in the order of their ends::

    {"process": "iggy-1", "protocol": "iggy", "outcome": "ok", "invoke": 17, "end": 29,
     "send": {"topic": "orders", "partition": 0, "values": ["a", "b"], "offsets": [7, 8]}}

The last key names what was done: send, poll, txn, commit, committed or assign, and has the fields of that
class in ``operation``; fields that have their default may be left out. A record of a poll is an array of
offset, value, time in milliseconds or null, headers as pairs or null.
"""

import heapq
import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import MISSING, fields, replace
from enum import Enum
from os import PathLike
from pathlib import Path
from typing import Any, Final, TypeVar

from trivium.testing.history.operation import (
    Act,
    Assign,
    Commit,
    Committed,
    Decision,
    Operation,
    Outcome,
    Place,
    Poll,
    Protocol,
    Record,
    Send,
    Txn,
)

ACTS: Final[dict[str, type[Act]]] = {
    "send": Send,
    "poll": Poll,
    "txn": Txn,
    "commit": Commit,
    "committed": Committed,
    "assign": Assign,
}
_NAMES: Final = {act: name for name, act in ACTS.items()}


_encode: Final = json.JSONEncoder(
    ensure_ascii=False, separators=(",", ":"), default=lambda choice: choice.value
).encode
"""Acts have choices among their fields: a name each."""


_Choice = TypeVar("_Choice", bound=Enum)
_Value = TypeVar("_Value")


class BadHistory(Exception):
    """A file that is no history; the message says which line is wrong, and how."""


def name_of(act: Act) -> str:
    return _NAMES[type(act)]


def to_line(operation: Operation) -> bytes:
    act = operation.act
    said = {
        field.name: value
        for field in fields(act)
        if (value := getattr(act, field.name)) != field.default or field.default is MISSING
    }
    line = {
        "process": operation.process,
        "protocol": operation.protocol.value,
        "outcome": operation.outcome.value,
        "invoke": operation.invoke,
        "end": operation.end,
        name_of(act): said,
    }
    return _encode(line).encode() + b"\n"


def from_line(line: bytes | str, number: int = 0) -> Operation:
    try:
        found = json.loads(line)
        if not isinstance(found, dict):
            raise BadHistory("it is not an object")
        named = [name for name in found if name in ACTS]
        if len(named) != 1:
            raise BadHistory(f"exactly one of {', '.join(ACTS)} belongs into it")
        invoke, end = _integer(_required(found, "invoke")), _integer(_required(found, "end"))
        if end < invoke:
            raise BadHistory("it ends before it begins")
        return Operation(
            process=_text(_required(found, "process")),
            protocol=_one_of(Protocol)(_required(found, "protocol")),
            outcome=_one_of(Outcome)(_required(found, "outcome")),
            invoke=invoke,
            end=end,
            act=_read_act(ACTS[named[0]], found[named[0]]),
            line=number,
        )
    except (ValueError, RecursionError) as error:
        raise BadHistory(f"line {number}: it is not JSON: {error}") from error
    except BadHistory as error:
        raise BadHistory(f"line {number}: {error}") from None


def read_history(*paths: str | PathLike[str]) -> Iterator[Operation]:
    """The operations of one file, or of several that were recorded at the same time, merged.

    Lines are numbered through in the order in which they come, so with several files a number is that of the
    merged history.
    """
    merged = heapq.merge(*map(_read_file, paths), key=lambda operation: operation.end)
    return merged if len(paths) == 1 else _numbered(merged)


def _read_file(path: str | PathLike[str]) -> Iterator[Operation]:
    with Path(path).open("rb") as file:
        for number, line in enumerate(file, 1):
            try:
                yield from_line(line, number)
            except BadHistory as error:
                raise BadHistory(f"{path}, {error}") from None


def _numbered(operations: Iterable[Operation]) -> Iterator[Operation]:
    for number, operation in enumerate(operations, 1):
        yield replace(operation, line=number)


# -- fields ----------------------------------------------------------------------------------------


def _required(found: dict[str, Any], name: str) -> Any:
    if name not in found:
        raise BadHistory(f"{name} is missing")
    return found[name]


def _read_act(kind: type[Act], found: Any) -> Act:
    if not isinstance(found, dict):
        raise BadHistory(f"{_NAMES[kind]} is not an object")
    readers = _READERS[kind]
    values: dict[str, Any] = {}
    for name, value in found.items():
        if name not in readers:
            raise BadHistory(f"{_NAMES[kind]} has no field {name}")
        try:
            values[name] = readers[name](value)
        except BadHistory as error:
            raise BadHistory(f"{name} of {_NAMES[kind]}: {error}") from None
    for field in fields(kind):
        if field.default is MISSING and field.name not in values:
            raise BadHistory(f"{field.name} of {_NAMES[kind]} is missing")
    act = kind(**values)
    if isinstance(act, Send) and act.offsets is not None and len(act.offsets) != len(act.values):
        raise BadHistory(f"send has {len(act.values)} values and {len(act.offsets)} offsets")
    return act


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise BadHistory(f"{value!r} is no text")
    return value


def _integer(value: Any) -> int:
    if type(value) is not int:
        raise BadHistory(f"{value!r} is no whole number")
    return value


def _flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise BadHistory(f"{value!r} is neither true nor false")
    return value


def _one_of(kind: type[_Choice]) -> Callable[[Any], _Choice]:
    def read(value: Any) -> _Choice:
        try:
            return kind(value)
        except ValueError:
            known = ", ".join(str(each.value) for each in kind)
            raise BadHistory(f"{value!r} is none of {known}") from None

    return read


def _maybe(read: Callable[[Any], _Value]) -> Callable[[Any], _Value | None]:
    return lambda value: None if value is None else read(value)


def _all(read: Callable[[Any], _Value]) -> Callable[[Any], tuple[_Value, ...]]:
    return lambda value: tuple(map(read, _array(value)))


def _array(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise BadHistory(f"{value!r} is no array")
    return value


def _place(value: Any) -> Place:
    if len(_array(value)) != 2:
        raise BadHistory(f"{value!r} is not a topic and a partition")
    return _text(value[0]), _integer(value[1])


def _header(value: Any) -> tuple[str, str]:
    if len(_array(value)) != 2:
        raise BadHistory(f"{value!r} is not a name and a value")
    return _text(value[0]), _text(value[1])


def _record(value: Any) -> Record:
    if not 2 <= len(_array(value)) <= 4:
        raise BadHistory(f"{value!r} is not an offset, a value, a time and headers")
    offset, text, time_ms, headers = (*value, None, None)[:4]
    return Record(
        _integer(offset),
        _text(text),
        None if time_ms is None else _integer(time_ms),
        None if headers is None else tuple(map(_header, _array(headers))),
    )


_READERS: Final[dict[type[Act], dict[str, Callable[[Any], Any]]]] = {
    Send: {
        "topic": _text,
        "partition": _integer,
        "values": _all(_text),
        "offsets": _maybe(_all(_integer)),
        "txn": _maybe(_text),
        "producer": _maybe(_text),
        "epoch": _maybe(_integer),
    },
    Poll: {
        "topic": _text,
        "partition": _integer,
        "offset": _integer,
        "next": _maybe(_integer),
        "records": _all(_record),
        "committed": _flag,
        "seeks": _flag,
        "watermark": _maybe(_integer),
        "stable": _maybe(_integer),
        "start": _maybe(_integer),
    },
    Txn: {
        "decision": _one_of(Decision),
        "txn": _maybe(_text),
        "producer": _maybe(_text),
        "epoch": _maybe(_integer),
    },
    Commit: {
        "group": _text,
        "topic": _text,
        "partition": _integer,
        "offset": _integer,
        "generation": _maybe(_integer),
    },
    Committed: {"group": _text, "topic": _text, "partition": _integer, "offset": _maybe(_integer)},
    Assign: {"group": _text, "generation": _integer, "partitions": _all(_place)},
}
