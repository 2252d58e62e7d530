"""The two checksums of Kafka's record formats: CRC-32C for v2 batches, CRC-32 for the old message sets.

google-crc32c takes ``bytes`` and no view, so a view is copied on its way in, piece by piece: a piece
that fits a processor cache costs a few percent of the checksum itself, a copy of a whole batch of
100 MB would cost memory.
"""

import zlib

from google_crc32c import extend, value

from trivium.wire.buffer import Buffer

_PIECE_BYTES = 65_536


def crc32c(buffer: Buffer, start: int = 0, end: int | None = None) -> int:
    """CRC-32C (Castagnoli) of ``buffer[start:end]``."""
    view = memoryview(buffer)[start:end]
    size_bytes = len(view)
    if size_bytes <= _PIECE_BYTES:
        return int(value(bytes(view)))
    checksum = 0
    for position in range(0, size_bytes, _PIECE_BYTES):
        checksum = extend(checksum, bytes(view[position : position + _PIECE_BYTES]))
    return checksum


def crc32(buffer: Buffer, start: int = 0, end: int | None = None) -> int:
    """CRC-32 (the polynomial of gzip) of ``buffer[start:end]``."""
    return zlib.crc32(memoryview(buffer)[start:end])
