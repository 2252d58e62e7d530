"""A reader goes forward and leaves nothing out: *non-monotonic poll*, *skipped poll*.

Offsets may have gaps, but a record that one reader of a kind has seen no other reader of that kind passes
over.
"""

from collections.abc import Iterator
from typing import Final

from trivium.testing.history.anomaly import Anomaly, AnomalyKind, Witness, witness
from trivium.testing.history.ledger import Ledger, gaps, place_of
from trivium.testing.history.operation import Operation, Place, Poll

_Gap = tuple[Place, int, int, bool]


class PollOrder:
    acts: Final = (Poll,)

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._positions: dict[tuple[str, Place], tuple[int, Witness]] = {}
        self._gaps: dict[_Gap, Witness] = {}
        """Ranges without records, each with the first poll that passed over it: judged at the end."""

    def observe(self, operation: Operation) -> Iterator[Anomaly]:
        poll = operation.act
        if not isinstance(poll, Poll) or not operation.is_ok:
            return
        place, told_by = place_of(poll), witness(operation)
        for start, end in gaps(poll):
            self._gaps.setdefault((place, start, end, poll.committed), told_by)
        yield from _backwards(place, poll, told_by)
        reader = (operation.process, place)
        known = self._positions.get(reader)
        if known is not None and not poll.seeks:
            position, previous = known
            if poll.offset > position:
                self._gaps.setdefault((place, position, poll.offset, poll.committed), told_by)
            elif poll.offset < position:
                what = (
                    f"{operation.process} had read {place[0]}-{place[1]} up to offset {position} "
                    f"and went on at {poll.offset}"
                )
                yield Anomaly(AnomalyKind.NON_MONOTONIC_POLL, what, (previous, told_by))
        # Whatever it was told to go on with: a record that is shown once more is one too many.
        shown = [record.offset + 1 for record in poll.records]
        position = max((*shown, poll.offset if poll.next is None else poll.next))
        self._positions[reader] = (position, told_by)

    def finish(self) -> Iterator[Anomaly]:
        for (place, start, end, committed), poll in self._gaps.items():
            for entry in self._ledger.between(place, start, end):
                seen = entry.shown_committed if committed else entry.shown
                if seen is not None:
                    what = (
                        f"a poll passed over offset {entry.offset} of {place[0]}-{place[1]}, {entry.value!r}"
                    )
                    yield Anomaly(AnomalyKind.SKIPPED_POLL, what, (poll, seen))


def _backwards(place: Place, poll: Poll, told_by: Witness) -> Iterator[Anomaly]:
    at = poll.offset - 1
    for record in poll.records:
        if record.offset <= at:
            what = f"a poll of {place[0]}-{place[1]} shows offset {record.offset} behind {at}"
            yield Anomaly(AnomalyKind.NON_MONOTONIC_POLL, what, (told_by,))
        at = record.offset
