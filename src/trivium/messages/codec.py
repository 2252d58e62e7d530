"""Messages to bytes and back, without headers and frames.

The functions behind a message and a version are generated on first use and kept for the life of the
process. This module is the border that their exceptions do not pass: bad bytes are ``DecodeError``, a
value without a place on the wire is ``EncodeError``.
"""

import struct
from collections.abc import Callable
from typing import Any, TypeVar

from trivium.messages.codegen.decoder import make_decoder
from trivium.messages.codegen.encoder import make_encoder
from trivium.messages.schema import Message
from trivium.wire.errors import DecodeError, EncodeError
from trivium.wire.varint import ByteSource

M = TypeVar("M", bound=Message)
Decoder = Callable[[ByteSource, int], tuple[Any, int]]
Encoder = Callable[[Any, Callable[[ByteSource], None]], None]

_decoders: dict[tuple[type[Message], int], Decoder] = {}
_encoders: dict[tuple[type[Message], int], Encoder] = {}


def decode(message: type[M], version: int, buf: ByteSource, pos: int = 0) -> tuple[M, int]:
    """The message at ``pos``, and the position behind it. Records are views into ``buf``."""
    decoder = _decoders.get((message, version)) or _new_decoder(message, version)
    try:
        return decoder(buf, pos)
    except (IndexError, struct.error) as error:
        raise DecodeError(f"{message.__name__} version {version} is cut off") from error
    except UnicodeDecodeError as error:
        raise DecodeError(f"{message.__name__} version {version}: text that is not UTF-8") from error


def encode(message: Message, version: int) -> bytes:
    """The bytes of the message in this version."""
    return b"".join(encode_parts(message, version))


def encode_parts(message: Message, version: int) -> list[ByteSource]:
    """The same bytes in pieces, blobs and records not copied: for ``writev``, or to be joined with more."""
    parts: list[ByteSource] = []
    add_parts(message, version, parts.append)
    return parts


def add_parts(message: Message, version: int, add: Callable[[ByteSource], None]) -> None:
    """Hand the pieces to ``add``, in wire order."""
    cls = type(message)
    encoder = _encoders.get((cls, version)) or _new_encoder(cls, version)
    try:
        encoder(message, add)
    except (struct.error, TypeError, AttributeError, UnicodeEncodeError) as error:
        raise EncodeError(f"{cls.__name__} version {version}: {error}") from error


def _new_decoder(message: type[Message], version: int) -> Decoder:
    if version not in message.VERSIONS:
        raise DecodeError(f"{message.__name__} has versions {message.VERSIONS}, not {version}")
    decoder = _decoders[message, version] = make_decoder(message, version)
    return decoder


def _new_encoder(message: type[Message], version: int) -> Encoder:
    if version not in message.VERSIONS:
        raise EncodeError(f"{message.__name__} has versions {message.VERSIONS}, not {version}")
    encoder = _encoders[message, version] = make_encoder(message, version)
    return encoder
