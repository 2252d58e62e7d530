"""One offset, one value: what was told of a place by whomever, and that it is the same for everybody.

Writes the ledger. Finds *one offset with two values* (one protocol contradicts itself), *protocols disagree*
(on payload, time or headers) and *one value at two offsets*.
"""

from collections.abc import Iterator
from typing import Final

from trivium.testing.history.anomaly import Anomaly, AnomalyKind, Witness, witness
from trivium.testing.history.ledger import Entry, Ledger, place_of
from trivium.testing.history.operation import Operation, Place, Poll, Record, Send


class Contents:
    acts: Final = (Send, Poll)

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    def observe(self, operation: Operation) -> Iterator[Anomaly]:
        act = operation.act
        if isinstance(act, Send):
            yield from self._sent(operation, act)
        elif isinstance(act, Poll) and operation.is_ok:
            told_by = witness(operation)
            place = place_of(act)
            for record in act.records:
                yield from self._shown(place, record, told_by, act.committed)

    def finish(self) -> Iterator[Anomaly]:
        return iter(())

    def _sent(self, operation: Operation, send: Send) -> Iterator[Anomaly]:
        place = (send.topic, send.partition)
        ledger = self._ledger
        if operation.is_ok and send.offsets is not None:
            told_by = witness(operation)
            for offset, value in zip(send.offsets, send.values, strict=True):
                yield from self._tell(place, Record(offset, value), told_by)
        for value in send.values:
            found = ledger.of_value.get(value)
            if found is None:
                ledger.unplaced[value] = operation
            else:
                found.sent = operation

    def _shown(self, place: Place, record: Record, told_by: Witness, committed: bool) -> Iterator[Anomaly]:
        yield from self._tell(place, record, told_by)
        entry = self._ledger.places[place][record.offset]
        if entry.value == record.value:
            entry.shown = entry.shown or told_by
            if committed:
                entry.shown_committed = entry.shown_committed or told_by

    def _tell(self, place: Place, record: Record, told_by: Witness) -> Iterator[Anomaly]:
        entries = self._ledger.places.setdefault(place, {})
        entry = entries.get(record.offset)
        if entry is None:
            entry = entries[record.offset] = Entry(place, record.offset, record.value, told_by)
            yield from self._place(entry)
        elif entry.value != record.value:
            yield _contradiction(entry, "payload", (entry.value, record.value), entry.told_by, told_by)
            return
        yield from _compare_details(entry, record, told_by)

    def _place(self, entry: Entry) -> Iterator[Anomaly]:
        """A value has been found, for the first time one hopes."""
        ledger = self._ledger
        known = ledger.of_value.get(entry.value)
        if known is not None:
            (topic, partition), (other_topic, other_partition) = entry.place, known.place
            yield Anomaly(
                AnomalyKind.TWO_OFFSETS,
                f"{entry.value!r} is at offset {known.offset} of {other_topic}-{other_partition} "
                f"and at offset {entry.offset} of {topic}-{partition}",
                (known.told_by, entry.told_by),
            )
            return
        ledger.of_value[entry.value] = entry
        entry.sent = ledger.unplaced.pop(entry.value, None)


def _compare_details(entry: Entry, record: Record, told_by: Witness) -> Iterator[Anomaly]:
    if record.time_ms is not None:
        if entry.time_by is None:
            entry.time_ms, entry.time_by = record.time_ms, told_by
        elif entry.time_ms != record.time_ms:
            yield _contradiction(entry, "time", (entry.time_ms, record.time_ms), entry.time_by, told_by)
    if record.headers is not None:
        if entry.headers_by is None:
            entry.headers, entry.headers_by = record.headers, told_by
        elif entry.headers != record.headers:
            yield _contradiction(entry, "headers", (entry.headers, record.headers), entry.headers_by, told_by)


def _contradiction(
    entry: Entry, part: str, told: tuple[object, object], first: Witness, second: Witness
) -> Anomaly:
    agree = first.protocol == second.protocol
    topic, partition = entry.place
    return Anomaly(
        AnomalyKind.TWO_VALUES if agree else AnomalyKind.PROTOCOLS_DISAGREE,
        f"offset {entry.offset} of {topic}-{partition} has the {part} {told[0]!r} and {told[1]!r}",
        (first, second),
    )
