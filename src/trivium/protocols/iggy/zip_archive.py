"""A ZIP archive of small files, in memory, in each of the compressions that a snapshot may be asked for in.

The standard library writes four of the six. All are a page of fixed layouts, so they are written here alike.
Codecs are loaded by the first archive that needs them: most nodes never write one.
"""

import struct
import zlib
from collections.abc import Callable, Mapping
from enum import IntEnum
from typing import Final


class ZipCompression(IntEnum):
    """Iggy's numbers for them."""

    STORED = 1
    DEFLATED = 2
    BZIP2 = 3
    ZSTD = 4
    LZMA = 5
    XZ = 6


def _deflated(data: bytes) -> bytes:
    compressor = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return compressor.compress(data) + compressor.flush()


def _bzip2(data: bytes) -> bytes:
    import bz2

    return bz2.compress(data)


def _zstd(data: bytes) -> bytes:
    import zstandard

    return zstandard.ZstdCompressor().compress(data)


def _xz(data: bytes) -> bytes:
    import lzma

    return lzma.compress(data)


_ALONE_PROPERTIES_BYTES: Final = 5
_ALONE_HEADER_BYTES: Final = 13
_LZMA_VERSION: Final = bytes((9, 4))


def _lzma(data: bytes) -> bytes:
    """ZIP's own frame: version, length of the properties, the properties, the stream."""
    import lzma

    alone = lzma.compress(data, lzma.FORMAT_ALONE)
    properties = alone[:_ALONE_PROPERTIES_BYTES]
    return _LZMA_VERSION + struct.pack("<H", len(properties)) + properties + alone[_ALONE_HEADER_BYTES:]


_METHODS: Final[dict[ZipCompression, tuple[int, int, Callable[[bytes], bytes]]]] = {
    ZipCompression.STORED: (0, 10, bytes),
    ZipCompression.DEFLATED: (8, 20, _deflated),
    ZipCompression.BZIP2: (12, 46, _bzip2),
    ZipCompression.ZSTD: (93, 63, _zstd),
    ZipCompression.LZMA: (14, 63, _lzma),
    ZipCompression.XZ: (95, 63, _xz),
}
"""ZIP's number of the method, the version of ZIP that a reader needs, and the method itself."""

_UTF8_NAMES: Final = 1 << 11
_ENDS_WITH_MARK: Final = 1 << 1
"""LZMA only: the stream says itself where it ends."""
_DOS_EPOCH: Final = (0, 0x21)
"""Midnight, 1 January 1980, the first day that ZIP knows: a snapshot says itself when it was taken."""
_LOCAL: Final = struct.Struct("<4s5H3I2H")
_CENTRAL: Final = struct.Struct("<4s6H3I5H2I")
_END: Final = struct.Struct("<4s4H2IH")


def zip_archive(files: Mapping[str, bytes], compression: ZipCompression) -> bytes:
    method, version, compress = _METHODS[compression]
    flags = _UTF8_NAMES | (_ENDS_WITH_MARK if compression is ZipCompression.LZMA else 0)
    entries, directory = bytearray(), bytearray()
    for file_name, data in files.items():
        name, packed = file_name.encode(), compress(data)
        facts = (flags, method, *_DOS_EPOCH, zlib.crc32(data), len(packed), len(data), len(name), 0)
        directory += _CENTRAL.pack(b"PK\1\2", version, version, *facts, 0, 0, 0, 0, len(entries)) + name
        entries += _LOCAL.pack(b"PK\3\4", version, *facts) + name + packed
    end = _END.pack(b"PK\5\6", 0, 0, len(files), len(files), len(directory), len(entries), 0)
    return bytes(entries + directory) + end
