"""Reading in a share group: a member acquires records, and says what has become of them.

Acquired records are locked for a while: nobody else gets them. What is neither accepted nor rejected in that
time is given out again, a limited number of times.
"""

from collections.abc import Sequence
from enum import IntEnum
from typing import ClassVar, NamedTuple

from trivium.core.access import Operation, Row, on_group
from trivium.core.commands.command import Command, command
from trivium.core.faults import Fault

SharePart = tuple[bytes, int]
"""A partition: the id of its topic, and its number."""


class Acknowledgement(IntEnum):
    """What has become of a record. The values are those of requests."""

    GAP = 0
    """There is no such record: compaction has taken it, or it is none for readers."""
    ACCEPT = 1
    RELEASE = 2
    """Somebody may try again."""
    REJECT = 3
    """Nobody shall try again."""
    RENEW = 4
    """It takes longer: the lock begins anew (KIP-1222)."""


class Acknowledged(NamedTuple):
    """Records from the first offset to the last, and what has become of all of them, or of each."""

    offset_first: int
    offset_last: int
    kinds: Sequence[int]
    """Values of ``Acknowledgement``, as the client sent them."""


class AcknowledgedPart(NamedTuple):
    part: SharePart
    ranges: Sequence[Acknowledged] = ()


class Acquired(NamedTuple):
    """Records that the member has from now on, and how often they were given out with this time."""

    offset_first: int
    offset_last: int
    delivery_count: int


class SharedPart(NamedTuple):
    """What became of one partition of a share fetch."""

    part: SharePart
    fault: Fault | None = None
    message: str | None = None
    acknowledge_fault: Fault | None = None
    acknowledge_message: str | None = None
    runs: Sequence[memoryview] = ()
    """Whole batches as they lie in the log: there may be records in them that were not acquired."""
    acquired: Sequence[Acquired] = ()


class SharedRecords(NamedTuple):
    fault: Fault | None = None
    message: str | None = None
    lock_timeout_ms: int = 0
    parts: Sequence[SharedPart] = ()


@command
class ShareFetch(Command[SharedRecords]):
    """``parts`` are those that the member's session is to have from now on, besides those that it has."""

    ROW: ClassVar[Row] = on_group(Operation.READ)
    group_id: str
    member_id: str
    session_epoch: int
    parts: Sequence[AcknowledgedPart]
    forgotten: Sequence[SharePart] = ()
    max_wait_ms: int = 0
    min_bytes: int = 0
    max_bytes: int = 0
    max_records: int = 0
    is_strict: bool = False
    """Never more than ``max_records`` (KIP-1206). Otherwise batches are not torn apart for it."""
    renews: bool = False
    """It brings renewals of locks, and wants no records."""
    can_renew: bool = True

    def refused(self, fault: Fault, message: str | None = None) -> SharedRecords:
        return SharedRecords(fault, message)


class AcknowledgedOutcome(NamedTuple):
    part: SharePart
    fault: Fault | None = None
    message: str | None = None


class ShareAcknowledged(NamedTuple):
    fault: Fault | None = None
    message: str | None = None
    lock_timeout_ms: int = 0
    parts: Sequence[AcknowledgedOutcome] = ()


@command
class ShareAcknowledge(Command[ShareAcknowledged]):
    ROW: ClassVar[Row] = on_group(Operation.READ)
    group_id: str
    member_id: str
    session_epoch: int
    parts: Sequence[AcknowledgedPart]
    renews: bool = False
    can_renew: bool = True

    def refused(self, fault: Fault, message: str | None = None) -> ShareAcknowledged:
        return ShareAcknowledged(fault, message)
