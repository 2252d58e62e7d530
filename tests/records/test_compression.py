"""The five codecs: mission 003.31; promises S1, S2, S4."""

import gzip
import random
import struct
import tracemalloc
import zlib
from collections.abc import Callable

import cramjam
import lz4.frame
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from tests.records.arbitrary import COMPRESSIONS
from trivium.records.compression import (
    Compression,
    break_lz4_descriptor,
    compress,
    decompress,
    mend_lz4_descriptor,
)
from trivium.wire.errors import DecodeError

REAL_CODECS = [codec for codec in Compression if codec is not Compression.NONE]
BOUND = 1_000_000
XERIAL_HEADER = b"\x82SNAPPY\x00" + struct.pack(">ii", 1, 1)


def snappy_length(size_bytes: int) -> bytes:
    """The number that a raw snappy block starts with."""
    spelled = bytearray()
    while size_bytes >= 0x80:
        spelled.append(size_bytes & 0x7F | 0x80)
        size_bytes >>= 7
    return bytes([*spelled, size_bytes])


@given(COMPRESSIONS, st.binary(max_size=300), st.integers(1, 400))
def test_data_after_a_round_trip_is_the_same(compression: Compression, data: bytes, times: int) -> None:
    data *= times
    assert decompress(compression, compress(compression, data), len(data)) == data


@pytest.mark.parametrize("compression", Compression)
def test_data_one_byte_larger_than_allowed_is_refused(compression: Compression) -> None:
    data = random.Random(4).randbytes(50_000) + bytes(50_000)
    packed = compress(compression, data)
    assert decompress(compression, packed, 100_000) == data
    with pytest.raises(DecodeError, match="unfold"):
        decompress(compression, packed, 99_999)


@pytest.mark.parametrize(
    ("compression", "packed"),
    [
        (Compression.GZIP, gzip.compress(b"data" * 50, mtime=0)),
        (Compression.SNAPPY, bytes(cramjam.snappy.compress_raw(b"data" * 50))),
        (Compression.LZ4, lz4.frame.compress(b"data" * 50, store_size=True, content_checksum=True)),
        (Compression.LZ4, lz4.frame.compress(b"data" * 50, block_linked=True)),
        (Compression.ZSTD, zstandard.ZstdCompressor(write_checksum=True).compress(b"data" * 50)),
        (Compression.ZSTD, zstandard.ZstdCompressor(write_content_size=False).compress(b"data" * 50)),
    ],
)
def test_every_dialect_of_a_codec_is_read(compression: Compression, packed: bytes) -> None:
    """librdkafka sends raw snappy, Java xerial's framing; what the others vary in is the writer's choice."""
    assert decompress(compression, memoryview(packed), 200) == b"data" * 50


def test_snappy_is_written_as_java_reads_it() -> None:
    packed = compress(Compression.SNAPPY, bytes(100_000))
    assert packed.startswith(XERIAL_HEADER)
    blocks, position = 0, len(XERIAL_HEADER)
    while position < len(packed):
        position += 4 + int.from_bytes(packed[position : position + 4], "big")
        blocks += 1
    assert (blocks, position) == (4, len(packed))


def test_lz4_is_written_as_java_reads_it() -> None:
    """Java's reader refuses linked blocks."""
    flags, block_descriptor = compress(Compression.LZ4, b"data" * 50_000)[4:6]
    assert flags >> 6 == 1
    assert flags & 0x20, "blocks must be independent"
    assert not flags & 0x08, "no content size"
    assert block_descriptor == 0x40, "blocks of 64 KiB"


def test_lz4_descriptor_broken_as_old_clients_do_is_mended() -> None:
    """For independent blocks of 64 KiB the hash byte is 0x82; clients of Kafka 0.8 made it 0x1a."""
    frame = compress(Compression.LZ4, b"data")
    broken = break_lz4_descriptor(frame)
    assert (frame[4:7], broken[4:7]) == (b"\x60\x40\x82", b"\x60\x40\x1a")
    with pytest.raises(DecodeError):
        decompress(Compression.LZ4, broken, 100)
    assert mend_lz4_descriptor(broken) == frame


