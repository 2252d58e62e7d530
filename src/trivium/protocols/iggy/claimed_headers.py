"""Messages that claim to have user headers and come without them.

Java's client of 0.6 writes the length of the user headers into the header of a message, and leaves the user
headers themselves out. Such a message is taken as one without any: no server ever got them.

    message   header of 56 bytes, with the length of its user headers at 48, of its payload at 52 | payload
"""

import struct
from typing import Final

from trivium.records.iggy import SHORT_HEADER_BYTES
from trivium.wire.buffer import Buffer

_INDEX_ENTRY: Final = struct.Struct("<4xI8x")
"""Where a message ends, behind the index."""
_LENGTHS: Final = struct.Struct("<II")
_LENGTHS_AT: Final = 48


def without_claimed_headers(data: Buffer, count: int) -> bytearray | None:
    """The index and messages of a request (``batches_from_messages``) that claim no more than is there; None
    if that is not what is wrong with them.
    """
    corrected = bytearray(data)
    messages_at = _INDEX_ENTRY.size * count
    start, has_claimed = messages_at, False
    for number in range(count):
        if len(corrected) - start < SHORT_HEADER_BYTES:
            return None
        headers_bytes, payload_bytes = _LENGTHS.unpack_from(corrected, start + _LENGTHS_AT)
        end = messages_at + _INDEX_ENTRY.unpack_from(corrected, _INDEX_ENTRY.size * number)[0]
        if end - start == SHORT_HEADER_BYTES + payload_bytes and headers_bytes:
            _LENGTHS.pack_into(corrected, start + _LENGTHS_AT, 0, payload_bytes)
            has_claimed = True
        start = end
    return corrected if has_claimed else None
