"""Message sets, the formats before batches: v0 (Kafka 0.8) and v1 (0.10). Read, converted up and down.

Nothing here is stored: what an old producer sends is converted up before it reaches the log, what an old
consumer fetches is converted down on its way out. A message::

    offset int64 | size int32, of what follows
    | crc uint32 (CRC-32, of what follows) | magic int8 (0 or 1)
    | attributes int8: bits 0-2 compression, bit 3 timestamp type (v1)
    | timestamp int64 (v1 only)
    | key length int32 (-1: null) | key | value length int32 (-1: null) | value

A compressed message is a wrapper whose value is a message set. Its offset is that of its last
message; inside, v0 has absolute offsets and v1 offsets relative to the first message. A wrapper
with the broker's time gives it to all its messages. Wrappers do not nest.
"""

from collections.abc import Iterator, Sequence
from struct import Struct
from typing import NamedTuple

from trivium.records.batch import (
    LOG_OVERHEAD_BYTES,
    NO_TIMESTAMP,
    BatchHeader,
    TimestampType,
    build_batch,
    iter_batches,
    iter_records,
)
from trivium.records.compression import (
    Compression,
    break_lz4_descriptor,
    compress,
    decompress,
    mend_lz4_descriptor,
)
from trivium.records.crc import crc32
from trivium.records.record import Record
from trivium.wire.buffer import Buffer
from trivium.wire.errors import DecodeError, EncodeError
from trivium.wire.limits import DECOMPRESSED_BYTES_MAX

_MAGIC_AT = 16
"""Where all three formats have it: v2 batches too."""

_OVERHEAD = Struct(">qi")
_CRC = Struct(">I")
_HEAD = {0: Struct(">bb"), 1: Struct(">bbq")}
"""Magic, attributes and, in v1, the timestamp."""

_INT32 = Struct(">i")
_INT64_MAX = (1 << 63) - 1

_COMPRESSION_BITS = 0x07
_LOG_APPEND_TIME_BIT = 0x08


class Message(NamedTuple):
    """One message of a set; a wrapper has its compressed set as value."""

    offset: int
    magic: int
    attributes: int
    timestamp: int
    key: bytes | None
    value: bytes | None

    @property
    def compression(self) -> Compression:
        return Compression.of(self.attributes & _COMPRESSION_BITS)

    @property
    def timestamp_type(self) -> TimestampType:
        is_append_time = self.magic == 1 and self.attributes & _LOG_APPEND_TIME_BIT
        return TimestampType.LOG_APPEND_TIME if is_append_time else TimestampType.CREATE_TIME


def read_magic(buffer: Buffer, position: int = 0) -> int:
    """The format of the set or batch at ``position``."""
    if len(buffer) - position <= _MAGIC_AT:
        raise DecodeError(f"records end at {position} before they tell their format")
    return buffer[position + _MAGIC_AT]


def iter_messages(buffer: Buffer) -> Iterator[Message]:
    """The messages of a set, each checked; wrappers stay folded."""
    position, end = 0, len(buffer)
    while position < end:
        message, position = _read_message(memoryview(buffer), position)
        yield message


def iter_legacy_records(
    buffer: Buffer, *, decompressed_max: int = DECOMPRESSED_BYTES_MAX
) -> Iterator[Record]:
    """The records of a set, wrappers unfolded; v0 has no timestamps (-1)."""
    for message in iter_messages(buffer):
        if message.compression is Compression.NONE:
            yield Record(message.offset, message.timestamp, message.key, message.value)
        else:
            yield from _unfold(message, decompressed_max)


def convert_up(buffer: Buffer, *, decompressed_max: int = DECOMPRESSED_BYTES_MAX) -> bytes:
    """One v2 batch of all records of a set, as a producer would have sent it: numbered from 0 on.

    It is compressed as the first wrapper was.
    """
    messages = list(iter_messages(buffer))
    records = list(iter_legacy_records(buffer, decompressed_max=decompressed_max))
    if not records:
        raise DecodeError("a message set without messages")
    codecs = (message.compression for message in messages)
    is_append_time = all(message.timestamp_type is TimestampType.LOG_APPEND_TIME for message in messages)
    return build_batch(
        records,
        compression=next((codec for codec in codecs if codec is not Compression.NONE), Compression.NONE),
        timestamp_type=TimestampType.LOG_APPEND_TIME if is_append_time else TimestampType.CREATE_TIME,
    )


def convert_down(
    buffer: Buffer,
    magic: int,
    *,
    first_offset: int = 0,
    decompressed_max: int = DECOMPRESSED_BYTES_MAX,
) -> bytes:
    """The records of v2 batches as a set of format ``magic`` (0 or 1).

    Headers and control batches have no place in it and are left out, zstd has none and is an
    ``EncodeError``. Uncompressed records before ``first_offset``, where the consumer wants to start, are
    left out as well: old clients count on a set of single messages to start where they asked.
    """
    parts: list[bytes] = []
    for position, header in iter_batches(buffer):
        if header.is_control:
            continue
        if header.compression is Compression.ZSTD:
            raise EncodeError("zstd is newer than message sets: this consumer cannot read the topic")
        records = list(iter_records(buffer, position, decompressed_max=decompressed_max))
        if header.compression is Compression.NONE:
            records = [record for record in records if record.offset >= first_offset]
        if records:
            parts.append(_fold(records, header, magic))
    return b"".join(parts)


