"""The codecs of a batch. Each one unfolds into a bound that the caller sets, and refuses what is larger.

Rules (promise S4): a declared size is compared with the bound and then forgotten, room is made as
bytes really arrive; a number that the format itself makes impossible is refused before any work; what
a library raises becomes ``DecodeError``. What is written here is what Java's Kafka clients read: lz4 in
independent blocks of 64 KiB, snappy in xerial's framing.

xerial's framing of snappy::

    magic 82 53 4e 41 50 50 59 00 | version int32 | oldest compatible version int32
    | blocks: length int32, a raw snappy block

The libraries are loaded with the first batch that needs them: a world of plain records
(``testing/world``) runs where none of them does.

An lz4 frame starts with its descriptor, guarded by one byte of a hash. The clients of Kafka 0.8 and 0.9
hashed the frame's magic too. ``mend_lz4_descriptor`` and ``break_lz4_descriptor`` go to and fro.
"""

import zlib
from collections.abc import Callable
from enum import IntEnum
from struct import Struct

from trivium.wire.buffer import Buffer
from trivium.wire.errors import DecodeError
from trivium.wire.limits import XERIAL_SMALL_BLOCKS_MAX, ZSTD_WINDOW_BYTES_MAX

try:
    from isal import isal_zlib as gzip_engine
except ImportError:
    gzip_engine = zlib


class Compression(IntEnum):
    """Bits 0-2 of a batch's attributes."""

    NONE = 0
    GZIP = 1
    SNAPPY = 2
    LZ4 = 3
    ZSTD = 4

    @staticmethod
    def of(code: int) -> "Compression":
        if not 0 <= code < len(_BY_CODE):
            raise DecodeError(f"compression {code} is not known")
        return _BY_CODE[code]


_BY_CODE = tuple(Compression)

_GZIP_WINDOW_BITS = 31
"""For zlib: a window of 32 KiB, and the header and trailer of gzip around it."""

_GZIP_LEVEL_DEFAULT = -1
_LZ4_LEVEL_FAST = 9
"""Kafka's default level of lz4 stands for its quick compressor, any other for the slow one."""
_ZSTD_LEVEL_DEFAULT = 3

_SNAPPY_RATIO_MAX = 22
"""A snappy block says at most 64 bytes in 3: one that declares more than 22 times its size lies."""

_XERIAL_HEADER = b"\x82SNAPPY\x00" + bytes((0, 0, 0, 1, 0, 0, 0, 1))
_XERIAL_MAGIC = _XERIAL_HEADER[:8]
_XERIAL_BLOCK_BYTES = 32_768

_STEP_BYTES_MIN = 65_536
_STEP_BYTES_MAX = 16 * 1024 * 1024
"""Output is made in steps, so that memory follows the bytes that arrived and not those announced."""

_INT32 = Struct(">i")
_UINT32_LITTLE = Struct("<I")


def compress(compression: Compression, data: bytes | bytearray, level: int | None = None) -> bytes:
    """``level``: how hard the codec tries, in the numbers of Kafka's settings; None is its own default."""
    return _COMPRESSORS[compression](data, level)


def _copy(data: bytes | bytearray, _level: int | None) -> bytes:
    return bytes(data)


def decompress(compression: Compression, data: Buffer, size_bytes_max: int) -> bytes:
    """What ``data`` unfolds to; ``DecodeError`` where it is damaged or larger than ``size_bytes_max``."""
    try:
        return _DECOMPRESSORS[compression](memoryview(data), size_bytes_max)
    except _errors(compression) as error:
        raise DecodeError(f"{compression.name.lower()} data is damaged: {error}") from error


def _errors(compression: Compression) -> tuple[type[Exception], ...]:
    """What the codec raises where its data is damaged; asked once it has raised something."""
    errors = (zlib.error, gzip_engine.error, EOFError, RuntimeError)  # lz4 has no exception of its own
    match compression:
        case Compression.SNAPPY:
            import cramjam

            return (*errors, cramjam.DecompressionError)
        case Compression.ZSTD:
            import zstandard

            return (*errors, zstandard.ZstdError)
        case _:
            return errors


def _too_large(size_bytes_max: int) -> DecodeError:
    return DecodeError(f"a batch may unfold to {size_bytes_max} bytes, this one is larger")


def _read_in_steps(read: Callable[[int], bytes], compressed_bytes: int, size_bytes_max: int) -> bytes:
    """All that ``read(size)`` gives until it gives nothing, in steps that start near the usual ratio."""
    step_bytes = min(max(4 * compressed_bytes, _STEP_BYTES_MIN), _STEP_BYTES_MAX)
    steps: list[bytes] = []
    total_bytes = 0
    while True:
        # One byte more than allowed tells "exactly full" from "too large".
        step = read(min(step_bytes, size_bytes_max + 1 - total_bytes))
        if not step:
            return steps[0] if len(steps) == 1 else b"".join(steps)
        steps.append(step)
        total_bytes += len(step)
        if total_bytes > size_bytes_max:
            raise _too_large(size_bytes_max)


