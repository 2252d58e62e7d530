"""Record batches of format v2: header, checksum, stamping, building, reading.

A broker checks the header and the checksum, stamps its offset and epoch into the first 16 bytes, which
the checksum leaves out for that reason, and never looks inside. Whoever does look inside (compaction,
bridging between protocols, Arrow) goes through ``build_batch``, ``iter_records`` and ``retain``; their
loops run in the kernel.

::

    offset  size  field
         0     8  base offset            absolute; the first record's offset delta is relative to it
         8     4  batch length           bytes that follow this field
        12     4  partition leader epoch
        16     1  magic                  2
        17     4  crc                    CRC-32C of all that follows this field
        21     2  attributes             bits 0-2 compression, 3 timestamp type (1 = log append time),
                                         4 transactional, 5 control, 6 delete horizon
        23     4  last offset delta      survives compaction: the batch keeps its range of offsets
        27     8  base timestamp         record timestamps are deltas to it; with bit 6 it is the horizon
        35     8  max timestamp          with bit 3 the timestamp of every record
        43     8  producer id            -1 when not idempotent
        51     2  producer epoch
        53     4  base sequence
        57     4  records count
        61     …  records                one compressed block, or plain (layout: kernel)

All integers are big-endian and signed, the crc excepted.
"""

from collections.abc import Iterator, Sequence
from enum import IntEnum
from struct import Struct
from struct import error as struct_error
from typing import NamedTuple

from trivium.records import kernel
from trivium.records.compression import Compression, compress, decompress
from trivium.records.crc import crc32c
from trivium.records.record import RECORD_BYTES_MIN, Record, Section
from trivium.wire.buffer import Buffer
from trivium.wire.errors import DecodeError, EncodeError
from trivium.wire.limits import BATCH_BYTES_MAX, DECOMPRESSED_BYTES_MAX

HEADER_BYTES = 61
LOG_OVERHEAD_BYTES = 12
"""Base offset and batch length: what the length field does not count."""

MAGIC = 2
NO_TIMESTAMP = -1
NO_PRODUCER_ID = -1
NO_PRODUCER_EPOCH = -1
NO_SEQUENCE = -1
NO_LEADER_EPOCH = -1

_HEADER = Struct(">qiibIhiqqqhii")
_INT16 = Struct(">h")
_INT32 = Struct(">i")
_INT64 = Struct(">q")
_UINT32 = Struct(">I")

_LEADER_EPOCH_AT = 12
_CRC_AT = 17
_ATTRIBUTES_AT = 21
_MAX_TIMESTAMP_AT = 35

_COMPRESSION_BITS = 0x07
_LOG_APPEND_TIME_BIT = 0x08
_TRANSACTIONAL_BIT = 0x10
_CONTROL_BIT = 0x20
_DELETE_HORIZON_BIT = 0x40

_OFFSET_MAX = (1 << 63) - 1


class TimestampType(IntEnum):
    """Whose clock a batch's timestamps are."""

    CREATE_TIME = 0
    LOG_APPEND_TIME = 1


class BatchHeader(NamedTuple):
    """The fixed part of a batch, field for field."""

    base_offset: int
    batch_length: int
    leader_epoch: int
    magic: int
    crc: int
    attributes: int
    last_offset_delta: int
    base_timestamp: int
    max_timestamp: int
    producer_id: int
    producer_epoch: int
    base_sequence: int
    records_count: int

    @property
    def size_bytes(self) -> int:
        return self.batch_length + LOG_OVERHEAD_BYTES

    @property
    def last_offset(self) -> int:
        return self.base_offset + self.last_offset_delta

    @property
    def offset_end(self) -> int:
        return self.base_offset + self.last_offset_delta + 1

    @property
    def compression(self) -> Compression:
        """Raises ``DecodeError`` for the codes that nobody has given out."""
        return Compression.of(self.attributes & _COMPRESSION_BITS)

    @property
    def timestamp_type(self) -> TimestampType:
        if self.attributes & _LOG_APPEND_TIME_BIT:
            return TimestampType.LOG_APPEND_TIME
        return TimestampType.CREATE_TIME

    @property
    def is_transactional(self) -> bool:
        return bool(self.attributes & _TRANSACTIONAL_BIT)

    @property
    def is_control(self) -> bool:
        return bool(self.attributes & _CONTROL_BIT)

    @property
    def has_delete_horizon(self) -> bool:
        return bool(self.attributes & _DELETE_HORIZON_BIT)


def read_header(buffer: Buffer, position: int = 0) -> BatchHeader:
    """The header at ``position``: right magic, plausible length, no more. The records may be missing."""
    if len(buffer) - position < HEADER_BYTES:
        raise DecodeError(f"a batch header needs {HEADER_BYTES} bytes, {len(buffer) - position} are there")
    header = BatchHeader._make(_HEADER.unpack_from(buffer, position))
    if header.magic != MAGIC:
        raise DecodeError(f"batch format {MAGIC} was expected, found {header.magic}")
    if not HEADER_BYTES <= header.batch_length + LOG_OVERHEAD_BYTES <= BATCH_BYTES_MAX:
        raise DecodeError(f"no batch has the length {header.batch_length}")
    return header


