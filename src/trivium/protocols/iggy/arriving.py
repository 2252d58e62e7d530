"""A large send becomes batches while it still comes in.

A client that waits for each answer leaves the broker idle while the bytes of a send arrive, and then waits
while they are bridged. So what has come is bridged while the rest is under way, and the end of a send finds
most of it done.

What was bridged belongs to one frame, known by its number and by the memory that it lies in. If anything is
not as expected it is forgotten, and the send is bridged when it is whole: whatever is wrong with it is said
then. Its memory grows with what has arrived, as that of the frame does, and counts as held for the client
(promise S2).
"""

from typing import Final

from trivium.protocols.iggy.body import Body
from trivium.protocols.iggy.sent_metadata import metadata_of
from trivium.protocols.iggy.status import Rejected
from trivium.records.iggy import BadMessages, Sending, SentMessages, begin_sending
from trivium.wire.errors import DecodeError
from trivium.wire.receiving import GROWTH, Receiver

BEGUN_BYTES_MIN: Final = 64 << 10
"""So much of a send has come, or it is not worth beginning."""


class Arriving:
    """The send that is on its way, as far as it has been bridged."""

    __slots__ = ("_count", "_frame", "_memory", "_receiver", "_sending")

    def __init__(self, receiver: Receiver) -> None:
        self._receiver = receiver
        self._frame = 0
        self._memory: object = None
        self._count = 0
        self._sending: Sending | None = None

    @property
    def held_bytes(self) -> int:
        return 0 if self._sending is None else self._sending.room_bytes()

    def look(self, body: Body, frame_bytes: int, now_us: int) -> None:
        """More of a send has come."""
        begun_bytes = body.remaining
        if self._frame != self._receiver.frames_held:
            self.forget()
            if begun_bytes < BEGUN_BYTES_MIN:
                return
            self._frame = self._receiver.frames_held
        elif self._sending is None:
            return
        try:
            count = metadata_of(body).messages_count
            if self._sending is None:
                room_bytes = min(frame_bytes, begun_bytes * GROWTH)
                self._sending, self._count = begin_sending(count, now_us, room_bytes), count
            self._memory = body.ahead.obj
            self._sending.begun(body.ahead)
        except (BadMessages, DecodeError, Rejected):
            self._sending = None

    def finish(self, data: memoryview, count: int) -> SentMessages | None:
        """All of a send; None if it is not the one that was begun, or something is wrong with it."""
        sending, begun = self._sending, (self._frame, self._count)
        is_it = begun == (self._receiver.frames_held, count) and data.obj is self._memory
        self.forget()
        if sending is None or not is_it:
            return None
        try:
            return sending.whole(data)
        except BadMessages:
            return None

    def forget(self) -> None:
        self._frame, self._memory, self._sending = 0, None, None
