"""What may be wrong with a batch that somebody wants to write, before anybody asks where it goes.

Header and checksum are looked at for every batch, and nothing else: its records stay closed. Only where a
topic asks for something about single records (keys, because it is compacted; times that are not too old) or
where the header's times cannot be (too far ahead, or the first after the latest) the batch is opened, and the
answer names the records. A header that was wrong about its latest time is put right then: nothing would
ever be expired by a time that never comes.
"""

from collections.abc import Sequence
from typing import Final

from trivium.core.commands.records import RecordError
from trivium.core.faults import Fault, Refused
from trivium.core.partition import Rules
from trivium.records.batch import (
    LOG_OVERHEAD_BYTES,
    NO_TIMESTAMP,
    BatchHeader,
    TimestampType,
    check_batches,
    iter_records,
    scan_keys,
    stamp_max_timestamp,
    validate_records,
)
from trivium.records.header import CONTROL_BIT, LOG_APPEND_TIME_BIT
from trivium.wire.buffer import Buffer
from trivium.wire.errors import DecodeError

ANY_AGE_MS: Final = 2**63 - 1
"""``message.timestamp.before.max.ms`` and ``.after.max.ms`` when they are not to be checked."""
_NOT_FOR_CLIENTS: Final = CONTROL_BIT | LOG_APPEND_TIME_BIT
RECORD_ERRORS_MAX: Final = 100
"""So many records are named one by one; the answer to a hopeless batch should not be larger than it."""

Batches = Sequence[tuple[int, BatchHeader]]
"""Where each batch begins, and its header."""


class RecordsRefused(Refused):
    """Refused because of single records."""

    def __init__(self, fault: Fault, message: str, record_errors: Sequence[RecordError]) -> None:
        super().__init__(fault, message)
        self.record_errors = record_errors


def checked_batches(data: Buffer, rules: Rules, made: Batches | None = None) -> Batches:
    """The batches of ``data``, if each is sound and a client may write it. Those that were ``made`` here are
    sound; what the topic takes is asked of them, too.
    """
    try:
        batches = check_batches(data) if made is None else made
    except DecodeError as error:
        raise Refused(Fault.CORRUPT_MESSAGE, f"The records cannot be read: {error}.") from error
    for _, header in batches:
        offset, length, _, _, _, attributes, delta, _, _, producer_id, _, sequence, count = header
        # All in one question: nearly every batch is as it should be.
        if (
            length > rules.max_message_bytes - LOG_OVERHEAD_BYTES
            or offset
            or count != delta + 1
            or attributes & _NOT_FOR_CLIENTS
            or (producer_id >= 0 and sequence < 0)
        ):
            raise _refusal(header, rules)
    return batches


def _refusal(header: BatchHeader, rules: Rules) -> Refused:
    """Why a batch is not taken."""
    count, offsets = header.records_count, header.last_offset_delta + 1
    if header.size_bytes > rules.max_message_bytes:
        return too_large(header.size_bytes, rules)
    if header.base_offset:
        first = header.base_offset
        return Refused(
            Fault.INVALID_RECORD,
            f"A batch is numbered from {first} on: begin with 0, offsets are given by the broker.",
        )
    if count != offsets:
        # Compaction leaves batches with fewer records than offsets. Whoever writes has not compacted.
        return Refused(Fault.INVALID_RECORD, f"A batch of {count} records spans {offsets} offsets.")
    if header.is_control:
        return Refused(Fault.INVALID_RECORD, "Control records are written by the broker only.")
    if header.timestamp_type is TimestampType.LOG_APPEND_TIME:
        return Refused(Fault.INVALID_TIMESTAMP, "The time of appending is for the broker to set.")
    return Refused(
        Fault.INVALID_RECORD,
        f"Producer {header.producer_id} sends a batch without a sequence ({header.base_sequence}).",
    )


def too_large(size_bytes: int, rules: Rules) -> Refused:
    return Refused(
        Fault.MESSAGE_TOO_LARGE,
        f"A batch of {size_bytes} bytes, and max.message.bytes of this topic is {rules.max_message_bytes}: "
        "send smaller batches, or raise it.",
    )


def check_records(data: memoryview, batches: Batches, rules: Rules, now_ms: int) -> Batches:
    """Whether single records break a rule of the topic. Opens a batch only if one might. Returns the batches
    as they are then.
    """
    is_corrected = False
    for position, header in batches:
        if rules.compacted:
            _check_keys(data, position)
        if not rules.append_time and (
            header.max_timestamp - now_ms > rules.timestamp_after_max_ms
            or not NO_TIMESTAMP <= header.base_timestamp <= header.max_timestamp
            or rules.timestamp_before_max_ms != ANY_AGE_MS
        ):
            latest_ms = _check_times(data, position, rules, now_ms)
            if latest_ms != header.max_timestamp:
                stamp_max_timestamp(data, position, latest_ms)
                is_corrected = True
    return check_batches(data) if is_corrected else batches


def check_inside(data: Buffer, position: int) -> None:
    """Whether the records of a batch are what its header says."""
    try:
        validate_records(data, position)
    except DecodeError as error:
        raise Refused(Fault.INVALID_RECORD, f"The records of a batch cannot be read: {error}.") from error


def _check_keys(data: Buffer, position: int) -> None:
    check_inside(data, position)
    missing = [number for number, (_, key, _) in enumerate(scan_keys(data, position)) if key is None]
    if missing:
        raise RecordsRefused(
            Fault.INVALID_RECORD,
            f"{len(missing)} records have no key, and this topic is compacted by key.",
            [
                RecordError(number, "A record of a compacted topic needs a key.")
                for number in missing[:RECORD_ERRORS_MAX]
            ],
        )


def _check_times(data: Buffer, position: int, rules: Rules, now_ms: int) -> int:
    """Whether the client's clock is near enough to ours. Returns the latest time."""
    check_inside(data, position)
    oldest_ms, youngest_ms = now_ms - rules.timestamp_before_max_ms, now_ms + rules.timestamp_after_max_ms
    times = [record.timestamp for record in iter_records(data, position)]
    wrong = [
        (number, timestamp)
        for number, timestamp in enumerate(times)
        if timestamp != NO_TIMESTAMP and not oldest_ms <= timestamp <= youngest_ms
    ]
    if wrong:
        raise RecordsRefused(
            Fault.INVALID_TIMESTAMP,
            f"{len(wrong)} records have a timestamp outside [{oldest_ms}, {youngest_ms}] "
            "(message.timestamp.before.max.ms, message.timestamp.after.max.ms): set the client's clock.",
            [
                RecordError(number, f"Timestamp {timestamp} is outside [{oldest_ms}, {youngest_ms}].")
                for number, timestamp in wrong[:RECORD_ERRORS_MAX]
            ],
        )
    return max(NO_TIMESTAMP, *times)
