"""Messages as Kafka's own Java classes write them, where kio has nothing to say.

``java.jsonl`` was made with the classes of Kafka 4.3.1, and of 3.9.1 for what 4.0 removed: versions before
4.0, API keys 4 to 7, and the records of the internal logs. Each line is a message of arbitrary values, its
bytes, and its fields as Kafka's JSON converter names and prints them.
"""

import base64
from typing import Any

import pytest

from tests.messages.catalogue import all_versions, message_named
from tests.messages.recordings import read_recording
from tests.messages.test_kio import kio_entities
from trivium.messages import decode, encode
from trivium.messages.schema import ListOf, Struct, StructType
from trivium.messages.types import Blob
from trivium.wire.uuid_text import uuid_to_text

LINES = read_recording("java.jsonl")


@pytest.mark.parametrize("line", LINES, ids=[f"{line['message']}-v{line['version']}" for line in LINES])
def test_message_written_by_java_is_read_and_written_alike(line: dict[str, Any]) -> None:
    cls, version, data = message_named(line["message"]), line["version"], bytes.fromhex(line["hex"])
    message, end = decode(cls, version, data)
    assert end == len(data)
    _assert_same(message, line["json"], version)
    assert encode(message, version) == data


def test_every_version_has_a_foreign_witness() -> None:
    """No message and version rests on our own word alone."""
    ours = {(message.__name__.lower(), version) for message, version in all_versions()}
    java = {(line["message"].lower(), line["version"]) for line in LINES}
    kio = {(name.replace("_", "").lower(), version) for name, version, _ in kio_entities()}
    assert ours - java - kio == set()


def _assert_same(struct: Struct, printed: dict[str, Any], version: int) -> None:
    """The same fields under the same names, in any order; the defaults of tagged fields are not printed."""
    printed = {name.lower(): value for name, value in printed.items()}
    for each in type(struct).fields:
        name = each.name.replace("_", "")
        value = getattr(struct, each.name)
        if version not in each.versions or (each.tag is not None and value == each.rules.default_value()):
            assert name not in printed
        else:
            _assert_same_value(value, each.type, printed.pop(name), version)
    assert not printed


def _assert_same_value(value: Any, kind: object, printed: Any, version: int) -> None:
    if value is None:
        assert printed is None
    elif isinstance(kind, StructType):
        _assert_same(value, printed, version)
    elif isinstance(kind, ListOf):
        for each, its in zip(value, printed, strict=True):
            _assert_same_value(each, kind.element, its, version)
    elif isinstance(kind, Blob):
        # Of records the converter prints that they are there, not what they are.
        assert printed == ("" if kind.is_view else base64.b64encode(value).decode())
    elif isinstance(value, bytes):
        assert printed == uuid_to_text(value)
    else:
        assert printed == value
