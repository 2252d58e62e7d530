"""Which protocol a connection speaks, told by its first bytes: for a port that takes all of them.

    Kafka            length, 4 bytes big-endian | API key, 2 bytes: the first of them is 0 (ours come later)
    RustLog          length, 4 bytes big-endian | body, which never begins with 0
    Iggy to 0.8      length, 4 bytes little-endian, 4 to 65535 | code, 4 bytes little-endian, 1 to 65535
    Iggy from 0.9    48 bytes of 0
    TLS              16 03 | version and length, not both 0

What decides between them:
- Four bytes of 0 are Iggy's from 0.9 on.
- A first byte other than 0 is a large length for Kafka and RustLog (16 MB and more, which no first request
  has) and a common one for Iggy, whose first request is small: its third and fourth byte are 0.
- Behind a first byte of 0 the fifth tells Kafka (0) from RustLog. Only a length of 65536 and its multiples
  could also be Iggy's, of 256 and its multiples: then Iggy's code decides. What looks like a code below 10 is
  a type of RustLog's: Iggy has only PING there, which is shorter.
- RustLog has requests of one byte, so five bytes must be enough to know it.
"""

from enum import Enum
from typing import Final

DECIDING_BYTES_MAX: Final = 8
"""More than that nobody needs to send before it is known what they speak."""

_LENGTH_BYTES: Final = 4
_NOTHING: Final = bytes(_LENGTH_BYTES)
_IGGY_CODE_MIN: Final = 10
"""The first code of a request with a body."""
_TLS_HANDSHAKE: Final = b"\x16\x03"


class Spoken(Enum):
    KAFKA = "kafka"
    RUSTLOG = "rustlog"
    IGGY = "iggy"
    TLS = "tls"
    UNKNOWN = "unknown"


def spoken_by(head: bytes) -> Spoken | None:
    """None: more bytes have to come. Never None for ``DECIDING_BYTES_MAX`` of them."""
    if len(head) < _LENGTH_BYTES:
        return None
    if head.startswith(_NOTHING):
        return Spoken.IGGY
    if head[0] != 0:
        if head[2:4] == b"\0\0":
            return Spoken.IGGY
        return Spoken.TLS if head.startswith(_TLS_HANDSHAKE) else Spoken.UNKNOWN
    if len(head) == _LENGTH_BYTES:
        return None
    if head[4] == 0:
        return Spoken.KAFKA
    if head[2:4] != b"\0\0":
        return Spoken.RUSTLOG
    if len(head) < DECIDING_BYTES_MAX:
        return None
    code = int.from_bytes(head[4:8], "little")
    return Spoken.IGGY if _IGGY_CODE_MIN <= code < 1 << 16 else Spoken.RUSTLOG