@pytest.mark.parametrize("options", [{}, {"store_size": True}, {"content_checksum": True}])
def test_lz4_descriptor_that_is_right_stays(options: dict[str, bool]) -> None:
    frame = lz4.frame.compress(b"data" * 100, **options)
    assert mend_lz4_descriptor(frame) == frame


@pytest.mark.parametrize("frame", [b"", b"\x04\x22\x4d\x18\x60\x40", b"\x04\x22\x4d\x18\x68\x40" + bytes(8)])
def test_lz4_descriptor_that_ends_too_early_is_refused(frame: bytes) -> None:
    with pytest.raises(DecodeError):
        mend_lz4_descriptor(frame)


@pytest.mark.parametrize("compression", REAL_CODECS)
def test_data_cut_anywhere_is_refused(compression: Compression) -> None:
    packed = compress(compression, random.Random(1).randbytes(300) + bytes(300))
    for size_bytes in range(1, len(packed)):
        if compression is Compression.SNAPPY and size_bytes == len(XERIAL_HEADER):
            continue  # A framing without blocks is an empty one.
        with pytest.raises(DecodeError):
            decompress(compression, packed[:size_bytes], BOUND)


@given(st.sampled_from(REAL_CODECS), st.binary(max_size=100), st.data())
def test_damaged_data_is_read_or_refused_within_the_bound(
    compression: Compression, plain: bytes, data: st.DataObject
) -> None:
    packed = bytearray(compress(compression, plain * 20))
    for _ in range(data.draw(st.integers(1, 4))):
        packed[data.draw(st.integers(0, len(packed) - 1))] = data.draw(st.integers(0, 255))
    try:
        assert len(decompress(compression, packed, 10_000)) <= 10_000
    except DecodeError:
        return


@given(st.sampled_from(REAL_CODECS), st.binary(max_size=100))
def test_garbage_raises_decode_error_only(compression: Compression, garbage: bytes) -> None:
    beginnings = {
        Compression.GZIP: b"\x1f\x8b\x08\x00",
        Compression.SNAPPY: XERIAL_HEADER,
        Compression.LZ4: b"\x04\x22\x4d\x18",
        Compression.ZSTD: b"\x28\xb5\x2f\xfd",
    }
    for data in (garbage, beginnings[compression] + garbage):
        try:
            assert len(decompress(compression, data, 10_000)) <= 10_000
        except DecodeError:
            continue


BOMB_BYTES = 300_000_000


