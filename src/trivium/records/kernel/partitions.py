"""Which partition each key of an Arrow column belongs to, as Kafka's Java clients choose it: by murmur2."""

from __future__ import annotations

from trivium.records.kernel import cython
from trivium.records.kernel.columns import BlobsReader
from trivium.records.kernel.integers import BITS_32, INT32_MAX, u32_at
from trivium.records.kernel.writer import Writer
from trivium.records.record import Blobs
from trivium.wire.errors import EncodeError

MURMUR2_SEED = cython.declare(cython.longlong, 0x9747B28C)
MURMUR2_MULTIPLIER = cython.declare(cython.longlong, 0x5BD1E995)


def partitions_of(keys: Blobs, rows_count: int, partitions_count: int) -> bytes:
    """A little-endian 32-bit number for each row; -1 where there is no key."""
    reader: BlobsReader = BlobsReader(keys)
    row: cython.Py_ssize_t
    end: cython.Py_ssize_t = rows_count
    count: cython.longlong = partitions_count
    if not 0 < count <= INT32_MAX:
        raise EncodeError(f"a topic cannot have {partitions_count} partitions")
    if not 0 <= end <= reader.rows_count:
        raise EncodeError(f"an Arrow column of {reader.rows_count} rows has no {rows_count}")
    writer: Writer = Writer(4 * end)
    for row in range(end):
        reader.locate(row)
        if reader.length < 0:
            writer.int32(-1)
        else:
            writer.int32((murmur2_of(reader.p, reader.start, reader.length) & INT32_MAX) % count)
    return bytes(writer.taken())


@cython.cfunc
@cython.exceptval(check=False)
def murmur2_of(
    p: cython.p_const_uchar, start: cython.Py_ssize_t, length: cython.Py_ssize_t
) -> cython.longlong:
    """The hash with Kafka's seed, as an unsigned number of 32 bits, of bytes that the caller has checked."""
    digest: cython.longlong = MURMUR2_SEED ^ (length & BITS_32)
    at: cython.Py_ssize_t = start
    end: cython.Py_ssize_t = start + length
    word: cython.longlong
    shift: cython.longlong = 0
    while end - at >= 4:
        word = low_product(u32_at(p, at))
        word = low_product(word ^ (word >> 24))
        digest = low_product(digest) ^ word
        at += 4
    if at < end:
        while at < end:
            word = p[at]
            digest ^= word << shift
            shift += 8
            at += 1
        digest = low_product(digest)
    digest = low_product(digest ^ (digest >> 13))
    return digest ^ (digest >> 15)


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def low_product(number: cython.longlong) -> cython.longlong:
    """Times the multiplier, modulo 2**32. Both are below 2**32 and 2**31: the product fits into 64 bits."""
    return (number * MURMUR2_MULTIPLIER) & BITS_32
