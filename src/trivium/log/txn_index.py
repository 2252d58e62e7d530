"""The transactions that were aborted in a segment, for readers who must not see their records.

::

    0    2   version, 0
    2    8   producer id
    10   8   first offset of the transaction
    18   8   last offset: that of its abort marker, which lies in this segment
    26   8   last stable offset when the marker was written

Ordered by last offset. The records of a transaction may lie in earlier segments than its marker: whoever
reads a range of offsets asks this segment's index and those after it, until one says ``complete``.

A lost entry would show aborted records to readers of committed ones, so this index must be synced before
the recovery point leaves its segment: recovery reads the segment of that point and those after it, no other.
"""

from collections.abc import Iterator
from struct import Struct
from typing import NamedTuple

from trivium.log.entry_file import EntryFile
from trivium.log.files import Files
from trivium.wire.buffer import Buffer
from trivium.wire.errors import DecodeError

_VERSION = 0
_ENTRY = Struct(">hqqqq")


class AbortedTransaction(NamedTuple):
    """A transaction whose records between its first and last offset count for nothing."""

    producer_id: int
    first_offset: int
    last_offset: int
    last_stable_offset: int


class Overlap(NamedTuple):
    """What one segment knows; ``complete``: no later segment can add to it."""

    transactions: list[AbortedTransaction]
    complete: bool


class TxnIndex:
    """The ``.txnindex`` of the segment that begins at ``base_offset``."""

    __slots__ = ("_base_offset", "_entries")

    def __init__(self, files: Files, path: str, base_offset: int) -> None:
        self._base_offset = base_offset
        self._entries = EntryFile(files, path, _ENTRY.size, self._check, padded=False, optional=True)

    @property
    def file(self) -> EntryFile:
        """Flushing, releasing, resetting."""
        return self._entries

    def __len__(self) -> int:
        return len(self._entries)

    @property
    def is_known_empty(self) -> bool:
        """Whether that there is none can be said without looking at the file."""
        return self._entries.is_known_empty

    def __iter__(self) -> Iterator[AbortedTransaction]:
        return (AbortedTransaction(*entry[1:]) for entry in _ENTRY.iter_unpack(self._entries.image()))

    def append(self, transaction: AbortedTransaction) -> None:
        fault = self._fault(self._last_offset(), _VERSION, *transaction)
        if fault is not None:
            raise ValueError(f"{transaction} cannot be appended: {fault}")
        self._entries.append(_ENTRY.pack(_VERSION, *transaction))

    def overlapping(self, offset_start: int, offset_end: int) -> Overlap:
        """The transactions with records or marker in ``[offset_start, offset_end)``."""
        found = []
        for transaction in self:
            if transaction.last_offset >= offset_start and transaction.first_offset < offset_end:
                found.append(transaction)
            # Whatever was undecided when this marker was written begins at or above that offset.
            if transaction.last_stable_offset >= offset_end:
                return Overlap(found, complete=True)
        return Overlap(found, complete=False)

    def truncate(self, offset: int) -> None:
        """Drop the transactions whose marker lies at or above ``offset``."""
        self._entries.truncate(sum(1 for transaction in self if transaction.last_offset < offset))

    def _last_offset(self) -> int:
        image = self._entries.image()
        if not image:
            return self._base_offset - 1
        last_offset: int = _ENTRY.unpack_from(image, len(image) - _ENTRY.size)[3]
        return last_offset

    def _check(self, image: Buffer) -> None:
        previous = self._base_offset - 1
        for number, entry in enumerate(_ENTRY.iter_unpack(image)):
            fault = self._fault(previous, *entry)
            if fault is not None:
                raise DecodeError(f"{self._entries.path} is damaged: entry {number}: {fault}")
            previous = entry[3]

    @staticmethod
    def _fault(
        previous: int, version: int, producer_id: int, first: int, last: int, last_stable: int
    ) -> str | None:
        if version != _VERSION:
            return f"version {version} is unknown"
        if producer_id < 0:
            return f"no producer has the id {producer_id}"
        if last <= previous:
            return f"its marker at {last} does not come after {previous}"
        # At least one record and the marker; and the marker decides nothing beyond itself.
        if not (0 <= first < last and 0 <= last_stable <= last + 1):
            return f"offsets {first}, {last} and {last_stable} do not fit together"
        return None
