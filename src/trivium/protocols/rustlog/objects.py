"""Requests and responses as plain objects (dictionaries, lists, numbers), for the dialects that have such.

The form is that of the document: one key, the type, with the fields in an object behind it.

    {"Fetch": {"topic": "orders", "partition": 0, "offset": 1000, "max_bytes": 1048576, "group_id": null}}

Fields that nobody knows are passed over (mission 004.21). Types without fields may stand alone: ``"Ping"``.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

from trivium.protocols.rustlog import messages as m

U32_MAX: Final = (1 << 32) - 1
U64_MAX: Final = (1 << 64) - 1

_NO_BYTES: Final = "each of the records must be an array of numbers from 0 to 255"

Fields = Mapping[str, Any]
Write = Callable[[Any], dict[str, Any]]

ERRORS: Final[Mapping[m.Problem, str]] = {
    m.Problem.UNREADABLE: "failed to parse request",
    m.Problem.FRAME_TOO_LARGE: "max frame size exceeded",
    m.Problem.PARTITION_NOT_FOUND: "partition not found: topic={topic}, partition={partition}",
    m.Problem.OFFSET_OUT_OF_RANGE: "offset out of range",
    m.Problem.TOPIC_NOT_FOUND: "topic not found: topic={topic}",
    m.Problem.PARTITION_NOT_DESCRIBED: "partition not found: topic={topic}, partition={partition}",
    m.Problem.TOPIC_EXISTS: "topic already exists: topic={topic}",
    m.Problem.INVALID_PARTITION_COUNT: "invalid partition count: {partition}",
    m.Problem.OTHER: "{detail}",
}
"""The first four are the document's, word for word (mission 004.17). What else there is to say is ``detail``,
an optional field beside the message."""


# -- reading -------------------------------------------------------------------------------------


def request_of(thing: Any) -> m.Request:
    """``Unreadable`` for what is no request."""
    if isinstance(thing, str):
        thing = {thing: None}
    if not isinstance(thing, dict) or len(thing) != 1:
        raise m.Unreadable('a request is an object with one key, its type, such as {"Fetch": {...}}')
    ((kind, fields),) = thing.items()
    read = _READERS.get(kind) if isinstance(kind, str) else None
    if read is None:
        raise m.Unreadable(f"{_told(kind)} is no request type; there are {', '.join(_READERS)}")
    if fields is None:
        fields = {}
    if not isinstance(fields, dict):
        raise m.Unreadable(f"what follows {kind} is no object")
    return read(fields)


def _produce(fields: Fields) -> m.Request:
    return m.ProduceRequest(_text(fields, "topic"), _number(fields, "partition", U32_MAX), _records(fields))


def _fetch(fields: Fields) -> m.Request:
    return m.FetchRequest(
        _text(fields, "topic"),
        _number(fields, "partition", U32_MAX),
        _number(fields, "offset", U64_MAX),
        _number(fields, "max_bytes", U64_MAX),
        None if fields.get("group_id") is None else _text(fields, "group_id"),
    )


def _offset_commit(fields: Fields) -> m.Request:
    return m.OffsetCommitRequest(
        _text(fields, "topic"),
        _number(fields, "partition", U32_MAX),
        _text(fields, "group_id"),
        _number(fields, "offset", U64_MAX),
    )


def _offset_fetch(fields: Fields) -> m.Request:
    return m.OffsetFetchRequest(
        _text(fields, "topic"), _number(fields, "partition", U32_MAX), _text(fields, "group_id")
    )


def _login(fields: Fields) -> m.Request:
    password = fields.get("password")
    if not isinstance(password, str):
        # What it is instead may be the password in another spelling: not to be repeated.
        raise m.Unreadable("password must be a string")
    return m.LoginRequest(_text(fields, "username"), password)


_READERS: Final[Mapping[str, Callable[[Fields], m.Request]]] = {
    "Produce": _produce,
    "Fetch": _fetch,
    "OffsetCommit": _offset_commit,
    "OffsetFetch": _offset_fetch,
    "CreateTopic": lambda fields: m.CreateTopicRequest(
        _text(fields, "topic"), _number(fields, "partitions", U32_MAX)
    ),
    "ListTopics": lambda fields: m.ListTopicsRequest(),
    "DescribeTopic": lambda fields: m.DescribeTopicRequest(_text(fields, "topic")),
    "DescribePartition": lambda fields: m.DescribePartitionRequest(
        _text(fields, "topic"), _number(fields, "partition", U32_MAX)
    ),
    "Metrics": lambda fields: m.MetricsRequest(),
    "Ping": lambda fields: m.PingRequest(),
    "Login": _login,
}


def _text(fields: Fields, name: str) -> str:
    value = fields.get(name)
    if not isinstance(value, str):
        raise m.Unreadable(f"{name} must be a string, not {_told(value)}")
    return value


def _number(fields: Fields, name: str, highest: int) -> int:
    value = fields.get(name)
    if type(value) is not int or not 0 <= value <= highest:
        raise m.Unreadable(f"{name} must be a whole number from 0 to {highest}, not {_told(value)}")
    return value


def _records(fields: Fields) -> list[bytes]:
    value = fields.get("records")
    if not isinstance(value, list):
        raise m.Unreadable(f"records must be an array of byte arrays, not {_told(value)}")
    if set(map(type, value)) <= {bytes}:
        return value  # as a kernel has read it
    try:
        return [record if type(record) is bytes else _payload(record) for record in value]
    except (TypeError, ValueError):
        raise m.Unreadable(_NO_BYTES) from None


def _payload(record: Any) -> bytes:
    if not isinstance(record, list):
        raise TypeError
    return bytes(record)


def refuse_booleans(produce: dict[str, Any]) -> None:
    """To Python ``true`` is a number, and in a request it is not. Asked for only where there may be one: it
    takes as long as everything else.
    """
    for record in produce["Produce"]["records"]:
        if isinstance(record, list) and any(isinstance(byte, bool) for byte in record):
            raise m.Unreadable(_NO_BYTES)


def _told(value: Any) -> str:
    """A value as an error shows it: no more of it than helps."""
    if value is None:
        return "nothing"
    if isinstance(value, str):
        return repr(m.shown(value))
    if isinstance(value, bool | int | float):
        return m.shown(str(value))
    return "an array" if isinstance(value, list) else "an object"


# -- writing -------------------------------------------------------------------------------------


def object_of(response: m.Response) -> dict[str, Any]:
    """Everything but the records of a fetch, whose bytes each dialect spells in its own way."""
    kind, write = _WRITERS[type(response)]
    return {kind: write(response)}


def _committed(response: m.OffsetCommitResponse) -> dict[str, Any]:
    if response.message is None:
        return {"success": response.success}
    return {"success": response.success, "message": response.message}


def _error(response: m.ErrorResponse) -> dict[str, Any]:
    message = response.words(ERRORS[response.problem])
    if response.detail is None or response.problem is m.Problem.OTHER:
        return {"message": message}
    return {"message": message, "detail": response.detail}


_WRITERS: Final[Mapping[type, tuple[str, Write]]] = {
    m.ProduceResponse: (
        "Produce",
        lambda it: {"offsets": list(range(it.base_offset, it.base_offset + it.records_count))},
    ),
    m.OffsetCommitResponse: ("OffsetCommit", _committed),
    m.OffsetFetchResponse: ("OffsetFetch", lambda it: {"offset": it.offset}),
    m.CreateTopicResponse: ("CreateTopic", lambda it: {"success": True}),
    m.ListTopicsResponse: ("ListTopics", lambda it: {"topics": [each._asdict() for each in it.topics]}),
    m.DescribeTopicResponse: (
        "DescribeTopic",
        lambda it: {"topic": it.topic, "partitions": [each._asdict() for each in it.partitions]},
    ),
    m.DescribePartitionResponse: (
        "DescribePartition",
        lambda it: {"topic": it.topic, **it.range._asdict()},
    ),
    m.MetricsResponse: ("Metrics", lambda it: {"text": it.text}),
    m.PingResponse: ("Ping", lambda it: {}),
    m.LoginResponse: ("Login", lambda it: {"success": True}),
    m.ErrorResponse: ("Error", _error),
}