def check_batch(buffer: Buffer, position: int = 0) -> BatchHeader:
    """The header of the batch at ``position`` after everything that can be proved without looking inside."""
    header = read_header(buffer, position)
    end = position + header.batch_length + LOG_OVERHEAD_BYTES
    if end > len(buffer):
        raise DecodeError(f"a batch is {end - position} bytes long, {len(buffer) - position} are there")
    if crc32c(buffer, position + _ATTRIBUTES_AT, end) != header.crc:
        raise DecodeError("the checksum of a batch does not match its bytes")
    _check_counts(header)
    return header


def _check_counts(header: BatchHeader) -> None:
    delta, count = header.last_offset_delta, header.records_count
    # Compaction leaves gaps, so a batch may hold fewer records than its range of offsets, never more.
    if delta < 0 or not 0 <= count <= delta + 1:
        raise DecodeError(f"{count} records in {delta + 1} offsets")
    if not 0 <= header.base_offset <= _OFFSET_MAX - delta - 1:
        raise DecodeError(f"no partition reaches from offset {header.base_offset}")
    if header.attributes & _COMPRESSION_BITS:
        Compression.of(header.attributes & _COMPRESSION_BITS)  # refuses the codes that nobody has given out
        return
    records_bytes = header.batch_length + LOG_OVERHEAD_BYTES - HEADER_BYTES
    if count * RECORD_BYTES_MIN > records_bytes or (count == 0 and records_bytes):
        raise DecodeError(f"{count} records in {records_bytes} bytes")


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
    _INT32.pack_into(batch, position + _LEADER_EPOCH_AT, leader_epoch)


def stamp_append_time(batch: bytearray | memoryview, position: int, timestamp_ms: int) -> None:
    """Make ``timestamp_ms`` the time of every record (log append time), and the checksum agree."""
    header = read_header(batch, position)
    _INT16.pack_into(batch, position + _ATTRIBUTES_AT, header.attributes | _LOG_APPEND_TIME_BIT)
    _INT64.pack_into(batch, position + _MAX_TIMESTAMP_AT, timestamp_ms)
    end = position + header.size_bytes
    _UINT32.pack_into(batch, position + _CRC_AT, crc32c(batch, position + _ATTRIBUTES_AT, end))


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
    packed = kernel.build(records, delete_horizon_ms)
    attributes = (
        timestamp_type * _LOG_APPEND_TIME_BIT
        | transactional * _TRANSACTIONAL_BIT
        | control * _CONTROL_BIT
        | (delete_horizon_ms is not None) * _DELETE_HORIZON_BIT
    )
    header = BatchHeader(
        base_offset=base_offset,
        batch_length=0,
        leader_epoch=leader_epoch,
        magic=MAGIC,
        crc=0,
        attributes=attributes,
        last_offset_delta=packed.records_count - 1,
        base_timestamp=packed.base_timestamp,
        max_timestamp=packed.max_timestamp,
        producer_id=producer_id,
        producer_epoch=producer_epoch,
        base_sequence=base_sequence,
        records_count=packed.records_count,
    )
    return seal(header, packed.data, compression)


def seal(header: BatchHeader, records: bytes | bytearray, compression: Compression) -> bytes:
    """The batch of this header and these records: compressed, with length, codec and checksum set."""
    block = compress(compression, records)
    size_bytes = HEADER_BYTES + len(block)
    if size_bytes > BATCH_BYTES_MAX:
        raise EncodeError(f"a batch of {size_bytes} bytes is larger than {BATCH_BYTES_MAX}")
    batch = bytearray(HEADER_BYTES)
    batch += block
    sealed = header._replace(
        batch_length=size_bytes - LOG_OVERHEAD_BYTES,
        attributes=header.attributes & ~_COMPRESSION_BITS | compression,
    )
    try:
        _HEADER.pack_into(batch, 0, *sealed)
    except struct_error as error:
        raise EncodeError(f"a batch header cannot hold {sealed}") from error
    _UINT32.pack_into(batch, _CRC_AT, crc32c(batch, _ATTRIBUTES_AT))
    return bytes(batch)


def read_section(
    buffer: Buffer, position: int = 0, *, decompressed_max: int = DECOMPRESSED_BYTES_MAX
) -> Section:
    """The records of the batch at ``position``, checked and decompressed, for the kernel to walk over."""
    header = check_batch(buffer, position)
    block = memoryview(buffer)[position + HEADER_BYTES : position + header.size_bytes]
    # A batch that compaction has emptied keeps its header and nothing else, not even an empty block.
    data = decompress(header.compression, block, decompressed_max) if header.records_count else b""
    is_append_time = header.attributes & _LOG_APPEND_TIME_BIT
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
            attributes=header.attributes & ~_DELETE_HORIZON_BIT, base_timestamp=NO_TIMESTAMP, records_count=0
        )
        return seal(bare, b"", Compression.NONE)
    if packed.records_count == header.records_count and not sets_horizon:
        return bytes(memoryview(buffer)[position : position + header.size_bytes])
    kept = header._replace(
        attributes=header.attributes | _DELETE_HORIZON_BIT * sets_horizon,
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