def _copy_plain(data: memoryview, size_bytes_max: int) -> bytes:
    if len(data) > size_bytes_max:
        raise _too_large(size_bytes_max)
    return bytes(data)


def _compress_gzip(data: bytes | bytearray, level: int | None) -> bytes:
    if level is None or level == _GZIP_LEVEL_DEFAULT:
        stream = gzip_engine.compressobj(wbits=_GZIP_WINDOW_BITS)
    else:
        # The levels that people know are zlib's; a quicker engine counts otherwise.
        stream = zlib.compressobj(level, wbits=_GZIP_WINDOW_BITS)
    return bytes(stream.compress(data) + stream.flush())


def _decompress_gzip(data: memoryview, size_bytes_max: int) -> bytes:
    # The trailer ends with the size: an honest bomb is refused here, a lying one on its way.
    if len(data) >= 4 and _UINT32_LITTLE.unpack_from(data, len(data) - 4)[0] > size_bytes_max:
        raise _too_large(size_bytes_max)
    stream = gzip_engine.decompressobj(wbits=_GZIP_WINDOW_BITS)
    pending: Buffer = data

    def read(size_bytes: int) -> bytes:
        nonlocal pending
        step = bytes(stream.decompress(pending, size_bytes))
        pending = stream.unconsumed_tail
        return step

    plain = _read_in_steps(read, len(data), size_bytes_max)
    if not stream.eof:
        raise DecodeError("gzip data ends too early")
    if stream.unused_data:
        raise DecodeError("gzip data has bytes after its end")
    return plain


def _compress_snappy(data: bytes | bytearray, _level: int | None) -> bytes:
    import cramjam

    parts = [_XERIAL_HEADER]
    for start in range(0, len(data), _XERIAL_BLOCK_BYTES):
        block = bytes(cramjam.snappy.compress_raw(data[start : start + _XERIAL_BLOCK_BYTES]))
        parts += (_INT32.pack(len(block)), block)
    return b"".join(parts)


def _decompress_snappy(data: memoryview, size_bytes_max: int) -> bytes:
    if data[: len(_XERIAL_MAGIC)] == _XERIAL_MAGIC:
        return _decompress_xerial(data, size_bytes_max)
    return _decompress_snappy_block(data, size_bytes_max)


def _decompress_xerial(data: memoryview, size_bytes_max: int) -> bytes:
    position, end = len(_XERIAL_HEADER), len(data)
    blocks: list[bytes] = []
    room_bytes = size_bytes_max
    if end < position:
        raise DecodeError("snappy data ends within its header")
    while position < end:
        if end - position < 4:
            raise DecodeError("snappy data ends within a block's length")
        block_bytes = _INT32.unpack_from(data, position)[0]
        position += 4
        if not 0 < block_bytes <= end - position:
            raise DecodeError(f"a snappy block of {block_bytes} bytes, where {end - position} remain")
        block = _decompress_snappy_block(data[position : position + block_bytes], room_bytes)
        position += block_bytes
        room_bytes -= len(block)
        blocks.append(block)
        if len(blocks) > XERIAL_SMALL_BLOCKS_MAX + (size_bytes_max - room_bytes) // 1_024:
            raise DecodeError("snappy data is cut into too many blocks")
    return b"".join(blocks)


def _decompress_snappy_block(block: memoryview, size_bytes_max: int) -> bytes:
    import cramjam

    size_bytes = cramjam.snappy.decompress_raw_len(block)
    if size_bytes > size_bytes_max:
        raise _too_large(size_bytes_max)
    if size_bytes > _SNAPPY_RATIO_MAX * len(block):
        raise DecodeError(f"{len(block)} bytes of snappy cannot hold {size_bytes}")
    return bytes(cramjam.snappy.decompress_raw(block))


def _compress_lz4(data: bytes | bytearray, level: int | None) -> bytes:
    import lz4.frame

    # Java's reader knows independent blocks only, and no content size.
    return bytes(
        lz4.frame.compress(
            data,
            compression_level=0 if level is None or level == _LZ4_LEVEL_FAST else level,
            block_size=lz4.frame.BLOCKSIZE_MAX64KB,
            block_linked=False,
            store_size=False,
        )
    )


def _decompress_lz4(data: memoryview, size_bytes_max: int) -> bytes:
    import lz4.frame

    # 0 is "not told"; what is told may still be a lie, and is met on the way.
    if lz4.frame.get_frame_info(data)["content_size"] > size_bytes_max:
        raise _too_large(size_bytes_max)
    stream = lz4.frame.LZ4FrameDecompressor()
    pending: Buffer = data

    def read(size_bytes: int) -> bytes:
        nonlocal pending
        if stream.eof or (stream.needs_input and not len(pending)):
            return b""
        step = stream.decompress(pending, size_bytes)
        pending = b""
        return bytes(step)

    plain = _read_in_steps(read, len(data), size_bytes_max)
    if not stream.eof:
        raise DecodeError("lz4 data ends too early")
    if stream.unused_data:
        raise DecodeError("lz4 data has bytes after its end")
    return plain


