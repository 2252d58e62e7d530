"""Record batches of format v2: header, checksum, stamping, building, reading.

A broker checks the header and the checksum, stamps its offset and epoch into the first 16 bytes, which
the checksum leaves out for that reason, and never looks inside. Whoever does look inside (compaction,
bridging between protocols, Arrow) goes through ``build_batch``, ``iter_records`` and ``retain``; their
loops run in the kernel, and so does the check of a batch, which every produced and every read batch passes.
The bytes of a header are drawn in ``header``.
"""

from collections.abc import Iterator, Sequence
from struct import Struct
from struct import error as struct_error

from trivium.records import kernel
from trivium.records.compression import Compression, compress, decompress
from trivium.records.crc import crc32c
from trivium.records.header import (
    ATTRIBUTES_AT,
    COMPRESSION_BITS,
    CONTROL_BIT,
    CRC_AT,
    DELETE_HORIZON_BIT,
    HEADER,
    HEADER_BYTES,
    LEADER_EPOCH_AT,
    LOG_APPEND_TIME_BIT,
    LOG_OVERHEAD_BYTES,
    MAGIC,
    MAX_TIMESTAMP_AT,
    TRANSACTIONAL_BIT,
    BatchHeader,
    TimestampType,
)
from trivium.records.record import Record, Section
from trivium.wire.buffer import Buffer
from trivium.wire.errors import EncodeError
from trivium.wire.limits import BATCH_BYTES_MAX, DECOMPRESSED_BYTES_MAX

__all__ = [
    "HEADER_BYTES",
    "LOG_OVERHEAD_BYTES",
    "MAGIC",
    "BatchHeader",
    "TimestampType",
    "build_batch",
    "build_batch_of_values",
    "check_batch",
    "check_batches",
    "find_latest",
    "find_timestamp",
    "iter_batches",
    "iter_records",
    "read_header",
    "read_section",
    "retain",
    "scan_keys",
    "seal",
    "sound_run",
    "stamp",
    "stamp_all",
    "stamp_append_time",
    "stamp_max_timestamp",
    "validate_records",
    "walk_batches",
]

NO_TIMESTAMP = -1
NO_PRODUCER_ID = -1
NO_PRODUCER_EPOCH = -1
NO_SEQUENCE = -1
NO_LEADER_EPOCH = -1

_INT16 = Struct(">h")
_INT32 = Struct(">i")
_INT64 = Struct(">q")
_UINT32 = Struct(">I")


def read_header(buffer: Buffer, position: int = 0) -> BatchHeader:
    """The header at ``position``: right magic, plausible length, no more. The records may be missing."""
    return kernel.read_header(buffer, position)


def check_batch(buffer: Buffer, position: int = 0) -> BatchHeader:
    """The header of the batch at ``position`` after everything that can be proved without looking inside."""
    return kernel.check_batch(buffer, position)


def check_batches(buffer: Buffer) -> list[tuple[int, BatchHeader]]:
    """What ``iter_batches`` gives, at once: all of them are sound, or ``DecodeError``."""
    return kernel.check_batches(buffer)


def walk_batches(buffer: Buffer) -> tuple[list[tuple[int, BatchHeader]], int]:
    """Position and header of each batch up to the first that is not there whole, or is none; and where that
    one begins. Only headers are looked at.
    """
    return kernel.walk_batches(buffer)


def sound_run(
    buffer: Buffer, base_offset: int, leader_epoch: int, offset: int, bytes_max: int, offset_end: int
) -> tuple[int, int, int, int]:
    """Where the batches begin and end in ``buffer`` that a read from ``offset`` takes, and the offset and the
    leader epoch after them. All batches up to there are checked, and follow one another without a gap from
    ``base_offset`` on; or ``DecodeError``.
    """
    return kernel.sound_run(buffer, base_offset, leader_epoch, offset, bytes_max, offset_end)


def iter_batches(buffer: Buffer) -> Iterator[tuple[int, BatchHeader]]:
    """Position and header of every batch, each checked, one directly after the other up to the last byte."""
    position, end = 0, len(buffer)
    while position < end:
        header = check_batch(buffer, position)
        yield position, header
        position += header.size_bytes


def stamp(batch: bytearray | memoryview, position: int, base_offset: int, leader_epoch: int) -> None:
    """Write the broker's offset and epoch into a batch. The checksum covers neither."""
    _INT64.pack_into(batch, position, base_offset)
    _INT32.pack_into(batch, position + LEADER_EPOCH_AT, leader_epoch)


def stamp_all(
    data: bytearray | memoryview,
    batches: Sequence[tuple[int, BatchHeader]],
    base_offset: int,
    leader_epoch: int,
) -> tuple[list[tuple[int, BatchHeader]], int, int]:
    """``stamp`` batches that follow one another, given by position and header; they are numbered from
    ``base_offset`` on. Returns them as they are now, the offset after the last, and their youngest timestamp.
    """
    return kernel.stamp_all(data, batches, base_offset, leader_epoch)


