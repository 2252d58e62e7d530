"""What a read gives: whole batches as they lie on disk, in as few pieces as possible."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from trivium.log.scan import Found, holds_batch


class Slice(NamedTuple):
    """Whole batches as they lie on disk, and the offset to read on from."""

    runs: Sequence[memoryview]
    offset_next: int

    @property
    def size_bytes(self) -> int:
        return sum(len(run) for run in self.runs)

    def join(self) -> bytes:
        return b"".join(self.runs)


def collect(batches: Iterator[Found], offset: int, max_bytes: int, offset_end: int) -> Slice:
    """Take batches while they fit, joined to one run wherever they lie side by side in one buffer.

    A batch that the buffer holds only in part ends the run too: to have it, the whole buffer would be read
    again, and the next read begins there anyway.
    """
    runs: list[memoryview] = []
    buffer: memoryview | None = None
    start = end = taken = 0
    offset_next = offset
    for found in batches:
        header = found.header
        if header.base_offset >= offset_end or (taken and taken + header.size_bytes > max_bytes):
            break
        if found.buffer is not buffer:
            if buffer is not None:
                runs.append(buffer[start:end])
            buffer, start = found.buffer, found.at
        end = found.at + header.size_bytes
        taken += header.size_bytes
        offset_next = header.offset_end
        if taken >= max_bytes or offset_next >= offset_end or not holds_batch(buffer, end):
            break
    if buffer is not None:
        runs.append(buffer[start:end])
    return Slice(runs, offset_next)
