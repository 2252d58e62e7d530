"""What there is for readers in a piece of a log: batches, and the holes between them.

A hole is where compaction has taken records, a marker of a transaction, or (for those who read only what is
committed) a batch of an aborted one. Single records that compaction took out of a batch are found by whoever
unpacks it: members call them gaps.
"""

from collections import deque
from collections.abc import Sequence
from typing import NamedTuple

from trivium.core.groups.share.flight import Span
from trivium.core.ports import Aborted, Piece
from trivium.records.batch import BatchHeader, iter_batches
from trivium.records.control import read_end_txn


class ReadableBatch(NamedTuple):
    span: Span
    data: memoryview


class Readable(NamedTuple):
    batches: Sequence[ReadableBatch] = ()
    holes: Sequence[Span] = ()

    @property
    def size_bytes(self) -> int:
        return sum(len(batch.data) for batch in self.batches)


def readable(piece: Piece, offset: int) -> Readable:
    """What there is from ``offset`` on."""
    batches: list[ReadableBatch] = []
    holes: list[Span] = []
    aborted = _AbortedBatches(piece.aborted)
    for run in piece.runs:
        for at, header in iter_batches(run):
            if header.last_offset < offset:
                continue
            is_hole = header.is_control or aborted.has(header)
            if header.is_control:
                aborted.end(run, at, header)
            first = max(header.base_offset, offset)
            if first > offset:
                holes.append((offset, first - 1))
            span = (first, header.last_offset)
            if is_hole:
                holes.append(span)
            else:
                batches.append(ReadableBatch(span, run[at : at + header.size_bytes]))
            offset = header.last_offset + 1
    return Readable(batches, holes)


class _AbortedBatches:
    """Which batches belong to transactions that were aborted."""

    def __init__(self, aborted: Sequence[Aborted]) -> None:
        self._coming = deque(sorted(aborted, key=lambda each: each.first_offset))
        self._open: set[int] = set()

    def has(self, header: BatchHeader) -> bool:
        while self._coming and self._coming[0].first_offset <= header.last_offset:
            self._open.add(self._coming.popleft().producer_id)
        return header.is_transactional and header.producer_id in self._open

    def end(self, run: memoryview, at: int, header: BatchHeader) -> None:
        """A marker: if it ends an aborted transaction, the producer's next one may be another matter."""
        marker = read_end_txn(run, at)
        if marker is not None and not marker.committed:
            self._open.discard(header.producer_id)
