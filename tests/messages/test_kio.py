"""Every message and version that kio has, byte for byte, in both directions (mission 003.5-003.11).

kio is generated from Kafka's own definitions and shares no code with us. A message of arbitrary values is
encoded here, read and written by kio, and decoded here again: the bytes stay the same, kio consumes all
of them, and every field that kio saw has the name and the value that it has here.
"""

import dataclasses
import datetime
import io
import uuid
from collections.abc import Iterator
from importlib import import_module
from typing import Any, get_args

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from kio.schema.errors import ErrorCode as KioErrorCode
from kio.schema.index import schema_name_map
from kio.serial import entity_reader, entity_writer
from kio.static.constants import EntityType

from tests.messages.arbitrary import structs
from tests.messages.catalogue import EXAMPLES, message_named
from trivium.messages import decode, encode
from trivium.messages.schema import Field, ListOf, Message, Struct, StructType
from trivium.wire.uuid_text import ZERO_UUID

NOT_OURS = {
    "control_record_type_schema": "four bytes, read in stored/control_records.py",
    "default_principal_data": "only brokers send it to controllers, inside Envelope",
}
"""What kio has and we do not, and why."""

_KINDS = {EntityType.request: "request", EntityType.response: "response"}
_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
_MILLISECOND = datetime.timedelta(milliseconds=1)

# Values that kio holds as richer types, and so cannot hold in full.
_RICHER = {
    "error_code": st.sampled_from([int(code) for code in KioErrorCode]),
    "datetime_i64": st.integers(0, 10**13),
    "timedelta_i64": st.integers(-(10**13), 10**13),
}


def kio_entities() -> Iterator[tuple[str, int, str]]:
    """Name, version and place of everything that kio has and we have too."""
    for name, versions in schema_name_map.items():
        for version, paths in versions.items():
            for kind, path in paths.items():
                if name not in NOT_OURS:
                    yield f"{name}_{_KINDS[kind]}" if kind in _KINDS else name, version, path


@pytest.mark.parametrize(
    ("name", "version", "path"), [pytest.param(*each, id=f"{each[0]}-v{each[1]}") for each in kio_entities()]
)
def test_message_of_arbitrary_values_has_the_bytes_that_kio_writes(
    name: str, version: int, path: str
) -> None:
    cls = message_named(name)
    module_name, _, class_name = path.partition(":")
    kio_class = getattr(import_module(module_name), class_name)
    narrowing: dict[tuple[StructType, str], st.SearchStrategy[Any]] = {}
    _pair(cls, kio_class, version, narrowing)
    read, write = entity_reader(kio_class), entity_writer(kio_class)

    @settings(max_examples=EXAMPLES, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(structs(cls, version, narrowing))
    def check(message: Message) -> None:
        ours = encode(message, version)
        theirs, size = read(ours, 0)
        assert size == len(ours)
        _assert_same(message, theirs, version)
        written = io.BytesIO()
        write(written, theirs)
        assert written.getvalue() == ours
        back, end = decode(cls, version, written.getvalue())
        assert end == len(ours)
        assert back == message

    check()


def _fields(cls: StructType, version: int) -> list[Field]:
    return [each for each in cls.fields if version in each.versions]


def _pair(
    cls: StructType,
    kio_class: type[Any],
    version: int,
    narrowing: dict[tuple[StructType, str], st.SearchStrategy[Any]],
) -> None:
    """Both must list the same fields under the same tags; note which values kio can hold."""
    ours, theirs = _fields(cls, version), dataclasses.fields(kio_class)
    assert [_plain(each.name) for each in ours] == [_plain(each.name) for each in theirs]
    for mine, other in zip(ours, theirs, strict=True):
        assert mine.tag == other.metadata.get("tag")
        richer = _RICHER.get(other.metadata.get("kafka_type", ""))
        if richer is not None:
            is_list = isinstance(mine.type, ListOf)
            narrowing[cls, mine.name] = st.lists(richer, max_size=2) if is_list else richer
        inner = mine.type.element if isinstance(mine.type, ListOf) else mine.type
        if isinstance(inner, StructType):
            _pair(inner, _dataclass_in(other.type), version, narrowing)


def _plain(name: str) -> str:
    """kio drops the unit of a duration, and keeps a tail on words that Python has taken."""
    return name.replace("_", "").removesuffix("ms")


def _dataclass_in(annotation: Any) -> Any:
    """The entity inside ``X | None`` and ``tuple[X, ...]``."""
    if dataclasses.is_dataclass(annotation):
        return annotation
    return next(found for each in get_args(annotation) if (found := _dataclass_in(each)) is not None)


def _assert_same(message: Struct, entity: Any, version: int) -> None:
    for mine, other in zip(_fields(type(message), version), dataclasses.fields(entity), strict=True):
        _assert_same_value(getattr(message, mine.name), getattr(entity, other.name), version)


def _assert_same_value(mine: Any, other: Any, version: int) -> None:
    if isinstance(mine, list):
        for each, its in zip(mine, other, strict=True):
            _assert_same_value(each, its, version)
    elif dataclasses.is_dataclass(other):
        _assert_same(mine, other, version)
    else:
        assert mine == _on_the_wire(other, mine)


def _on_the_wire(value: Any, mine: Any) -> Any:
    if isinstance(value, datetime.datetime):
        return (value - _EPOCH) // _MILLISECOND
    if isinstance(value, datetime.timedelta):
        return value // _MILLISECOND
    if isinstance(value, uuid.UUID):
        return value.bytes
    return ZERO_UUID if value is None and mine is not None else value
