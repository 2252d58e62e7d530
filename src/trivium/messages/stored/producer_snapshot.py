"""Producers of a partition in its ``.snapshot`` file, behind an int16 version."""

from trivium.messages.schema import Message, Struct
from trivium.messages.types import Int16, Int32, Int64, UInt32


class ProducerEntry(Struct):
    producer_id: Int64
    epoch: Int16
    last_sequence: Int32
    last_offset: Int64
    offset_delta: Int32
    timestamp: Int64
    coordinator_epoch: Int32
    current_txn_first_offset: Int64


class ProducerSnapshot(Message, versions="1"):
    crc: UInt32
    producer_entries: list[ProducerEntry]
