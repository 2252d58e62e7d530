"""Lines of input as records to send: plain text, key and value with a separator, or JSON objects.

A line is everything up to a newline, as bytes. Reading says when nothing more is there at the moment, so that
what a slow writer has sent so far need not wait for a full batch.
"""

import base64
import binascii
import json
import os
import select
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from io import UnsupportedOperation
from typing import Any, BinaryIO, Final

from trivium.client.producer import RECORD_BYTES_MAX
from trivium.records.record import Header

READ_BYTES: Final = 1 << 16
TIMESTAMP_MS_MAX: Final = (1 << 63) - 1

_PASSED_OVER: Final = frozenset({"topic", "offset", "timestamp_type"})
"""What ``trivium consume --json`` prints and a producer has no use for."""


class BadLine(ValueError):
    """A line that is no record; the message says why."""


@dataclass(frozen=True, slots=True)
class NewRecord:
    value: bytes | None
    key: bytes | None = None
    headers: Sequence[Header] = field(default=())
    timestamp_ms: int | None = None
    partition: int | None = None


def read_lines(
    stream: BinaryIO, on_idle: Callable[[], None], on_read: Callable[[int], None]
) -> Iterator[bytes]:
    """The lines of a stream without their newlines; the last one may lack it.

    ``on_idle`` is called before waiting for more, ``on_read`` with the size of what was read.
    """
    begun: list[bytes] = []
    """The pieces of a line whose end is still to come: joined once, however long it is."""
    begun_bytes = 0
    while True:
        if not _has_more(stream):
            on_idle()
        data = _read(stream)
        if not data:
            break
        on_read(len(data))
        first, *others = data.split(b"\n")
        begun.append(first)
        begun_bytes += len(first)
        if others:
            yield b"".join(begun)
            *lines, rest = others
            yield from lines
            begun, begun_bytes = [rest], len(rest)
        if begun_bytes > RECORD_BYTES_MAX:
            raise BadLine(f"A line is longer than a record may be ({RECORD_BYTES_MAX:,} bytes)")
    if begun_bytes:
        yield b"".join(begun)


def parse_lines(lines: Iterable[bytes], parse: Callable[[bytes], NewRecord]) -> Iterator[NewRecord]:
    """Each line by ``parse``; what is wrong with one is told with its number."""
    for number, line in enumerate(lines, 1):
        if not line and parse is parse_json:
            continue  # Files of JSON often end in an empty line.
        try:
            yield parse(line)
        except BadLine as error:
            raise BadLine(f"Line {number} {error}") from error


def parse_text(line: bytes, separator: bytes | None, *, empty_is_null: bool) -> NewRecord:
    """A line as a value, or as key and value with the first separator between."""
    key = None
    value: bytes | None = line
    if separator is not None:
        key, found, value = line.partition(separator)
        if not found:
            raise BadLine(f"has no {separator.decode(errors='replace')!r} between key and value")
    return NewRecord(None if empty_is_null and not value else value, key)


def parse_json(line: bytes) -> NewRecord:
    """A JSON object with some of: value, key, headers, timestamp_ms, partition; bytes as ``value_base64``."""
    try:
        facts = json.loads(line)
    except ValueError as error:
        raise BadLine(f"is no JSON: {error}") from error
    if not isinstance(facts, dict):
        raise BadLine('is no JSON object; write {"key": "a", "value": "b"}')
    key, value = _take_bytes(facts, "key"), _take_bytes(facts, "value")
    headers = _take_headers(facts)
    timestamp_ms = _take_number(facts, "timestamp_ms", TIMESTAMP_MS_MAX)
    partition = _take_number(facts, "partition", (1 << 31) - 1)
    unknown = set(facts) - _PASSED_OVER
    if unknown:
        raise BadLine(f"has the field {min(unknown)!r}, which means nothing here")
    return NewRecord(value, key, headers, timestamp_ms, partition)


def _take_bytes(facts: dict[str, Any], name: str) -> bytes | None:
    text, encoded = facts.pop(name, None), facts.pop(f"{name}_base64", None)
    if text is not None and encoded is not None:
        raise BadLine(f"has both {name} and {name}_base64")
    if encoded is not None:
        try:
            return base64.b64decode(encoded, validate=True)
        except (binascii.Error, TypeError, ValueError) as error:
            raise BadLine(f"has a {name}_base64 that is not base64") from error
    if text is None:
        return None
    if not isinstance(text, str):
        # A value that is JSON itself, rather than text with JSON in it: what people write by hand.
        text = json.dumps(text, separators=(",", ":"), ensure_ascii=False)
    return _utf8(text, name)


def _take_headers(facts: dict[str, Any]) -> tuple[Header, ...]:
    given = facts.pop("headers", None) or []
    if isinstance(given, dict):
        given = [{"name": name, "value": value} for name, value in given.items()]
    if not isinstance(given, list) or not all(isinstance(each, dict) for each in given):
        raise BadLine('has headers that are neither {"name": "value"} nor [{"name": …, "value": …}]')
    headers = []
    for each in given:
        name, value = _take_bytes(each, "name"), _take_bytes(each, "value")
        if name is None or each:
            raise BadLine("has a header that is not made of name and value")
        headers.append((name.decode("utf-8", "surrogateescape"), value))
    return tuple(headers)


def _take_number(facts: dict[str, Any], name: str, most: int) -> int | None:
    number = facts.pop(name, None)
    if number is None or (name == "timestamp_ms" and number == -1):
        return None
    if not isinstance(number, int) or isinstance(number, bool) or not 0 <= number <= most:
        raise BadLine(f"has a {name} that is no whole number from 0 on")
    return number


def _utf8(text: str, name: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise BadLine(f"has a {name} with half a character ({error.reason})") from error


def _has_more(stream: BinaryIO) -> bool:
    try:
        return bool(select.select([stream.fileno()], [], [], 0)[0])
    except (UnsupportedOperation, ValueError, OSError):
        return True  # Not a file of the operating system: whatever it has is there.


def _read(stream: BinaryIO) -> bytes:
    try:
        return os.read(stream.fileno(), READ_BYTES)
    except UnsupportedOperation:
        return stream.read(READ_BYTES)
