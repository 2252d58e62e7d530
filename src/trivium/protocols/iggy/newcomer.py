"""Clients of Iggy 0.9: another protocol on the same port, whose first bytes are zeros. They have to leave.

Both sides send headers of 256 bytes, little-endian, zero where nothing is said here:

    header   0   48  zeros, as clients send it
            48    4  size, header included
            60    1  kind: 5 a request, 13 an eviction
           128   16  client id

    eviction   a header alone: client id at 128, newest and oldest version that is served at 144 and 148,
               the reason at 255 (14: incompatible protocol)
"""

import struct
from typing import Final

from trivium.wire.buffer import Buffer
from trivium.wire.errors import DecodeError

HEADER_BYTES: Final = 256
_SIZE_AT: Final = 48
_KIND_AT: Final = 60
_CLIENT_AT: Final = 128
_CLIENT_END: Final = 144
_REASON_AT: Final = 255
_EVICTION: Final = 13
_INCOMPATIBLE_PROTOCOL: Final = 14
_U32: Final = struct.Struct("<I")


class Newcomer(DecodeError):
    """The peer speaks a protocol that is not served; there is nothing to read on."""

    def __init__(self) -> None:
        super().__init__(
            "a client of Iggy 0.9 or newer, whose protocol is not served; use a client of 0.5 to 0.8"
        )


def eviction(request: Buffer) -> bytes:
    """The answer to a request whose header has come: no version of this protocol is served."""
    answer = bytearray(HEADER_BYTES)
    _U32.pack_into(answer, _SIZE_AT, HEADER_BYTES)
    answer[_KIND_AT] = _EVICTION
    answer[_CLIENT_AT:_CLIENT_END] = bytes(request[_CLIENT_AT:_CLIENT_END])
    answer[_REASON_AT] = _INCOMPATIBLE_PROTOCOL
    return bytes(answer)
