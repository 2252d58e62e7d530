"""Batches as they stand in a step: recipes, since a producer's id is known only to the side that sends it."""

import struct
from dataclasses import dataclass, field

from trivium.records.batch import build_batch
from trivium.records.compression import Compression
from trivium.records.crc import crc32c
from trivium.records.header import ATTRIBUTES_AT, CRC_AT, HEADER, BatchHeader
from trivium.records.legacy import Message, build_message
from trivium.records.record import Record


@dataclass(frozen=True)
class Batch:
    """``changes`` are made to the finished header; ``sealed`` says whether the checksum knows of them."""

    values: tuple[bytes | None, ...] = (b"v",)
    key: bytes | None = b"k"
    timestamp: int = 1_700_000_000_000
    compression: int = 0
    producer_id: int = -1
    producer_epoch: int = -1
    base_sequence: int = -1
    transactional: bool = False
    changes: dict[str, int] = field(default_factory=dict)
    sealed: bool = True
    missing: int = 0
    """Bytes that are not there at the end."""
    garbage: bytes = b""
    """Bytes behind the batch."""
    broken_records: bool = False

    def built(self, producer_id: int) -> bytes:
        records = [
            Record(0, self.timestamp + number, self.key, value) for number, value in enumerate(self.values)
        ]
        batch = bytearray(
            build_batch(
                records,
                compression=Compression(self.compression),
                producer_id=producer_id,
                producer_epoch=self.producer_epoch,
                base_sequence=self.base_sequence,
                transactional=self.transactional,
            )
        )
        if self.broken_records:
            batch[HEADER.size] ^= 0x55
        header = BatchHeader(*HEADER.unpack_from(batch))._replace(**self.changes)
        HEADER.pack_into(batch, 0, *header)
        if self.sealed and "crc" not in self.changes:
            struct.pack_into(">I", batch, CRC_AT, crc32c(batch, ATTRIBUTES_AT))
        return bytes(batch[: len(batch) - self.missing]) + self.garbage


_MAGIC_LAST = 1
_MAGIC_AT = 16


@dataclass(frozen=True)
class OldMessages:
    """A message set of the formats before batches."""

    magic: int
    values: tuple[bytes, ...] = (b"v",)
    producer_id: int = -1

    def built(self, producer_id: int) -> bytes:
        return b"".join(self._message(number, value) for number, value in enumerate(self.values))

    def _message(self, number: int, value: bytes) -> bytes:
        known = min(self.magic, _MAGIC_LAST)
        message = bytearray(build_message(Message(number, known, 0, 1_700_000_000_000, b"k", value)))
        message[_MAGIC_AT] = self.magic
        return bytes(message)


@dataclass(frozen=True)
class Several:
    """Batches side by side."""

    batches: tuple[Batch, ...]
    producer_id: int = -1

    def built(self, producer_id: int) -> bytes:
        return b"".join(each.built(producer_id) for each in self.batches)


Recipe = Batch | OldMessages | Several
