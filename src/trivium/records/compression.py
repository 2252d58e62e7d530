"""The five codecs of a batch, each with an output bound."""

from enum import IntEnum

from trivium.wire.errors import DecodeError


class Compression(IntEnum):
    """Bits 0-2 of the attributes."""

    NONE = 0
    GZIP = 1
    SNAPPY = 2
    LZ4 = 3
    ZSTD = 4

    @staticmethod
    def of(code: int) -> "Compression":
        if code >= len(_BY_CODE):
            raise DecodeError(f"compression {code} is not known")
        return _BY_CODE[code]


_BY_CODE = tuple(Compression)
