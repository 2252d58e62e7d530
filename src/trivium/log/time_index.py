"""Up to which offset a segment has seen which timestamp: sparse, written beside the offset index.

::

    0   8   the largest timestamp so far, milliseconds
    8   4   offset of the record that carries it, relative to the segment's base offset

Neither ever decreases: records come in any order of time, the largest timestamp so far does not. A
search for a time begins behind the offset found, since everything before it is older. The last entry of
a closed segment has the segment's largest timestamp, which is what retention by time looks at. The one
entry that could be all zeros, a first record of 1970, reads as none, which says the same.
"""

from bisect import bisect_right
from collections.abc import Iterator
from itertools import chain, pairwise
from struct import Struct
from typing import NamedTuple

from trivium.log.entry_file import EntryFile
from trivium.log.files import Files
from trivium.wire.buffer import Buffer
from trivium.wire.errors import DecodeError, EncodeError

NO_TIMESTAMP = -1

_ENTRY = Struct(">qi")
_TIMESTAMP = Struct(">q")
_INT32_MAX = 2**31 - 1


class TimestampOffset(NamedTuple):
    """No record up to ``offset`` is newer than ``timestamp``, and the one at ``offset`` is as new."""

    timestamp: int
    offset: int


class TimeIndex:
    """The ``.timeindex`` of the segment that begins at ``base_offset``."""

    __slots__ = ("_base_offset", "_entries")

    def __init__(self, files: Files, path: str, base_offset: int) -> None:
        self._base_offset = base_offset
        self._entries = EntryFile(files, path, _ENTRY.size, self._check_order, padded=True, optional=False)

    @property
    def file(self) -> EntryFile:
        """Flushing, releasing, resetting."""
        return self._entries

    def __len__(self) -> int:
        return len(self._entries)

    def __iter__(self) -> Iterator[TimestampOffset]:
        for timestamp, relative_offset in _ENTRY.iter_unpack(self._entries.image()):
            yield TimestampOffset(timestamp, self._base_offset + relative_offset)

    def last(self) -> TimestampOffset | None:
        return self._entry(len(self._entries) - 1) if len(self._entries) else None

    def lookup(self, timestamp: int) -> TimestampOffset:
        """The greatest entry at or below ``timestamp``; the segment's beginning if there is none."""
        slot = bisect_right(range(len(self._entries)), timestamp, key=self._timestamp)
        return self._entry(slot - 1) if slot else TimestampOffset(NO_TIMESTAMP, self._base_offset)

    def append(self, timestamp: int, offset: int) -> None:
        """Note that the largest timestamp so far is this. What is not larger than the last adds nothing."""
        if timestamp < 0:
            return
        relative_offset = offset - self._base_offset
        if not 0 <= relative_offset <= _INT32_MAX:
            raise EncodeError(f"time {timestamp} at offset {offset} has no place in {self._entries.path}")
        image = self._entries.image()
        if image:
            last_timestamp, last_offset = _ENTRY.unpack_from(image, len(image) - _ENTRY.size)
            if timestamp < last_timestamp or relative_offset < last_offset:
                raise ValueError(
                    f"time index entry {timestamp} at {offset} does not come after {self.last()}"
                )
            if timestamp == last_timestamp:
                return
        self._entries.append(_ENTRY.pack(timestamp, relative_offset))

    def _timestamp(self, slot: int) -> int:
        timestamp: int = _TIMESTAMP.unpack_from(self._entries.image(), slot * _ENTRY.size)[0]
        return timestamp

    def _entry(self, slot: int) -> TimestampOffset:
        timestamp, relative_offset = _ENTRY.unpack_from(self._entries.image(), slot * _ENTRY.size)
        return TimestampOffset(timestamp, self._base_offset + relative_offset)

    def _check_order(self, image: Buffer) -> None:
        for earlier, later in pairwise(chain([(0, 0)], _ENTRY.iter_unpack(image))):
            if not (earlier[0] <= later[0] and earlier[1] <= later[1]):
                raise DecodeError(f"{self._entries.path} is damaged: its entries are out of order")
