"""Logs in which the key of a record names its type: ``__consumer_offsets`` and its like.

key     int16 type, then the key of that type
value   int16 version, then the value in that version; no value at all is a tombstone
"""

import struct
from typing import Final

from trivium.messages.codec import decode, encode
from trivium.messages.schema import Message
from trivium.wire.buffer import Buffer
from trivium.wire.errors import DecodeError

_PREFIX: Final = struct.Struct(">h")
_KEY_VERSION: Final = 0
"""Keys never get a second version: compaction compares them byte by byte."""


class KeyedLog:
    """The record types of one log: pairs of a key class and a value class."""

    def __init__(self, *pairs: tuple[type[Message], type[Message]]) -> None:
        self.key_types: Final = {key.API_KEY: key for key, _ in pairs}
        self.value_types: Final = dict(pairs)

    def decode_key(self, data: Buffer) -> Message:
        """The key. Its class says what kind of record this is."""
        kind = _read_prefix(data, "key")
        if kind not in self.key_types:
            raise DecodeError(f"a record key of type {kind} is unknown here")
        key, _ = decode(self.key_types[kind], _KEY_VERSION, data, _PREFIX.size)
        return key

    def decode_value(self, key: Message, data: Buffer | None) -> Message | None:
        """The value that belongs to the key, or None for a tombstone."""
        if data is None:
            return None
        value, _ = decode(self.value_types[type(key)], _read_prefix(data, "value"), data, _PREFIX.size)
        return value

    def encode_key(self, key: Message) -> bytes:
        return _PREFIX.pack(key.API_KEY) + encode(key, _KEY_VERSION)

    def encode_value(self, value: Message, version: int) -> bytes:
        return _PREFIX.pack(version) + encode(value, version)


def _read_prefix(data: Buffer, part: str) -> int:
    if len(data) < _PREFIX.size:
        raise DecodeError(f"a record {part} of {len(data)} bytes does not say what it is")
    prefix: int = _PREFIX.unpack_from(data)[0]
    return prefix
