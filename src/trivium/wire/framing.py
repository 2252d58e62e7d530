"""Length-prefixed frames: bytes in, in any chunking; whole frames out.

    frame   length (4 bytes), then that many bytes

The three protocols differ only in how the length is spelled and how long a frame may be. A ``Framer``
owns no socket. It looks at a length as soon as its four bytes are there: one that is negative or above
the ceiling is refused then (promise S3), and what is held is never more than what was received. Only who
asks for ``room``, to receive the rest of a frame without copies, has ``FRAME_ROOM_BYTES_MAX`` at most before.

The ceiling may be raised between two frames (a peer that logs in may send more), which is why frames
are handed out one at a time. After a ``DecodeError`` the stream has lost its beat and the framer
refuses everything that follows.
"""

import struct
from collections.abc import Callable, Iterator
from typing import Final

from trivium.wire.buffer import Buffer
from trivium.wire.errors import DecodeError
from trivium.wire.limits import FRAME_ROOM_BYTES_MAX

ROOM_BYTES_MIN: Final = 64 * 1024
"""Room is made where so much of a frame is missing: less is copied as quickly."""

KAFKA_LENGTH: Final = struct.Struct(">i")
RUSTLOG_LENGTH: Final = struct.Struct(">I")
IGGY_LENGTH: Final = struct.Struct("<I")


class Framer:
    """Cuts one stream into frames; ``bytes_max`` may be changed and counts for the next length read.

    ``room_for`` makes the room for large frames, which is full before anybody sees it.
    """

    __slots__ = (
        "_broken",
        "_filled_bytes",
        "_frame_bytes",
        "_length",
        "_received",
        "_room",
        "_room_for",
        "bytes_max",
    )

    def __init__(
        self, length: struct.Struct, bytes_max: int, room_for: Callable[[int], bytearray] = bytearray
    ) -> None:
        self.bytes_max = bytes_max
        self._length = length
        self._received = bytearray()
        self._frame_bytes: int | None = None
        self._broken: str | None = None
        self._room: bytearray | None = None
        self._room_for = room_for
        self._filled_bytes = 0

    @property
    def buffered_bytes(self) -> int:
        """What was received and not yet handed out, without the length of the frame that has begun."""
        return len(self._received) + self._filled_bytes

    def feed(self, data: Buffer) -> None:
        """More of the stream."""
        if self._broken is None:
            self._received += data

    def room(self) -> memoryview | None:
        """Where the rest of the frame that has begun may be put, if it is large; then say ``filled``."""
        frame_bytes = self._frame_bytes
        if frame_bytes is None or frame_bytes > FRAME_ROOM_BYTES_MAX:
            return None
        if self._room is None:
            if frame_bytes - len(self._received) < ROOM_BYTES_MIN:
                return None
            self._room = self._room_for(frame_bytes)
            self._filled_bytes = len(self._received)
            self._room[: self._filled_bytes] = self._received
            self._received.clear()
        return memoryview(self._room)[self._filled_bytes :]

    def filled(self, size_bytes: int) -> None:
        """So much of the room holds more of the stream."""
        self._filled_bytes += size_bytes

    def next_frame(self) -> bytes | bytearray | None:
        """The next whole frame without its length, or None until more arrives."""
        if self._room is not None:
            return self._take_room()
        frame_bytes = self._frame_bytes
        if frame_bytes is None:
            frame_bytes = self._read_length()
            if frame_bytes is None:
                return None
        received = self._received
        if len(received) < frame_bytes:
            self._frame_bytes = frame_bytes
            return None
        self._frame_bytes = None
        if len(received) == frame_bytes:
            frame = bytes(received)
            received.clear()
            return frame
        with memoryview(received) as view:
            frame = bytes(view[:frame_bytes])
        del received[:frame_bytes]
        return frame

    def _take_room(self) -> bytearray | None:
        room = self._room
        if room is None or self._filled_bytes < len(room):
            return None
        self._room, self._frame_bytes, self._filled_bytes = None, None, 0
        return room

    def frames(self) -> Iterator[bytes | bytearray]:
        """All whole frames that are there, each looked for only when it is asked for."""
        while (frame := self.next_frame()) is not None:
            yield frame

    def _read_length(self) -> int | None:
        if self._broken is not None:
            raise DecodeError(self._broken)
        received = self._received
        if len(received) < self._length.size:
            return None
        frame_bytes: int = self._length.unpack_from(received)[0]
        if not 0 <= frame_bytes <= self.bytes_max:
            self._broken = f"a frame of {frame_bytes} bytes is announced, at most {self.bytes_max} are taken"
            self._received = bytearray()
            raise DecodeError(self._broken)
        del received[: self._length.size]
        return frame_bytes


def frame(length: struct.Struct, *parts: Buffer) -> bytes:
    """One frame of these parts, with its length in front."""
    return b"".join((length.pack(sum(map(len, parts))), *parts))