def gzip_bomb(declared_bytes: int | None = None) -> bytes:
    stream = zlib.compressobj(9, wbits=31)
    step = bytes(10_000_000)
    packed = b"".join(stream.compress(step) for _ in range(BOMB_BYTES // len(step))) + stream.flush()
    return packed if declared_bytes is None else packed[:-4] + struct.pack("<I", declared_bytes)


def lz4_bomb(*, store_size: bool) -> bytes:
    size_bytes = BOMB_BYTES if store_size else 0
    stream = lz4.frame.LZ4FrameCompressor(block_size=lz4.frame.BLOCKSIZE_MAX4MB)
    step = bytes(10_000_000)
    parts = [stream.begin(size_bytes)]
    parts += [stream.compress(step) for _ in range(BOMB_BYTES // len(step))]
    return b"".join([*parts, stream.flush()])


def zstd_bomb(*, content_bytes: int) -> bytes:
    stream = zstandard.ZstdCompressor().compressobj(size=content_bytes)
    step = bytes(10_000_000)
    return b"".join(stream.compress(step) for _ in range(BOMB_BYTES // len(step))) + stream.flush()


def snappy_bomb() -> bytes:
    """The most that snappy can say: copies of 64 bytes in 3, all of them from one byte before."""
    copies = 5_000_000 // 64
    block = snappy_length(1 + 64 * copies) + b"\x00a" + b"\xfe\x01\x00" * copies
    return XERIAL_HEADER + (struct.pack(">i", len(block)) + block) * 20


BOMBS: dict[str, Callable[[], tuple[Compression, bytes]]] = {
    "gzip": lambda: (Compression.GZIP, gzip_bomb()),
    "gzip that lies about its size": lambda: (Compression.GZIP, gzip_bomb(100)),
    "lz4": lambda: (Compression.LZ4, lz4_bomb(store_size=False)),
    "lz4 that tells its size": lambda: (Compression.LZ4, lz4_bomb(store_size=True)),
    "zstd": lambda: (Compression.ZSTD, zstd_bomb(content_bytes=-1)),
    "zstd that tells its size": lambda: (Compression.ZSTD, zstd_bomb(content_bytes=BOMB_BYTES)),
    "snappy in xerial's framing": lambda: (Compression.SNAPPY, snappy_bomb()),
    "raw snappy that lies": lambda: (Compression.SNAPPY, snappy_length(2**32 - 1) + b"\x00a"),
    "raw snappy that lies within the bound": lambda: (
        Compression.SNAPPY,
        snappy_length(BOUND) + b"\x00a",
    ),
}


@pytest.mark.parametrize("name", BOMBS)
def test_bomb_is_refused_with_little_memory(name: str) -> None:
    """S4: what is refused may cost the bound and 32 MB at most. Two bounds: a small one, and a large one."""
    compression, packed = BOMBS[name]()
    for bound in (BOUND, 20 * BOUND):
        tracemalloc.start()
        with pytest.raises(DecodeError):
            decompress(compression, packed, bound)
        _, peak_bytes = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert peak_bytes < bound + 32_000_000, f"{peak_bytes:,} bytes at a bound of {bound:,}"


def test_zstd_with_a_huge_window_is_refused() -> None:
    """S4: the window would be reserved before the first byte is known."""
    parameters = zstandard.ZstdCompressionParameters(window_log=27)
    stream = zstandard.ZstdCompressor(compression_params=parameters).compressobj()
    packed = stream.compress(b"data" * 100) + stream.flush()
    with pytest.raises(DecodeError, match="window"):
        decompress(Compression.ZSTD, packed, BOUND)


def test_snappy_block_that_declares_more_than_snappy_can_say_is_refused() -> None:
    """S2: the room for it would be made before the first byte is looked at."""
    with pytest.raises(DecodeError, match="cannot hold"):
        decompress(Compression.SNAPPY, snappy_length(BOUND) + b"\x00a", BOUND)


@pytest.mark.parametrize("length", [-(2**31), -1, 0, 5, 2**31 - 1])
def test_xerial_block_with_a_lying_length_is_refused(length: int) -> None:
    """S2: 4 bytes follow the length."""
    with pytest.raises(DecodeError):
        decompress(Compression.SNAPPY, XERIAL_HEADER + struct.pack(">i", length) + bytes(4), BOUND)


def test_xerial_of_endless_tiny_blocks_is_refused() -> None:
    block = snappy_length(1) + b"\x00a"
    packed = XERIAL_HEADER + (struct.pack(">i", len(block)) + block) * 50_000
    with pytest.raises(DecodeError, match="too many"):
        decompress(Compression.SNAPPY, packed, BOUND)


@pytest.mark.parametrize("compression", [Compression.GZIP, Compression.LZ4])
def test_bytes_after_the_end_are_refused(compression: Compression) -> None:
    with pytest.raises(DecodeError, match="after its end"):
        decompress(compression, compress(compression, b"data") + b"\x00\x00\x00\x00", BOUND)


@pytest.mark.parametrize("code", [-1, 5, 6, 7])
def test_compression_of_an_unknown_code_is_refused(code: int) -> None:
    with pytest.raises(DecodeError, match="not known"):
        Compression.of(code)
