"""Where in a segment an offset lies: sparse, one entry for about every 4 KiB of log.

::

    0   4   offset, relative to the segment's base offset
    4   4   position in the .log file of a batch that begins at or before that offset

Offsets increase, positions never decrease, and no entry is all zeros: the batch at position 0 needs none.
A reader starts at the position found and scans forward; there it meets a batch whose base offset is at
most the entry's, or the index lies and has to be rebuilt: entries have no checksum, batches have.
"""

from collections.abc import Iterator
from operator import le, lt
from struct import Struct, unpack
from typing import NamedTuple

from trivium.log.entry_file import EntryFile
from trivium.log.files import Files
from trivium.wire.buffer import Buffer
from trivium.wire.errors import DecodeError, EncodeError

_ENTRY = Struct(">ii")
_OFFSET = Struct(">i")
_INT32_MAX = 2**31 - 1


class OffsetPosition(NamedTuple):
    """A batch that begins at or before ``offset`` lies at ``position``."""

    offset: int
    position: int


class OffsetIndex:
    """The ``.index`` of the segment that begins at ``base_offset``."""

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

    @property
    def size_bytes(self) -> int:
        return len(self._entries.image())

    def __iter__(self) -> Iterator[OffsetPosition]:
        for relative_offset, position in _ENTRY.iter_unpack(self._entries.image()):
            yield OffsetPosition(self._base_offset + relative_offset, position)

    def last(self) -> OffsetPosition | None:
        return self._entry(len(self._entries) - 1) if len(self._entries) else None

    def lookup(self, offset: int) -> OffsetPosition:
        """The greatest entry at or below ``offset``; the segment's beginning if there is none."""
        image, relative_offset = self._entries.image(), offset - self._base_offset
        # Not by ``bisect``, which would call back for each entry that it looks at: every read comes by here.
        low, high = 0, len(image) // _ENTRY.size
        while low < high:
            middle = (low + high) // 2
            if _OFFSET.unpack_from(image, middle * _ENTRY.size)[0] > relative_offset:
                high = middle
            else:
                low = middle + 1
        return self._entry(low - 1) if low else OffsetPosition(self._base_offset, 0)

    def append(self, offset: int, position: int) -> None:
        relative_offset = offset - self._base_offset
        if not (0 <= relative_offset <= _INT32_MAX and 0 < position <= _INT32_MAX):
            raise EncodeError(f"offset {offset} at position {position} has no place in {self._entries.path}")
        image = self._entries.image()
        if image:
            last_offset, last_position = _ENTRY.unpack_from(image, len(image) - _ENTRY.size)
            if relative_offset <= last_offset or position < last_position:
                raise ValueError(f"index entry {offset} at {position} does not come after {self.last()}")
        self._entries.append(_ENTRY.pack(relative_offset, position))

    def check(self, segment_bytes: int) -> None:
        """Raise ``DecodeError`` if this cannot be the index of a segment of that size."""
        last = self.last()
        if last is not None and last.position >= segment_bytes:
            raise DecodeError(
                f"{self._entries.path} is damaged: it knows a batch at {last.position}, "
                f"the segment ends at {segment_bytes}"
            )

    def _entry(self, slot: int) -> OffsetPosition:
        relative_offset, position = _ENTRY.unpack_from(self._entries.image(), slot * _ENTRY.size)
        return OffsetPosition(self._base_offset + relative_offset, position)

    def _check_order(self, image: Buffer) -> None:
        numbers = unpack(f">{len(image) // 4}i", image)
        offsets, positions = numbers[::2], numbers[1::2]
        if not all(map(lt, offsets, offsets[1:])) or not all(map(le, positions, positions[1:])):
            raise DecodeError(f"{self._entries.path} is damaged: its entries are out of order")
        if numbers and (offsets[0] < 0 or positions[0] <= 0):
            raise DecodeError(f"{self._entries.path} is damaged: its first entry is out of range")
