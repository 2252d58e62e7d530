"""The log has the order in which things happened: *non-monotonic send*.

If a send had ended before another one to the same partition began, its records have the lower offsets,
whoever the senders were; and the values of one send lie in their order. Judged at the end, from the
ledger: where a protocol does not tell offsets, only a poll shows them.
"""

from collections.abc import Iterator
from typing import Final

from trivium.testing.history.anomaly import Anomaly, AnomalyKind, witness
from trivium.testing.history.ledger import Entry, Ledger
from trivium.testing.history.operation import Operation, Place, Send


class SendOrder:
    acts: Final = (Send,)

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    def observe(self, operation: Operation) -> Iterator[Anomaly]:
        """What the answer itself says."""
        send = operation.act
        if isinstance(send, Send) and operation.is_ok and send.offsets is not None:
            for offset, following in zip(send.offsets, send.offsets[1:], strict=False):
                if following <= offset:
                    what = (
                        f"a send to {send.topic}-{send.partition} was given offset {following} after {offset}"
                    )
                    yield Anomaly(AnomalyKind.NON_MONOTONIC_SEND, what, (witness(operation),))

    def finish(self) -> Iterator[Anomaly]:
        for place, entries in self._ledger.places.items():
            yield from _real_time(place, [entries[offset] for offset in sorted(entries, reverse=True)])
        for place, entries in self._ledger.places.items():
            yield from _within_sends(place, [entries[offset] for offset in sorted(entries)])


def _real_time(place: Place, backwards: list[Entry]) -> Iterator[Anomaly]:
    """From the end to the start, with the send that was over first of all that lie further on."""
    earliest: tuple[Entry, Operation] | None = None
    for entry in backwards:
        send = entry.sent
        if send is None:
            continue
        if earliest is not None and earliest[1].is_before(send):
            later, first = earliest
            what = (
                f"{later.value!r} had been sent before {entry.value!r} was "
                f"and lies behind it in {place[0]}-{place[1]}: {later.offset}, {entry.offset}"
            )
            yield Anomaly(AnomalyKind.NON_MONOTONIC_SEND, what, (witness(first), witness(send)))
        if send.is_ok and (earliest is None or send.end < earliest[1].end):
            earliest = (entry, send)


def _within_sends(place: Place, forwards: list[Entry]) -> Iterator[Anomaly]:
    numbers: dict[int, int] = {}
    """By line of a send: which of its values come next, at the earliest."""
    for entry in forwards:
        send = entry.sent
        if send is None or not isinstance(send.act, Send) or len(send.act.values) == 1:
            continue
        number = send.act.values.index(entry.value, 0)
        if number < numbers.get(send.line, 0):
            what = (
                f"{entry.value!r} lies behind values that came after it in its send to {place[0]}-{place[1]}"
            )
            yield Anomaly(AnomalyKind.NON_MONOTONIC_SEND, what, (witness(send),))
        numbers[send.line] = max(numbers.get(send.line, 0), number)