def _compress_zstd(data: bytes | bytearray, level: int | None) -> bytes:
    import zstandard

    return zstandard.ZstdCompressor(_ZSTD_LEVEL_DEFAULT if level is None else level).compress(data)


def _decompress_zstd(data: memoryview, size_bytes_max: int) -> bytes:
    import zstandard

    frame = zstandard.get_frame_parameters(data)
    if zstandard.CONTENTSIZE_UNKNOWN != frame.content_size > size_bytes_max:
        raise _too_large(size_bytes_max)
    if frame.window_size > max(ZSTD_WINDOW_BYTES_MAX, size_bytes_max):
        raise DecodeError(f"zstd data asks for a window of {frame.window_size} bytes")
    decompressor = zstandard.ZstdDecompressor(max_window_size=ZSTD_WINDOW_BYTES_MAX)
    with decompressor.stream_reader(data, read_across_frames=True) as stream:
        plain = _read_in_steps(stream.read, len(data), size_bytes_max)
    # The reader takes the end of its input for the end of the frame; the declared size knows better.
    if zstandard.CONTENTSIZE_UNKNOWN != frame.content_size > len(plain):
        raise DecodeError("zstd data ends too early")
    return plain


_COMPRESSORS: dict[Compression, Callable[[bytes | bytearray, int | None], bytes]] = {
    Compression.NONE: _copy,
    Compression.GZIP: _compress_gzip,
    Compression.SNAPPY: _compress_snappy,
    Compression.LZ4: _compress_lz4,
    Compression.ZSTD: _compress_zstd,
}

_DECOMPRESSORS: dict[Compression, Callable[[memoryview, int], bytes]] = {
    Compression.NONE: _copy_plain,
    Compression.GZIP: _decompress_gzip,
    Compression.SNAPPY: _decompress_snappy,
    Compression.LZ4: _decompress_lz4,
    Compression.ZSTD: _decompress_zstd,
}


def mend_lz4_descriptor(frame: Buffer) -> bytes:
    """The frame with the hash that the format asks for, whatever an old client has written there."""
    mended = bytearray(frame)
    descriptor_end = _lz4_descriptor_end(mended)
    mended[descriptor_end] = _xxh32_short(mended[4:descriptor_end]) >> 8 & 0xFF
    return bytes(mended)


def break_lz4_descriptor(frame: Buffer) -> bytes:
    """The frame with the hash that clients of Kafka 0.8 and 0.9 expect: the frame's magic is hashed too."""
    broken = bytearray(frame)
    descriptor_end = _lz4_descriptor_end(broken)
    broken[descriptor_end] = _xxh32_short(broken[:descriptor_end]) >> 8 & 0xFF
    return bytes(broken)


def _lz4_descriptor_end(frame: bytearray) -> int:
    if len(frame) < 7:
        raise DecodeError("lz4 data ends within its header")
    has_content_size, has_dictionary = frame[4] & 0x08, frame[4] & 0x01
    end = 6 + (8 if has_content_size else 0) + (4 if has_dictionary else 0)
    if end >= len(frame):
        raise DecodeError("lz4 data ends within its header")
    return end


def _xxh32_short(data: bytes | bytearray) -> int:
    """xxHash32 with seed 0 of up to 15 bytes, as long as a descriptor gets: longer input has more steps."""
    prime_1, prime_2, prime_3, prime_4, prime_5 = (
        0x9E3779B1,
        0x85EBCA77,
        0xC2B2AE3D,
        0x27D4EB2F,
        0x165667B1,
    )
    mask = 0xFFFFFFFF
    accumulator = (prime_5 + len(data)) & mask
    whole = len(data) & ~3
    for position in range(0, whole, 4):
        word = _UINT32_LITTLE.unpack_from(data, position)[0]
        accumulator = (accumulator + word * prime_3) & mask
        accumulator = (_rotate_left(accumulator, 17) * prime_4) & mask
    for byte in data[whole:]:
        accumulator = (accumulator + byte * prime_5) & mask
        accumulator = (_rotate_left(accumulator, 11) * prime_1) & mask
    accumulator = ((accumulator ^ accumulator >> 15) * prime_2) & mask
    accumulator = ((accumulator ^ accumulator >> 13) * prime_3) & mask
    return accumulator ^ accumulator >> 16


def _rotate_left(word: int, bits: int) -> int:
    return (word << bits | word >> (32 - bits)) & 0xFFFFFFFF
