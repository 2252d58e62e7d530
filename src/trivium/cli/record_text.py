"""Records as lines of text: by a template for people, or as JSON for scripts.

A template is text with fields in braces, such as ``{partition}:{offset} {key}={value}``. On a terminal every
field is made printable (S14); into a file or a pipe keys and values go byte for byte.

In JSON, bytes that are not UTF-8 stand in base64 under a name that says so, such as ``value_base64``. What
``trivium consume --json`` prints, ``trivium produce --json`` takes.
"""

import base64
import json
from collections.abc import Callable
from datetime import UTC, datetime
from string import Formatter
from typing import Any, Final, TypeAlias

from trivium.cli.output import printable
from trivium.client.reader import Chunk
from trivium.records.batch import TimestampType
from trivium.records.record import Header, Record

Render: TypeAlias = Callable[[Chunk, Record], bytes]
"""A record as a line, its end included."""

TIMESTAMP_TYPES: Final = {
    TimestampType.CREATE_TIME: "create_time",
    TimestampType.LOG_APPEND_TIME: "log_append_time",
}

_FIELDS: Final[dict[str, Callable[[Chunk, Record], bytes | None]]] = {
    "topic": lambda chunk, record: chunk.key.topic.encode(),
    "partition": lambda chunk, record: b"%d" % chunk.key.partition,
    "offset": lambda chunk, record: b"%d" % record.offset,
    "timestamp": lambda chunk, record: moment(record.timestamp).encode(),
    "timestamp_ms": lambda chunk, record: b"%d" % record.timestamp,
    "key": lambda chunk, record: record.key,
    "value": lambda chunk, record: record.value,
    "headers": lambda chunk, record: b", ".join(map(_header, record.headers)),
}

_ESCAPES: Final = {r"\t": "\t", r"\n": "\n", r"\\": "\\"}


class BadTemplate(ValueError):
    """A template with a mistake in it; the message says which."""


def by_template(template: str, *, is_terminal: bool) -> Render:
    """How a template writes records."""
    parts = [_part(literal, name, is_terminal) for literal, name in _parse(template)]

    def render(chunk: Chunk, record: Record) -> bytes:
        return b"".join([part(chunk, record) for part in parts]) + b"\n"

    return render


def as_json(chunk: Chunk, record: Record) -> bytes:
    """One JSON object on a line."""
    facts: dict[str, Any] = {
        "topic": chunk.key.topic,
        "partition": chunk.key.partition,
        "offset": record.offset,
        "timestamp_ms": record.timestamp,
        "timestamp_type": TIMESTAMP_TYPES[chunk.timestamp_type],
    }
    put_bytes(facts, "key", record.key)
    put_bytes(facts, "value", record.value)
    facts["headers"] = [_header_facts(name, value) for name, value in record.headers]
    return json.dumps(facts, separators=(",", ":")).encode() + b"\n"


def put_bytes(facts: dict[str, Any], name: str, data: bytes | None) -> None:
    """Text where it is text, else base64 under a name that says so."""
    try:
        facts[name] = None if data is None else data.decode()
    except UnicodeDecodeError:
        facts[f"{name}_base64"] = base64.b64encode(data or b"").decode()


def moment(timestamp_ms: int) -> str:
    """A time as ISO 8601 writes it, in UTC."""
    if timestamp_ms < 0:
        return "none"
    try:
        at = datetime.fromtimestamp(timestamp_ms / 1000, UTC)
    except (ValueError, OverflowError, OSError):
        return f"{timestamp_ms} ms"  # A producer may stamp years that no calendar here has.
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _parse(template: str) -> list[tuple[str, str | None]]:
    for spelled, meant in _ESCAPES.items():
        template = template.replace(spelled, meant)
    try:
        parsed = list(Formatter().parse(template))
    except ValueError as error:
        raise BadTemplate(f"{error}; write {{{{ and }}}} for braces themselves") from error
    parts = []
    for literal, name, layout, conversion in parsed:
        if name is not None and (name not in _FIELDS or layout or conversion):
            raise BadTemplate(f"there is no field {{{name}}}; there are {', '.join(_FIELDS)}")
        parts.append((literal, name))
    return parts


def _part(literal: str, name: str | None, is_terminal: bool) -> Render:
    prefix = literal.encode()
    if name is None:
        return lambda chunk, record: prefix
    field = _FIELDS[name]

    def raw(chunk: Chunk, record: Record) -> bytes:
        data = field(chunk, record)
        return prefix + (b"null" if data is None else data)

    def harmless(chunk: Chunk, record: Record) -> bytes:
        data = field(chunk, record)
        text = "null" if data is None else printable(data.decode("utf-8", "backslashreplace"))
        return prefix + text.encode()

    return harmless if is_terminal else raw


def _header(header: Header) -> bytes:
    name, value = header
    return name.encode("utf-8", "surrogateescape") + b"=" + (b"null" if value is None else value)


def _header_facts(name: str, value: bytes | None) -> dict[str, Any]:
    facts: dict[str, Any] = {}
    put_bytes(facts, "name", name.encode("utf-8", "surrogateescape"))
    put_bytes(facts, "value", value)
    return facts