def stamp_append_time(batch: bytearray | memoryview, position: int, timestamp_ms: int) -> None:
    """Make ``timestamp_ms`` the time of every record (log append time), and the checksum agree."""
    attributes = read_header(batch, position).attributes
    _INT16.pack_into(batch, position + ATTRIBUTES_AT, attributes | LOG_APPEND_TIME_BIT)
    stamp_max_timestamp(batch, position, timestamp_ms)


def stamp_max_timestamp(batch: bytearray | memoryview, position: int, timestamp_ms: int) -> None:
    """Say which is the latest time in a batch, and make the checksum agree."""
    _INT64.pack_into(batch, position + MAX_TIMESTAMP_AT, timestamp_ms)
    end = position + read_header(batch, position).size_bytes
    _UINT32.pack_into(batch, position + CRC_AT, crc32c(batch, position + ATTRIBUTES_AT, end))


def stamp_producer(
    batch: bytearray, producer_id: int, producer_epoch: int, base_sequence: int, *, transactional: bool
) -> None:
    """Say who sends a batch that was built before that was known."""
    header = read_header(batch)._replace(
        producer_id=producer_id, producer_epoch=producer_epoch, base_sequence=base_sequence
    )
    attributes = header.attributes & ~TRANSACTIONAL_BIT | transactional * TRANSACTIONAL_BIT
    HEADER.pack_into(batch, 0, *header._replace(attributes=attributes))
    _UINT32.pack_into(batch, CRC_AT, crc32c(batch, ATTRIBUTES_AT))


def build_batch(
    records: Sequence[Record],
    *,
    base_offset: int = 0,
    compression: Compression = Compression.NONE,
    timestamp_type: TimestampType = TimestampType.CREATE_TIME,
    leader_epoch: int = NO_LEADER_EPOCH,
    producer_id: int = NO_PRODUCER_ID,
    producer_epoch: int = NO_PRODUCER_EPOCH,
    base_sequence: int = NO_SEQUENCE,
    transactional: bool = False,
    control: bool = False,
    delete_horizon_ms: int | None = None,
) -> bytes:
    """A batch of these records, numbered from ``base_offset`` on; their own ``offset`` does not count."""
    if not records:
        raise EncodeError("a batch needs a record")
    try:
        packed = kernel.build(records, delete_horizon_ms)
    except UnicodeEncodeError as error:
        raise EncodeError(f"a header name that no bytes can stand for: {error.reason}") from error
    attributes = (
        timestamp_type * LOG_APPEND_TIME_BIT
        | transactional * TRANSACTIONAL_BIT
        | control * CONTROL_BIT
        | (delete_horizon_ms is not None) * DELETE_HORIZON_BIT
    )
    data, count, base_timestamp, max_timestamp = packed
    times_and_producer = base_timestamp, max_timestamp, producer_id, producer_epoch, base_sequence
    return _sealed(
        (base_offset, 0, leader_epoch, MAGIC, 0, attributes, count - 1, *times_and_producer, count),
        data,
        compression,
    )


def build_batch_of_values(values: Sequence[bytes], timestamp: int) -> bytes:
    """A batch of records that have a value and nothing else, all of one time."""
    if not values:
        raise EncodeError("a batch needs a record")
    packed = kernel.build_values(values, timestamp)
    header = BatchHeader(
        base_offset=0,
        batch_length=0,
        leader_epoch=NO_LEADER_EPOCH,
        magic=MAGIC,
        crc=0,
        attributes=0,
        last_offset_delta=packed.records_count - 1,
        base_timestamp=timestamp,
        max_timestamp=timestamp,
        producer_id=NO_PRODUCER_ID,
        producer_epoch=NO_PRODUCER_EPOCH,
        base_sequence=NO_SEQUENCE,
        records_count=packed.records_count,
    )
    return seal(header, packed.data, Compression.NONE)


def seal(
    header: BatchHeader, records: bytes | bytearray, compression: Compression, level: int | None = None
) -> bytes:
    """The batch of this header and these records: compressed, with length, codec and checksum set."""
    return _sealed(header, records, compression, level)


def _sealed(
    header: tuple[int, ...], records: bytes | bytearray, compression: Compression, level: int | None = None
) -> bytes:
    """``seal`` for somebody who needs no header: most batches are built, and never looked at again."""
    block = compress(compression, records, level) if compression else records
    size_bytes = HEADER_BYTES + len(block)
    if size_bytes > BATCH_BYTES_MAX:
        raise EncodeError(f"a batch of {size_bytes} bytes is larger than {BATCH_BYTES_MAX}")
    batch = bytearray(HEADER_BYTES)
    batch += block
    base_offset, _, leader_epoch, magic, crc, attributes, *rest = header
    batch_length, attributes = size_bytes - LOG_OVERHEAD_BYTES, attributes & ~COMPRESSION_BITS | compression
    try:
        HEADER.pack_into(batch, 0, base_offset, batch_length, leader_epoch, magic, crc, attributes, *rest)
    except struct_error as error:
        raise EncodeError(f"a batch header cannot hold {header}") from error
    _UINT32.pack_into(batch, CRC_AT, crc32c(batch, ATTRIBUTES_AT))
    return bytes(batch)


