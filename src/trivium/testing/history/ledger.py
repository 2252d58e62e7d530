"""What lies where, as far as the history has told: the memory that the detectors share.

``contents`` writes it, before any other detector sees the operation; they read. One entry for each record,
and nothing else that grows with the history.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from trivium.testing.history.anomaly import Witness
from trivium.testing.history.operation import Headers, Operation, Place, Poll


@dataclass(slots=True)
class Entry:
    """A record, by the first who told of it."""

    place: Place
    offset: int
    value: str
    told_by: Witness
    sent: Operation | None = None
    """Its send, once that has ended."""
    time_ms: int | None = None
    time_by: Witness | None = None
    headers: Headers | None = None
    headers_by: Witness | None = None
    shown: Witness | None = None
    """The first poll that showed it."""
    shown_committed: Witness | None = None
    """The first poll of committed records that showed it."""


class Ledger:
    def __init__(self) -> None:
        self.places: dict[Place, dict[int, Entry]] = {}
        self.of_value: dict[str, Entry] = {}
        self.unplaced: dict[str, Operation] = {}
        """Values that were sent and have not been found anywhere."""

    def at(self, place: Place, offset: int) -> Entry | None:
        entries = self.places.get(place)
        return None if entries is None else entries.get(offset)

    def between(self, place: Place, start: int, end: int) -> Iterator[Entry]:
        """The entries of ``[start, end)``, in no order."""
        entries = self.places.get(place, {})
        if end - start < len(entries):
            for offset in range(start, end):
                if offset in entries:
                    yield entries[offset]
        else:
            yield from (entry for offset, entry in entries.items() if start <= offset < end)


def place_of(poll: Poll) -> Place:
    return poll.topic, poll.partition


def gaps(poll: Poll) -> Iterator[tuple[int, int]]:
    """The ranges that a poll has passed over without a record: compacted, aborted, markers, or an anomaly."""
    at = poll.offset
    for offset in sorted(record.offset for record in poll.records):
        if offset > at:
            yield at, offset
        at = max(at, offset + 1)
    if poll.next is not None and poll.next > at:
        yield at, poll.next
