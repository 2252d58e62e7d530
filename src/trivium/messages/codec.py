"""Messages to bytes and back, without headers and frames.

The functions behind a message and a version are generated on first use and kept for the life of the
process. This module is the border that their exceptions do not pass: bad bytes are ``DecodeError``, a
value without a place on the wire is ``EncodeError``.
"""

import struct
from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

from trivium.messages.codegen.decoder import make_decoder
from trivium.messages.codegen.encoder import make_encoder
from trivium.messages.schema import Message
from trivium.wire.buffer import Buffer
from trivium.wire.errors import DecodeError, EncodeError

M = TypeVar("M", bound=Message)
K = TypeVar("K")
V = TypeVar("V")
Decoder = Callable[[Buffer, int], tuple[Any, int]]
Encoder = Callable[[Any, Callable[[Buffer], None]], None]


def decode(message: type[M], version: int, buf: Buffer, pos: int = 0) -> tuple[M, int]:
    """The message at ``pos``, and the position behind it. Records are views into ``buf``."""
    try:
        return _decoders[message][version](buf, pos)
    except (IndexError, struct.error) as error:
        raise DecodeError(f"{message.__name__} version {version} is cut off") from error
    except UnicodeDecodeError as error:
        raise DecodeError(f"{message.__name__} version {version}: text that is not UTF-8") from error


def encode(message: Message, version: int) -> bytes:
    """The bytes of the message in this version."""
    parts: list[Buffer] = []
    encode_onto(parts, message, version)
    return b"".join(parts)


def encode_parts(message: Message, version: int) -> list[Buffer]:
    """The same bytes in pieces, blobs and records not copied: for ``writev``, or to be joined with more."""
    parts: list[Buffer] = []
    encode_onto(parts, message, version)
    return parts


def encode_onto(parts: list[Buffer], message: Message, version: int) -> None:
    """The same pieces, behind those that are there already."""
    cls = type(message)
    try:
        _encoders[cls][version](message, parts.append)
    except (struct.error, TypeError, AttributeError, UnicodeEncodeError) as error:
        raise EncodeError(f"{cls.__name__} version {version}: {error}") from error


class _MadeOnce(dict[K, V]):
    """A table that makes what it lacks when it is first asked for it."""

    def __init__(self, make: Callable[[K], V]) -> None:
        self._make = make

    def __missing__(self, key: K) -> V:
        value = self[key] = self._make(key)
        return value


def _new_decoder(message: type[Message], version: int) -> Decoder:
    if version not in message.VERSIONS:
        raise DecodeError(f"{message.__name__} has versions {message.VERSIONS}, not {version}")
    return make_decoder(message, version)


def _new_encoder(message: type[Message], version: int) -> Encoder:
    if version not in message.VERSIONS:
        raise EncodeError(f"{message.__name__} has versions {message.VERSIONS}, not {version}")
    return make_encoder(message, version)


_decoders: _MadeOnce[type[Message], _MadeOnce[int, Decoder]] = _MadeOnce(
    lambda message: _MadeOnce(partial(_new_decoder, message))
)
_encoders: _MadeOnce[type[Message], _MadeOnce[int, Encoder]] = _MadeOnce(
    lambda message: _MadeOnce(partial(_new_encoder, message))
)
