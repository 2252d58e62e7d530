"""Histories in a few words, for tests of the checker: one operation after the other unless said otherwise."""

from trivium.testing.history import (
    Anomaly,
    AnomalyKind,
    Operation,
    Outcome,
    Poll,
    Protocol,
    Record,
    Send,
    find_anomalies,
)
from trivium.testing.history.operation import Act


def sent(*values: str, at: int | None = None, txn: str | None = None, partition: int = 0) -> Send:
    """A send; ``at`` is the offset of the first value, None where the protocol does not tell."""
    offsets = None if at is None else tuple(range(at, at + len(values)))
    return Send("orders", partition, values, offsets, txn)


def polled(
    *values: str,
    at: int = 0,
    end: int | None = None,
    committed: bool = True,
    seeks: bool = False,
) -> Poll:
    """A poll from an offset on that shows so many records; ``end`` is the high watermark that it was told."""
    records = tuple(Record(offset, value) for offset, value in enumerate(values, at))
    offset_next = at + len(values)
    return Poll("orders", 0, at, offset_next, records, committed, seeks, watermark=end)


class Story:
    def __init__(self) -> None:
        self.operations: list[Operation] = []
        self._now = 0

    def ok(self, process: str, act: Act, protocol: str = "kafka", *, since: int | None = None) -> "Story":
        """``since``: it began right before the operation with this number in the story did."""
        return self._add(process, act, protocol, Outcome.OK, since)

    def fail(self, process: str, act: Act, protocol: str = "kafka") -> "Story":
        return self._add(process, act, protocol, Outcome.FAIL, None)

    def unknown(self, process: str, act: Act, protocol: str = "kafka") -> "Story":
        return self._add(process, act, protocol, Outcome.UNKNOWN, None)

    def _add(self, process: str, act: Act, protocol: str, outcome: Outcome, since: int | None) -> "Story":
        self._now += 10
        invoke = self._now if since is None else self.operations[since].invoke - 1
        end = self._now + 5
        line = len(self.operations) + 1
        self.operations.append(Operation(process, Protocol(protocol), outcome, invoke, end, act, line))
        return self

    def anomalies(self) -> list[Anomaly]:
        return list(find_anomalies(self.operations))

    def kinds(self) -> set[AnomalyKind]:
        return {anomaly.kind for anomaly in self.anomalies()}
