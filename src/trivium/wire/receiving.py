"""Frames cut out of the very memory that they were received into.

For whoever reads a socket into a buffer of its own choice. ``space`` says where the next bytes shall go,
and ``received`` gives the frames that became whole by them, as views. A view is valid until the next
frame is asked for: most frames lie in the shared ``scratch`` that the next read overwrites.

    frame   length (4 bytes), then that many bytes

The beginning of a frame of which little has come is set aside, and put in front of what comes next: so a
frame whose length was sent by itself still lies in the scratch, whole. A frame of which more has come gets
memory of its own, which grows with what has arrived and never with what was announced (promises S2, S3):
``GROWTH`` times as much.

That memory is used again, by whichever receiver is next and has that much to come (``_spares``): new memory
has to be cleared, which takes as long as receiving into it. Some is kept, ``SPARE_BYTES_MAX`` at most.

Behind a frame that did not fit into the scratch comes another one, usually. Of that only the beginning goes
to the scratch, ``LEAD_BYTES``, and nearly all of it to where it stays.

Whoever wants to begin with a large frame before it is whole gives a ``watch``: it is shown what has come, as
often as more has. What it sees is valid only while it looks; ``frames_held`` numbers these frames.

A frame that is larger than allowed is a ``DecodeError``, unless there is ``refuse``: that is told how large
the frame is, in its turn between the frames before and after, and the frame's bytes are passed over without
being held. So a protocol can answer with an error of its own and stay in step.
"""

import struct
from collections.abc import Callable, Iterable, Iterator
from typing import Final

from trivium.wire.errors import DecodeError

GROWTH: Final = 5
"""A send of 1,000 messages of 1 KB, a little more than 1 MiB, grows once if it began with a full scratch."""
BODY_BYTES_MIN: Final = 16 << 10
"""The first memory of a frame that did not come whole."""
ASIDE_BYTES_MAX: Final = 4 << 10
"""Of a frame that has just begun, its length among them: more is not worth copying twice."""
LEAD_BYTES: Final = 2 * ASIDE_BYTES_MAX
"""What is read of a frame that is expected to be large, until its length is known."""
SPARE_BYTES_MAX: Final = 2 << 20
"""What is kept for the next large frame: room for a send of 1,000 messages of 1 KB, or a batch of 1 MB."""

_spares: list[bytearray] = []
"""One block. Nodes of several threads may share it, and then leave one each at the most: taking and leaving
are single steps of a list."""


