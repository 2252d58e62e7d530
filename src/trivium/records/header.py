"""The fixed part of a batch of format v2, and what its bits mean.

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

All integers are big-endian and signed, the crc excepted. It lives apart from ``batch`` because the kernel
reads and makes headers, and ``batch`` uses the kernel.
"""

from enum import IntEnum
from struct import Struct
from typing import NamedTuple

from trivium.records.compression import Compression

HEADER_BYTES = 61
LOG_OVERHEAD_BYTES = 12
"""Base offset and batch length: what the length field does not count."""

MAGIC = 2

HEADER = Struct(">qiibIhiqqqhii")
LEADER_EPOCH_AT = 12
CRC_AT = 17
ATTRIBUTES_AT = 21
MAX_TIMESTAMP_AT = 35

COMPRESSION_BITS = 0x07
LOG_APPEND_TIME_BIT = 0x08
TRANSACTIONAL_BIT = 0x10
CONTROL_BIT = 0x20
DELETE_HORIZON_BIT = 0x40


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
        return Compression.of(self.attributes & COMPRESSION_BITS)

    @property
    def timestamp_type(self) -> TimestampType:
        if self.attributes & LOG_APPEND_TIME_BIT:
            return TimestampType.LOG_APPEND_TIME
        return TimestampType.CREATE_TIME

    @property
    def is_transactional(self) -> bool:
        return bool(self.attributes & TRANSACTIONAL_BIT)

    @property
    def is_control(self) -> bool:
        return bool(self.attributes & CONTROL_BIT)

    @property
    def has_delete_horizon(self) -> bool:
        return bool(self.attributes & DELETE_HORIZON_BIT)
