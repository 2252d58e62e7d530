"""Which batches a reader of committed records may see: no control batches, nothing of aborted transactions.

A log says which transactions were aborted in the range that was read: producer and first offset. Batches
of that producer are hidden from there on until its abort marker (mission 003.33).
"""

from collections.abc import Sequence
from typing import Protocol

from trivium.records.control import read_end_txn
from trivium.records.header import CONTROL_BIT, TRANSACTIONAL_BIT, BatchHeader
from trivium.wire.buffer import Buffer

_MARKED_BITS = TRANSACTIONAL_BIT | CONTROL_BIT


class AbortedTransaction(Protocol):
    @property
    def producer_id(self) -> int: ...
    @property
    def first_offset(self) -> int: ...


class Visibility:
    """Is asked about every batch of the range, in the order of the log."""

    def __init__(self, aborted: Sequence[AbortedTransaction]) -> None:
        self._upcoming = sorted(aborted, key=lambda transaction: transaction.first_offset, reverse=True)
        self._hidden: set[int] = set()

    def sees(self, buffer: Buffer, position: int, header: BatchHeader) -> bool:
        """Whether the records of the batch at ``position`` are for the reader."""
        while self._upcoming and self._upcoming[-1].first_offset <= header.last_offset:
            self._hidden.add(self._upcoming.pop().producer_id)
        if not header.attributes & _MARKED_BITS:
            return True
        if header.is_control:
            if header.producer_id in self._hidden and _is_abort(buffer, position):
                self._hidden.discard(header.producer_id)
            return False
        return header.producer_id not in self._hidden


def _is_abort(buffer: Buffer, position: int) -> bool:
    marker = read_end_txn(buffer, position)
    return marker is not None and marker.aborted
