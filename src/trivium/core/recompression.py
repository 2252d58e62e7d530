"""Batches in the compression that their topic prescribes (``compression.type``, ``compression.*.level``).

A batch that comes in another one is opened, checked and packed anew; all else about it stays: offsets, times,
producer, sequence. With ``producer``, the default, nobody looks.
"""

from typing import Final

from trivium.core.batch_checks import Batches, check_inside, too_large
from trivium.core.faults import Fault, Refused
from trivium.core.partition import Rules
from trivium.records.batch import BatchHeader, check_batches, read_section, seal
from trivium.records.compression import Compression
from trivium.wire.buffer import Buffer
from trivium.wire.errors import DecodeError, EncodeError

AS_PRODUCED: Final = "producer"
_CODECS: Final = {
    "uncompressed": Compression.NONE,
    "gzip": Compression.GZIP,
    "snappy": Compression.SNAPPY,
    "lz4": Compression.LZ4,
    "zstd": Compression.ZSTD,
}


def recompressed(
    data: memoryview, batches: Batches, rules: Rules
) -> tuple[memoryview, list[tuple[int, BatchHeader]]] | None:
    """The batches as the topic wants them; None if that is how they came."""
    codec = _CODECS[rules.compression]
    if all(header.compression is codec for _, header in batches):
        return None
    packed = bytearray()
    for position, header in batches:
        packed += _repacked(data, position, header, codec, rules)
    return memoryview(packed), check_batches(packed)


def _repacked(
    data: memoryview, position: int, header: BatchHeader, codec: Compression, rules: Rules
) -> Buffer:
    if header.compression is codec:
        return data[position : position + header.size_bytes]
    check_inside(data, position)
    try:
        batch = seal(header, read_section(data, position).data, codec, rules.compression_level)
    except (DecodeError, EncodeError) as error:
        raise Refused(Fault.CORRUPT_MESSAGE, f"A batch cannot be repacked: {error}.") from error
    if len(batch) > rules.max_message_bytes:
        raise too_large(len(batch), rules)
    return batch
