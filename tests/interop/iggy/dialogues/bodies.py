"""Writes the body of a step for one of the two servers, each with its own numbers.

The writer is given by that side what only it knows (``Known``). Numbers of topics and groups belong to what
they are in, so a body's places are written first, whatever their order on the wire.
"""

import struct
from typing import Any, Protocol

from tests.interop.iggy.dialogues.commands import Command
from tests.interop.iggy.dialogues.values import (
    Batch,
    ByNumber,
    ClientAt,
    Identifier,
    Message,
    Moment,
    Reader,
    Rights,
    TokenOf,
)
from tests.protocols.iggy.raw_client import long_text, text
from tests.protocols.iggy.raw_client import name as identifier

_PLACES = ("stream", "topic", "group", "user")


class Known(Protocol):
    def number(self, kind: str, name: str, place: bytes) -> int: ...
    def moment(self, moment: Moment) -> int: ...
    def token(self, name: str) -> str: ...
    def client(self, peer: int) -> int: ...


class Writer:
    def __init__(self, known: Known) -> None:
        self._known = known
        self._place = b""
        """The identifiers before, of what a number belongs to."""

    def body(self, command: Command, values: Any) -> bytes:
        written = {}
        for name, kind in sorted(command.fields.items(), key=lambda each: each[0] not in _PLACES):
            written[name] = getattr(self, kind)(values[name])
            if name in _PLACES:
                self._place += written[name]
        if "batch" not in written:
            return b"".join(written[name] for name in command.fields)
        return self._sent(written, values["batch"])

    def _sent(self, written: dict[str, bytes], batch: Batch) -> bytes:
        count = len(batch.messages) if batch.count is None else batch.count
        metadata = written["stream"] + written["topic"] + written["partitioning"] + struct.pack("<I", count)
        return struct.pack("<I", len(metadata) + batch.metadata_more) + metadata + written["batch"]

    # -- plain fields ------------------------------------------------------------------------------

    def u8(self, value: int) -> bytes:
        return struct.pack("<B", value)

    def u32(self, value: int) -> bytes:
        return struct.pack("<I", value)

    def u64(self, value: int) -> bytes:
        return struct.pack("<Q", value)

    def text(self, value: str | bytes) -> bytes:
        return text(value)

    def long_text(self, value: str) -> bytes:
        return long_text(value)

    def optional_u8(self, value: int | None) -> bytes:
        return b"\0" if value is None else struct.pack("<BB", 1, value)

    def optional_u32(self, value: int | None) -> bytes:
        return struct.pack("<BI", value is not None, value or 0)

    def optional_text(self, value: str | None) -> bytes:
        return b"\0" if value is None else b"\1" + text(value)

    # -- names -------------------------------------------------------------------------------------

    def stream(self, value: Identifier) -> bytes:
        return self._identifier("stream", value, b"")

    def topic(self, value: Identifier) -> bytes:
        return self._identifier("topic", value, self._place)

    def group(self, value: Identifier) -> bytes:
        return self._identifier("group", value, self._place)

    def user(self, value: Identifier) -> bytes:
        return self._identifier("user", value, b"")

    def _identifier(self, kind: str, value: Identifier, place: bytes) -> bytes:
        if isinstance(value, ByNumber):
            return identifier(self._known.number(kind, value.name, place))
        return identifier(value)

    def client(self, value: int | ClientAt) -> bytes:
        return self.u32(self._known.client(value.peer) if isinstance(value, ClientAt) else value)

    def token(self, value: str | TokenOf) -> bytes:
        return text(self._known.token(value.name) if isinstance(value, TokenOf) else value)

    # -- messages ----------------------------------------------------------------------------------

    def consumer(self, value: Reader) -> bytes:
        kind = value.kind if value.kind is not None else 1 + value.is_group
        return self.u8(kind) + self._identifier("group", value.identifier, self._place)

    def strategy(self, value: tuple[int, int | Moment]) -> bytes:
        kind, at = value
        return struct.pack("<BQ", kind, self._known.moment(at) if isinstance(at, Moment) else at)

    def partitioning(self, value: tuple[int, int | bytes | None]) -> bytes:
        kind, to = value
        data = b"" if to is None else self.u32(to) if isinstance(to, int) else to
        return self.u8(kind) + text(data)

    def batch(self, value: Batch) -> bytes:
        index, blob = b"", b""
        for each in value.messages:
            blob += _message(each)
            end = max(0, len(blob) + value.shift)
            index += struct.pack("<IIQ", value.index_offset, end, value.index_timestamp)
        return index + blob

    # -- rights ------------------------------------------------------------------------------------

    def permissions(self, value: Rights | None) -> bytes:
        if value is None:
            return b"\0"
        tree = _flags(value.everywhere)
        for stream, rights, topics in value.streams:
            place = self.stream(stream)
            tree += b"\1" + self.u32(self._number("stream", stream, b"")) + _flags(rights)
            for topic, topic_rights in topics:
                tree += b"\1" + self.u32(self._number("topic", topic, place)) + _flags(topic_rights)
            tree += b"\0"
        tree += b"\0"
        return b"\1" + self.u32(len(tree)) + tree

    def _number(self, kind: str, value: Identifier, place: bytes) -> int:
        return value if isinstance(value, int) else self._known.number(kind, str(_name(value)), place)


def _name(value: str | ByNumber) -> str:
    return value.name if isinstance(value, ByNumber) else value


def _flags(rights: str) -> bytes:
    return bytes(int(each) for each in rights)


def _message(message: Message) -> bytes:
    headers = message.broken_headers or b"".join(
        struct.pack("<BI", key_kind, len(key)) + key + struct.pack("<BI", kind, len(value)) + value
        for key_kind, key, kind, value in message.headers
    )
    head = bytes(8) + message.number.to_bytes(16, "little") + bytes(16)
    head += struct.pack("<QII", 1_700_000_000_000_001, len(headers), len(message.payload))
    return head + bytes(message.header_bytes - len(head)) + message.payload + headers