def read_section(
    buffer: Buffer, position: int = 0, *, decompressed_max: int = DECOMPRESSED_BYTES_MAX
) -> Section:
    """The records of the batch at ``position``, checked and decompressed, for the kernel to walk over."""
    header = check_batch(buffer, position)
    block = memoryview(buffer)[position + HEADER_BYTES : position + header.size_bytes]
    # A batch that compaction has emptied keeps its header and nothing else, not even an empty block.
    data = decompress(header.compression, block, decompressed_max) if header.records_count else b""
    is_append_time = header.attributes & LOG_APPEND_TIME_BIT
    return Section(
        data=data,
        records_count=header.records_count,
        base_offset=header.base_offset,
        last_offset_delta=header.last_offset_delta,
        base_timestamp=header.base_timestamp,
        append_timestamp=header.max_timestamp if is_append_time else None,
    )


def iter_records(
    buffer: Buffer, position: int = 0, *, decompressed_max: int = DECOMPRESSED_BYTES_MAX
) -> Iterator[Record]:
    """The records of the batch at ``position``, one at a time; damage may show after some of them."""
    return kernel.parse(read_section(buffer, position, decompressed_max=decompressed_max))


def validate_records(
    buffer: Buffer,
    position: int = 0,
    *,
    keys_required: bool = False,
    decompressed_max: int = DECOMPRESSED_BYTES_MAX,
) -> int:
    """Check the inside of a produced batch; the youngest timestamp in it.

    Every offset of the batch's range has its record, lengths agree to the last byte, and where the topic
    is compacted every record has a key.
    """
    section = read_section(buffer, position, decompressed_max=decompressed_max)
    return kernel.check(section, keys_required)


def retain(
    buffer: Buffer,
    keep: bytes,
    *,
    position: int = 0,
    delete_horizon_ms: int | None = None,
    decompressed_max: int = DECOMPRESSED_BYTES_MAX,
) -> bytes:
    """The batch with only those records whose byte in ``keep`` is not zero.

    Offsets, the range of offsets, epoch, producer and sequence stay: a producer's next sequence is
    counted from them. For the same reason a batch that loses all records is left as a bare header; who
    does not need its producer any more drops it. ``delete_horizon_ms`` is when tombstones and
    markers in the batch may go; a batch that has a horizon keeps it.
    """
    section = read_section(buffer, position, decompressed_max=decompressed_max)
    header = read_header(buffer, position)
    sets_horizon = delete_horizon_ms is not None and not header.has_delete_horizon
    base_timestamp = header.base_timestamp if header.has_delete_horizon else delete_horizon_ms
    packed = kernel.retain(section, keep, base_timestamp)
    if packed.records_count == 0:
        bare = header._replace(
            attributes=header.attributes & ~DELETE_HORIZON_BIT, base_timestamp=NO_TIMESTAMP, records_count=0
        )
        return seal(bare, b"", Compression.NONE)
    if packed.records_count == header.records_count and not sets_horizon:
        return bytes(memoryview(buffer)[position : position + header.size_bytes])
    kept = header._replace(
        attributes=header.attributes | DELETE_HORIZON_BIT * sets_horizon,
        base_timestamp=packed.base_timestamp,
        max_timestamp=packed.max_timestamp,
        records_count=packed.records_count,
    )
    return seal(kept, packed.data, header.compression)


def scan_keys(
    buffer: Buffer, position: int = 0, *, decompressed_max: int = DECOMPRESSED_BYTES_MAX
) -> Iterator[tuple[int, bytes | None, bool]]:
    """Offset, key, and whether it has a value, of every record: what compaction decides by."""
    return kernel.scan_keys(read_section(buffer, position, decompressed_max=decompressed_max))


def find_timestamp(
    buffer: Buffer,
    position: int = 0,
    *,
    timestamp: int,
    decompressed_max: int = DECOMPRESSED_BYTES_MAX,
) -> tuple[int, int] | None:
    """Offset and timestamp of the first record not older than ``timestamp``."""
    return kernel.find_timestamp(read_section(buffer, position, decompressed_max=decompressed_max), timestamp)


def find_latest(
    buffer: Buffer, position: int = 0, *, decompressed_max: int = DECOMPRESSED_BYTES_MAX
) -> tuple[int, int] | None:
    """Offset and timestamp of the youngest record, the first one where several are equally young."""
    return kernel.find_latest(read_section(buffer, position, decompressed_max=decompressed_max))
