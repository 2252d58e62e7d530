"""The bridge between Iggy's messages and Kafka's batches, both ways; its rules are in docs/one-truth.md.

It knows bytes, no session: which generation a client belongs to, and which code an error has, is decided at
Iggy's door. The loops are in the kernel; here is what needs no speed.
"""

from collections.abc import Sequence
from functools import lru_cache
from hashlib import blake2b

from trivium.records import kernel
from trivium.records.batch import read_header, read_section
from trivium.records.message import (
    LONG_HEADER_BYTES,
    SHORT_HEADER_BYTES,
    BadMessages,
    Flaw,
    Kind,
    PolledMessages,
    SentMessages,
)
from trivium.records.visibility import AbortedTransaction, Visibility
from trivium.wire.buffer import Buffer

__all__ = [
    "LONG_HEADER_BYTES",
    "SHORT_HEADER_BYTES",
    "BadMessages",
    "Flaw",
    "Kind",
    "PolledMessages",
    "Sending",
    "SentMessages",
    "batches_from_messages",
    "begin_sending",
    "messages_from_batches",
    "place_of",
]

Sending = kernel.Sending

BATCH_BYTES_MAX_DEFAULT = 1_048_588
"""What a topic takes unless it says otherwise: Kafka's default of ``max.message.bytes``."""

POLL_BYTES_MAX = 16 << 20
"""Messages of one answer. Small or compressed records grow on their way into messages; whoever wants more
polls again, as fewer messages than asked for are no sign of the end."""


PLACES_MAX = 1_024
"""Partitions whose eight bytes are kept."""


def batches_from_messages(
    data: Buffer, count: int, *, now_us: int, batch_bytes_max: int = BATCH_BYTES_MAX_DEFAULT
) -> SentMessages:
    """The messages of a ``SEND_MESSAGES``: all that follows its ``messages_count``, the index table first.

    They share the server's timestamp ``now_us``. A batch ends before the message that would make it larger
    than ``batch_bytes_max``; a message that is larger alone has a batch alone, for the topic to judge.
    ``BadMessages`` says what is wrong, and in ``flaw`` which of Iggy's errors that is.
    """
    return kernel.batches_from_messages(data, count, now_us, batch_bytes_max)


def begin_sending(
    count: int, now_us: int, room_bytes: int, batch_bytes_max: int = BATCH_BYTES_MAX_DEFAULT
) -> Sending:
    """The same for messages that are still coming in: ``begun`` is shown what is there, as often as there is
    more, and ``whole`` everything. ``room_bytes`` is the memory to begin with.
    """
    return kernel.Sending(count, now_us, batch_bytes_max, room_bytes)


def messages_from_batches(
    runs: Sequence[Buffer],
    *,
    aborted: Sequence[AbortedTransaction],
    offset_first: int,
    count_max: int,
    header_bytes: int,
    place: bytes,
    bytes_max: int = POLL_BYTES_MAX,
) -> PolledMessages:
    """The first ``count_max`` records from ``offset_first`` on, as messages for a client of this header size.

    Control records and records of aborted transactions are left out. There is one message at least if there
    is a record; further ones stop at ``bytes_max``. ``place`` (``place_of``) makes the ids of records that
    have none.
    """
    visibility = Visibility(aborted)
    messages = kernel.Messages(offset_first, count_max, bytes_max, header_bytes, place)
    for run in runs:
        position = messages.take_run(run, 0, bool(aborted))
        while 0 <= position < len(run):
            header = read_header(run, position)
            is_wanted = visibility.sees(run, position, header) and header.last_offset >= offset_first
            if is_wanted and not messages.take(read_section(run, position)):
                return messages.taken()
            messages.pass_over(header.offset_end)
            position = messages.take_run(run, position + header.size_bytes, bool(aborted))
        if position < 0:
            break
    return messages.taken()


@lru_cache(maxsize=PLACES_MAX)
def place_of(topic_id: bytes, partition: int) -> bytes:
    """Eight bytes for a partition like no other, of which the ids of its messages are made."""
    return blake2b(topic_id + partition.to_bytes(4, "little"), digest_size=8).digest()
