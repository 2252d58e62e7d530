"""Iggy's unit of data, the message: its layout, its limits, and the ways in which a set of them can be wrong.

What a client sends is a table of 16 bytes a message, then the messages; what it polls is messages alone.
Everything is little-endian::

    index entry   offset u32, 0 | where the message ends, counted from the first message's start, u32
                  | timestamp u64, 0

    message    0   8  checksum            by the server: XXH3-64 of all that follows this field
               8  16  id                  0 asks the server to choose
              24   8  offset              by the server
              32   8  timestamp           by the server, microseconds
              40   8  origin timestamp    the sender's clock, microseconds
              48   4  user headers length
              52   4  payload length
              56   8  reserved, 0         only where the header has 64 bytes (Iggy 0.7 and 0.8)
           56/64   …  payload
               …   …  user headers        side by side, to the end of the message

    user header   [key kind u8] | key length u32 | key | value kind u8 | value length u32 | value

The kind of a key is there where the message header has 64 bytes; before that every key was text. It lives
apart from ``iggy`` because the kernel reads and makes messages, and ``iggy`` uses the kernel.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum, IntEnum

from trivium.records.header import BatchHeader
from trivium.wire.errors import DecodeError

INDEX_ENTRY_BYTES = 16
SHORT_HEADER_BYTES = 56
"""Of a message of Iggy 0.5 and 0.6."""
LONG_HEADER_BYTES = 64
"""Of a message of Iggy 0.7 and 0.8, whose user headers have typed keys."""


class Kind(IntEnum):
    """What a key or value of a user header is. Numbers are little-endian and have their natural size."""

    RAW = 1
    STRING = 2
    BOOL = 3
    INT8 = 4
    INT16 = 5
    INT32 = 6
    INT64 = 7
    INT128 = 8
    UINT8 = 9
    UINT16 = 10
    UINT32 = 11
    UINT64 = 12
    UINT128 = 13
    FLOAT32 = 14
    FLOAT64 = 15


KIND_BYTES = bytes((0, 0, 0, 1, 1, 2, 4, 8, 16, 1, 2, 4, 8, 16, 4, 8))
"""The size of a value by its kind; 0 where any from 1 to 255 will do."""


class Flaw(Enum):
    """What is wrong with messages that a client sent. Each has an error of its own in Iggy."""

    COUNT = "there are no messages"
    INDEX_OFFSET = "an offset in the index"
    INDEX_TIMESTAMP = "a timestamp in the index"
    INDEX_ORDER = "a message in the index ends before it begins"
    INDEX = "the index and the messages contradict each other"
    TOO_SMALL = "a message is smaller than its header"
    SIZE = "the lengths of a message contradict its size"
    PAYLOAD_TOO_BIG = "a payload is too long"
    HEADERS_TOO_BIG = "the user headers of a message are too long"
    HEADER_KEY = "the key of a user header"
    HEADER_VALUE = "the value of a user header"
    HEADER_KIND = "the kind of a user header"
    RESERVED = "the reserved bytes are not zero"


class BadMessages(DecodeError):
    """Messages that nobody can take; nothing of them was."""

    def __init__(self, flaw: Flaw, text: str) -> None:
        super().__init__(text)
        self.flaw = flaw


@dataclass(frozen=True, slots=True)
class SentMessages:
    """What a client sent, ready to be produced."""

    batches: bytearray
    """One or more Kafka batches, side by side, without compression; offsets are stamped into them later."""
    headers: Sequence[tuple[int, BatchHeader]]
    """Where each of them begins, and its header."""
    header_bytes: int
    """56 or 64, as the messages had it: what this client will want to poll."""


@dataclass(frozen=True, slots=True)
class PolledMessages:
    """Messages on their way to a client."""

    data: bytearray
    count: int
    offset_last: int
    """Of the last message, -1 without one: what an automatic commit stores."""
    offset_next: int
    """Where to read on. There may be records before it that nobody is shown."""
