"""Frames cut out of the very memory that they were received into.

For whoever reads a socket into a buffer of its own choice. ``space`` says where the next bytes shall go,
and ``received`` gives the frames that became whole by them, as views. A view is valid until the next
frame is asked for: most frames lie in the shared ``scratch`` that the next read overwrites.

    frame   length (4 bytes), then that many bytes

A frame larger than the scratch gets memory of its own, which grows with what has arrived and never with
what was announced (promises S2, S3): ``GROWTH`` times as much at most.

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


class Receiver:
    """``bytes_max`` may be changed and counts for the next length read."""

    __slots__ = ("_body", "_filled", "_frame_bytes", "_head", "_length", "_refuse", "_unwanted", "bytes_max")

    def __init__(
        self, length: struct.Struct, bytes_max: int, refuse: Callable[[int], None] | None = None
    ) -> None:
        """``refuse`` may itself raise ``DecodeError``, for a frame that is not worth waiting out."""
        self.bytes_max = bytes_max
        self._length = length
        self._refuse = refuse
        self._unwanted = 0
        """Bytes of a refused frame that are still to come."""
        self._head = b""
        """The first bytes of a length that was torn."""
        self._body: bytearray | None = None
        self._filled = 0
        self._frame_bytes = 0

    @property
    def held_bytes(self) -> int:
        """What memory a frame on its way takes."""
        return 0 if self._body is None else len(self._body)

    @property
    def is_between_frames(self) -> bool:
        return self._body is None and not self._head and not self._unwanted

    def space(self, scratch: memoryview) -> memoryview:
        """Where to receive next: never more than belongs to the frame that is being waited for."""
        body = self._body
        if body is None:
            return scratch
        if self._filled == len(body):
            grown = bytearray(min(self._frame_bytes, self._filled * GROWTH))
            grown[: self._filled] = body
            self._body = body = grown
        return memoryview(body)[self._filled :]

    def received(self, count: int, scratch: memoryview) -> Iterable[memoryview]:
        """``count`` bytes were put where ``space`` said."""
        size = self._length.size
        if count > size and self.is_between_frames:
            frame_bytes = self._length.unpack_from(scratch)[0]
            if frame_bytes == count - size and frame_bytes <= self.bytes_max:
                # One frame and nothing else: what nearly every read brings.
                return (scratch[size:count],)
        return self._frames(count, scratch)

    def _frames(self, count: int, scratch: memoryview) -> Iterator[memoryview]:
        body = self._body
        if body is None:
            passed = min(count, self._unwanted)
            self._unwanted -= passed
            yield from self._cut(scratch[passed:count])
            return
        self._filled += count
        if self._filled == self._frame_bytes:
            self._body = None
            yield memoryview(body)

    def _cut(self, data: memoryview) -> Iterator[memoryview]:
        if self._head:
            data = memoryview(bytearray(self._head) + data)
            self._head = b""
        at, end, size = 0, len(data), self._length.size
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
                self._hold(data[at:], frame_bytes)
                return
            yield data[at : at + frame_bytes]
            at += frame_bytes
        self._head = bytes(data[at:])

    def _turn_away(self, frame_bytes: int) -> None:
        if self._refuse is None or frame_bytes < 0:
            raise DecodeError(
                f"a frame of {frame_bytes} bytes is announced, at most {self.bytes_max} are taken"
            )
        self._refuse(frame_bytes)

    def _hold(self, begun: memoryview, frame_bytes: int) -> None:
        self._filled = len(begun)
        self._frame_bytes = frame_bytes
        self._body = bytearray(min(frame_bytes, max(BODY_BYTES_MIN, self._filled * GROWTH)))
        self._body[: self._filled] = begun
