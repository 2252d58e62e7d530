"""Reading a stretch of a log at once: what nearly every read is.

The batches wanted lie side by side, sound, and readers mostly go on where they, or others, have stopped. So
the place after the last stretch is kept, and a stretch is checked by one call of the kernel. It gives what
walking from batch to batch (``scan``, ``slice.collect``) gives.

Whatever is not as it should be (damage, gaps, an index that lies, a batch larger than what is read at once)
is no matter of this module: it gives None, and the walk finds out what is wrong. The place is a hint: the
batch there must begin with just the offset that is expected.
"""

from typing import NamedTuple

from trivium.log.scan import Damage, holds_batch
from trivium.log.segment import Segment
from trivium.log.slice import Slice
from trivium.records.batch import sound_run
from trivium.wire.errors import DecodeError


class _Place(NamedTuple):
    segment: Segment
    position: int
    offset: int
    """Of the batch that begins there."""
    leader_epoch: int
    """None after it is lower."""


class Sequential:
    """Of one partition's log."""

    __slots__ = ("_next",)

    def __init__(self) -> None:
        self._next: _Place | None = None

    def position(self, segment: Segment, offset: int) -> int | None:
        """Where the batch begins that holds ``offset``, if the last read has ended before it."""
        place = self._next
        if place is None or place.offset != offset or place.segment is not segment:
            return None
        return place.position

    def read(
        self, segment: Segment, offset: int, max_bytes: int, chunk_bytes: int, offset_end: int
    ) -> Slice | None:
        place = self._next
        if place is None or place.offset != offset or place.segment is not segment:
            try:
                place = _Place(segment, *segment.place_before(offset))
            except Damage:
                return None
        room_bytes = segment.size_bytes - place.position
        if room_bytes <= 0:
            return None  # The log was cut.
        data = segment.file.read(min(chunk_bytes, room_bytes), place.position)
        if not holds_batch(data, 0):
            return None
        try:
            start, end, offset_next, epoch = sound_run(
                data, place.offset, place.leader_epoch, offset, max_bytes, offset_end
            )
        except DecodeError:
            return None
        if start == end:
            return None
        self._next = _Place(segment, place.position + end, offset_next, epoch)
        return Slice((memoryview(data)[start:end],), offset_next)