def build_message(message: Message) -> bytes:
    """The bytes of a message, offset and size before it."""
    head: tuple[int, ...] = (message.magic, message.attributes)
    if message.magic == 1:
        head += (message.timestamp,)
    body = b"".join(
        (
            _HEAD[message.magic].pack(*head),
            _pack_bytes(message.key),
            _pack_bytes(message.value),
        )
    )
    return _OVERHEAD.pack(message.offset, len(body) + _CRC.size) + _CRC.pack(crc32(body)) + body


def _pack_bytes(field: bytes | None) -> bytes:
    return _INT32.pack(-1) if field is None else _INT32.pack(len(field)) + field


def _read_message(view: memoryview, position: int) -> tuple[Message, int]:
    """The message at ``position``, and the position after it."""
    if len(view) - position < LOG_OVERHEAD_BYTES:
        raise DecodeError(f"a message set ends within a message, at {position}")
    offset, size_bytes = _OVERHEAD.unpack_from(view, position)
    start = position + LOG_OVERHEAD_BYTES
    if not _CRC.size + 2 <= size_bytes <= len(view) - start:
        raise DecodeError(f"a message of {size_bytes} bytes, where {len(view) - start} remain")
    body = view[start + _CRC.size : start + size_bytes]
    if crc32(body) != _CRC.unpack_from(view, start)[0]:
        raise DecodeError(f"the checksum of the message at {position} does not match its bytes")
    magic = body[0]
    if magic not in _HEAD:
        raise DecodeError(f"a message of format 0 or 1 was expected at {position}, found {magic}")
    head = _HEAD[magic]
    if len(body) < head.size:
        raise DecodeError(f"the message at {position} ends too early")
    _, attributes, *timestamps = head.unpack_from(body)
    key, cut = _read_bytes(body, head.size)
    value, cut = _read_bytes(body, cut)
    if cut != len(body):
        raise DecodeError(f"the message at {position} has {len(body) - cut} bytes too many")
    timestamp = timestamps[0] if timestamps else NO_TIMESTAMP
    return Message(offset, magic, attributes, timestamp, key, value), start + size_bytes


def _read_bytes(body: memoryview, position: int) -> tuple[bytes | None, int]:
    if len(body) - position < _INT32.size:
        raise DecodeError("a message ends within a length")
    length = _INT32.unpack_from(body, position)[0]
    start = position + _INT32.size
    if length == -1:
        return None, start
    if not 0 <= length <= len(body) - start:
        raise DecodeError(f"{length} bytes in a message, where {len(body) - start} remain")
    return bytes(body[start : start + length]), start + length


def _unfold(wrapper: Message, decompressed_max: int) -> Iterator[Record]:
    inner = list(iter_messages(_decompress_wrapper(wrapper, decompressed_max)))
    if not inner:
        raise DecodeError("a compressed message without messages")
    base_offset = _relative_to(wrapper, inner[-1].offset)
    is_append_time = wrapper.timestamp_type is TimestampType.LOG_APPEND_TIME
    for message in inner:
        if message.magic != wrapper.magic:
            raise DecodeError(f"a message of format {message.magic} within one of format {wrapper.magic}")
        if message.compression is not Compression.NONE:
            raise DecodeError("a compressed message within a compressed message")
        if not 0 <= message.offset <= _INT64_MAX - base_offset:
            raise DecodeError(f"a message within a compressed one has the offset {message.offset}")
        timestamp = wrapper.timestamp if is_append_time else message.timestamp
        yield Record(base_offset + message.offset, timestamp, message.key, message.value)


def _relative_to(wrapper: Message, last_inner_offset: int) -> int:
    """What to add to the offsets inside a wrapper."""
    # Some versions of librdkafka leave a v1 wrapper's offset at 0.
    if wrapper.magic == 0 or wrapper.offset == 0:
        return 0
    if wrapper.offset < last_inner_offset:
        raise DecodeError(f"a compressed message at {wrapper.offset} has {last_inner_offset} within")
    return wrapper.offset - last_inner_offset


def _decompress_wrapper(wrapper: Message, decompressed_max: int) -> bytes:
    if wrapper.value is None:
        raise DecodeError("a compressed message without a value")
    block = wrapper.value
    if wrapper.compression is Compression.ZSTD:
        raise DecodeError("zstd is newer than message sets")
    if wrapper.compression is Compression.LZ4 and wrapper.magic == 0:
        block = mend_lz4_descriptor(block)
    return decompress(wrapper.compression, block, decompressed_max)


def _fold(records: Sequence[Record], header: BatchHeader, magic: int) -> bytes:
    """The records of one batch as messages, in a wrapper if the batch was compressed."""
    # The type travels with every message of v1; v0 knows no time at all.
    attributes = header.timestamp_type * _LOG_APPEND_TIME_BIT if magic == 1 else 0
    is_folded = header.compression is not Compression.NONE
    relative_to = records[0].offset if is_folded and magic == 1 else 0
    messages = b"".join(
        build_message(
            Message(
                record.offset - relative_to, magic, attributes, record.timestamp, record.key, record.value
            )
        )
        for record in records
    )
    if not is_folded:
        return messages
    block = compress(header.compression, messages)
    if header.compression is Compression.LZ4 and magic == 0:
        block = break_lz4_descriptor(block)
    timestamp = max(record.timestamp for record in records)
    wrapper_attributes = attributes | header.compression
    return build_message(Message(records[-1].offset, magic, wrapper_attributes, timestamp, None, block))
