"""Iggy's messages as a client sees them, written and read without the kernel; and strategies for any."""

import struct
from collections.abc import Sequence
from typing import NamedTuple

from hypothesis import strategies as st

from trivium.records.message import KIND_BYTES, LONG_HEADER_BYTES, Kind

HEAD = struct.Struct("<Q16sQQQII")
ENTRY = struct.Struct("<IIQ")


class UserHeader(NamedTuple):
    key: bytes
    value: bytes
    kind: int = Kind.RAW
    key_kind: int = Kind.STRING


class Message(NamedTuple):
    payload: bytes = b"payload"
    headers: tuple[UserHeader, ...] = ()
    id: bytes = bytes(16)
    origin_us: int = 1_700_000_000_000_000
    offset: int = 0
    timestamp_us: int = 0
    checksum: int = 0


def user_headers_block(headers: Sequence[UserHeader], header_bytes: int) -> bytes:
    block = b""
    for header in headers:
        if header_bytes == LONG_HEADER_BYTES:
            block += bytes([header.key_kind])
        block += struct.pack("<I", len(header.key)) + header.key
        block += struct.pack("<BI", header.kind, len(header.value)) + header.value
    return block


def spelled(message: Message, header_bytes: int = LONG_HEADER_BYTES) -> bytes:
    block = user_headers_block(message.headers, header_bytes)
    head = HEAD.pack(0, message.id, 0, 0, message.origin_us, len(block), len(message.payload))
    return head.ljust(header_bytes, b"\0") + message.payload + block


def sent(messages: Sequence[Message], header_bytes: int = LONG_HEADER_BYTES) -> bytes:
    """What follows the count in a ``SEND_MESSAGES``."""
    return indexed([spelled(message, header_bytes) for message in messages])


def indexed(messages: Sequence[bytes]) -> bytes:
    index, end = b"", 0
    for message in messages:
        end += len(message)
        index += ENTRY.pack(0, end, 0)
    return index + b"".join(messages)


def polled(data: bytes | bytearray, header_bytes: int = LONG_HEADER_BYTES) -> list[Message]:
    messages, at, data = [], 0, bytes(data)
    while at < len(data):
        checksum, identity, offset, timestamp, origin, block_bytes, payload_bytes = HEAD.unpack_from(data, at)
        assert data[at + HEAD.size : at + header_bytes].strip(b"\0") == b""
        payload_at = at + header_bytes
        block_at = payload_at + payload_bytes
        at = block_at + block_bytes
        messages.append(
            Message(
                data[payload_at:block_at],
                tuple(_user_headers(data[block_at:at], header_bytes)),
                identity,
                origin,
                offset,
                timestamp,
                checksum,
            )
        )
    assert at == len(data)
    return messages


def _user_headers(block: bytes, header_bytes: int) -> list[UserHeader]:
    """As strict as the clients: a block with one odd header has none that they would show."""
    headers, at = [], 0
    while at < len(block):
        key_kind: int = Kind.STRING
        if header_bytes == LONG_HEADER_BYTES:
            key_kind, at = block[at], at + 1
        key, at = _part(block, at, key_kind)
        kind, at = block[at], at + 1
        value, at = _part(block, at, kind)
        if key_kind == Kind.STRING:
            key.decode()
        headers.append(UserHeader(key, value, Kind(kind), Kind(key_kind)))
    return headers


def _part(block: bytes, at: int, kind: int) -> tuple[bytes, int]:
    (length,) = struct.unpack_from("<I", block, at)
    assert 1 <= length <= 255
    assert KIND_BYTES[kind] in (0, length)
    part = block[at + 4 : at + 4 + length]
    assert len(part) == length
    return part, at + 4 + length


TRICKY_NAMES = [
    b"kafka.key",
    b"kafka.key.1",
    b"kafka.key.01",
    b"kafka.key.2",
    b"kafka.key.empty",
    b"kafka.keys",
    b"kafka.headers",
    b"kafka.headers.1",
    b"kafka.tombstone",
    b"kafka.offset",
    b"iggy.id",
    b"iggy.origin",
    b"iggy.us",
    b"iggy.types",
    b"iggy.key.",
    b"iggy.key.6b",
    b"iggy.key.iggy.id",
    b"iggy.key.kafka.key",
    b"iggy.other",
]
"""Names that the mapping itself uses, or nearly."""

TEXTS = st.sampled_from(TRICKY_NAMES) | st.text(st.characters(codec="utf-8"), min_size=1, max_size=9).map(
    str.encode
)


def _of_kind(kind: int) -> st.SearchStrategy[bytes]:
    size_bytes = KIND_BYTES[kind]
    if size_bytes:
        return st.binary(min_size=size_bytes, max_size=size_bytes)
    return st.binary(min_size=1, max_size=12) | st.sampled_from([b"\x01", b"v" * 255])


KINDS = st.sampled_from(list(Kind))
TYPED_VALUES = KINDS.flatmap(lambda kind: st.tuples(_of_kind(kind), st.just(kind)))
TYPED_KEYS = st.one_of(
    st.tuples(TEXTS, st.just(Kind.STRING)),
    st.tuples(TEXTS, st.just(Kind.STRING)),
    KINDS.filter(lambda kind: kind is not Kind.STRING).flatmap(
        lambda kind: st.tuples(_of_kind(kind), st.just(kind))
    ),
)


def _user_header(key: tuple[bytes, Kind], value: tuple[bytes, Kind]) -> UserHeader:
    return UserHeader(key[0], value[0], value[1], key[1])


TEXT_KEYS = st.tuples(TEXTS, st.just(Kind.STRING))
YES = st.tuples(st.just(b"\x01"), st.just(Kind.BOOL))


def messages(header_bytes: int) -> st.SearchStrategy[list[Message]]:
    """Any messages that a client of this generation could send."""
    keys = TYPED_KEYS if header_bytes == LONG_HEADER_BYTES else TEXT_KEYS
    return st.lists(
        st.builds(
            Message,
            st.binary(max_size=40) | st.just(b""),
            st.lists(st.builds(_user_header, keys, TYPED_VALUES | YES), max_size=6).map(tuple),
            st.just(bytes(16)) | st.binary(min_size=16, max_size=16),
            st.integers(0, 2**64 - 1),
        ),
        min_size=1,
        max_size=6,
    )