class Receiver:
    """``bytes_max`` may be changed and counts for the next length read."""

    __slots__ = (
        "_begun",
        "_body",
        "_expects_much",
        "_filled",
        "_frame_bytes",
        "_length",
        "_refuse",
        "_unwanted",
        "_watch",
        "bytes_max",
        "frames_held",
    )

    def __init__(
        self,
        length: struct.Struct,
        bytes_max: int,
        refuse: Callable[[int], None] | None = None,
        watch: Callable[[memoryview, int], None] | None = None,
    ) -> None:
        """``refuse`` may itself raise ``DecodeError``, for a frame that is not worth waiting out. ``watch``
        is told what has come of a frame, and how large it will be.
        """
        self.bytes_max = bytes_max
        self.frames_held = 0
        """So many frames have had memory of their own."""
        self._watch = watch
        self._length = length
        self._refuse = refuse
        self._unwanted = 0
        """Bytes of a refused frame that are still to come."""
        self._begun = b""
        """What was set aside: the beginning of a frame with its length, or a part of the length."""
        self._body: bytearray | None = None
        """Memory of the frame's own, which may be more than the frame needs."""
        self._filled = 0
        self._frame_bytes = 0
        self._expects_much = False
        """The last frame would not have fitted into the scratch."""

    @property
    def held_bytes(self) -> int:
        """What memory a frame on its way takes."""
        return self.own_bytes or len(self._begun)

    @property
    def own_bytes(self) -> int:
        """What of it lies outside the scratch, as the frame will when it is whole."""
        return 0 if self._body is None else len(self._body)

    @property
    def is_between_frames(self) -> bool:
        return self._body is None and not self._begun and not self._unwanted

    def space(self, scratch: memoryview) -> memoryview:
        """Where to receive next. In memory of its own, never more than belongs to the frame."""
        body = self._body
        if body is None:
            return scratch[len(self._begun) : LEAD_BYTES if self._expects_much else None]
        if self._filled == len(body):
            grown = _memory(min(self._frame_bytes, self._filled * GROWTH), self._frame_bytes)
            grown[: self._filled] = body
            self._body = body = grown
        return memoryview(body)[self._filled : self._frame_bytes]

    def received(self, count: int, scratch: memoryview) -> Iterable[memoryview]:
        """``count`` bytes were put where ``space`` said."""
        if self._body is not None:
            return self._rest(count, self._body, len(scratch))
        self._expects_much = False
        begun = self._begun
        if begun:
            # Others may have received into the scratch since.
            scratch[: len(begun)] = begun
            count += len(begun)
            self._begun = b""
        size = self._length.size
        if count > size and not self._unwanted:
            frame_bytes = self._length.unpack_from(scratch)[0]
            if frame_bytes == count - size and frame_bytes <= self.bytes_max:
                # One frame and nothing else: what nearly every read brings.
                return (scratch[size:count],)
        return self._cut(scratch[:count], len(scratch) // 2)

    def _rest(self, count: int, body: bytearray, scratch_bytes: int) -> Iterator[memoryview]:
        self._filled += count
        if self._filled == self._frame_bytes:
            self._body = None
            self._expects_much = self._frame_bytes > scratch_bytes
            yield memoryview(body)[: self._frame_bytes]
            if not _spares and len(body) <= SPARE_BYTES_MAX:
                _spares.append(body)
        elif self._watch is not None:
            self._watch(memoryview(body)[: self._filled], self._frame_bytes)

    def _cut(self, data: memoryview, aside_bytes_max: int) -> Iterator[memoryview]:
        at, end, size = min(len(data), self._unwanted), len(data), self._length.size
        self._unwanted -= at
        while end - at >= size:
            frame_bytes: int = self._length.unpack_from(data, at)[0]
            at += size
            if not 0 <= frame_bytes <= self.bytes_max:
                self._turn_away(frame_bytes)
                passed = min(end - at, frame_bytes)
                self._unwanted = frame_bytes - passed
                at += passed
                continue
            if end - at < frame_bytes:
                if end - at + size <= min(ASIDE_BYTES_MAX, aside_bytes_max):
                    at -= size
                    break
                self._hold(data[at:], frame_bytes)
                return
            yield data[at : at + frame_bytes]
            at += frame_bytes
        self._begun = bytes(data[at:])

    def _turn_away(self, frame_bytes: int) -> None:
        if self._refuse is None or frame_bytes < 0:
            raise DecodeError(
                f"a frame of {frame_bytes} bytes is announced, at most {self.bytes_max} are taken"
            )
        self._refuse(frame_bytes)

    def _hold(self, begun: memoryview, frame_bytes: int) -> None:
        self.frames_held += 1
        self._filled = len(begun)
        self._frame_bytes = frame_bytes
        self._body = _memory(min(frame_bytes, max(BODY_BYTES_MIN, self._filled * GROWTH)), frame_bytes)
        # Through a view: assigned to a bytearray, bytes of another kind are copied twice.
        memoryview(self._body)[: self._filled] = begun


def _memory(bytes_min: int, frame_bytes: int) -> bytearray:
    """So much, or what is kept if that is no less, and not twice what the whole frame needs."""
    try:
        spare = _spares.pop()
    except IndexError:
        return bytearray(bytes_min)
    return spare if bytes_min <= len(spare) < 2 * frame_bytes else bytearray(bytes_min)
