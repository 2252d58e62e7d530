"""What an Iggy client sends becomes batches of records.

The layout of messages is drawn in ``message``; what becomes of what is told in docs/one-truth.md.
"""

from __future__ import annotations

from trivium.records.kernel import cython
from trivium.records.kernel.batches_writer import BatchesWriter
from trivium.records.kernel.header_names import LONG_HEAD
from trivium.records.kernel.integers import INT64_MAX, u32_at, u64_at
from trivium.records.kernel.user_headers import UserHeaders
from trivium.records.kernel.window import Window
from trivium.records.message import INDEX_ENTRY_BYTES, SHORT_HEADER_BYTES, BadMessages, Flaw, SentMessages
from trivium.wire.buffer import Buffer
from trivium.wire.errors import EncodeError
from trivium.wire.limits import IGGY_PAYLOAD_BYTES_MAX, IGGY_USER_HEADERS_BYTES_MAX

INDEX_BYTES = cython.declare(cython.longlong, INDEX_ENTRY_BYTES)
SHORT_HEAD = cython.declare(cython.longlong, SHORT_HEADER_BYTES)
PAYLOAD_MAX = cython.declare(cython.longlong, IGGY_PAYLOAD_BYTES_MAX)
USER_HEADERS_MAX = cython.declare(cython.longlong, IGGY_USER_HEADERS_BYTES_MAX)


def batches_from_messages(data: Buffer, count: int, now_us: int, batch_bytes_max: int) -> SentMessages:
    """An index table and as many messages, as batches of records that share one timestamp."""
    sending: Sending = Sending(count, now_us, batch_bytes_max, len(data))
    return sending.whole(data)


@cython.final
@cython.cclass
class Sending:
    """The messages of one request, bridged as they come in. Each time it is shown everything that has come so
    far, wherever that lies now.
    """

    count: cython.Py_ssize_t
    number: cython.Py_ssize_t
    start: cython.Py_ssize_t
    header_bytes: cython.Py_ssize_t
    user_headers: UserHeaders
    batches: BatchesWriter

    def __init__(self, count: int, now_us: int, batch_bytes_max: int, room_bytes: int) -> None:
        """``room_bytes``: how much memory it takes at once."""
        if count < 1:
            raise BadMessages(Flaw.COUNT, f"{count} messages are none")
        if not 0 <= now_us <= INT64_MAX:
            raise EncodeError(f"no clock says {now_us} microseconds")
        self.count = count
        self.number = 0
        self.start = INDEX_BYTES * self.count
        self.header_bytes = 0
        self.user_headers = UserHeaders()
        self.batches = BatchesWriter(room_bytes, now_us, batch_bytes_max)

    def room_bytes(self) -> int:
        return self.batches.writer.capacity

    def begun(self, data: Buffer) -> None:
        """All but the last message, as far as they are there."""
        window: Window = Window(data)
        if self.count > window.size_bytes // (INDEX_BYTES + SHORT_HEAD):
            return
        while (
            self.number < self.count - 1 and indexed_end(window, self.number, self.count) <= window.size_bytes
        ):
            self.take(window)

    def whole(self, data: Buffer) -> SentMessages:
        """All that are left, and with them everything."""
        window: Window = Window(data)
        if self.count > window.size_bytes // (INDEX_BYTES + SHORT_HEAD):
            raise BadMessages(Flaw.INDEX, f"{self.count} messages in {window.size_bytes} bytes")
        while self.number < self.count:
            self.take(window)
        return SentMessages(self.batches.taken(), self.batches.closed, self.header_bytes)

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def take(self, window: Window) -> cython.bint:
        p: cython.p_uchar = window.p
        start: cython.Py_ssize_t = self.start
        end: cython.Py_ssize_t = message_end(window, self.number, self.count)
        header_bytes: cython.Py_ssize_t = checked_header_bytes(window, start, end, self.header_bytes)
        headers_length: cython.Py_ssize_t = u32_at(p, start + 48)
        payload_length: cython.Py_ssize_t = u32_at(p, start + 52)
        payload_at: cython.Py_ssize_t = start + header_bytes
        if headers_length or not self.batches.append_alike(p, start, payload_at, payload_length):
            self.user_headers.read(
                p, end - headers_length, headers_length, header_bytes == LONG_HEAD, payload_length > 0
            )
            self.batches.append(p, start, payload_at, payload_length, self.user_headers)
        self.header_bytes = header_bytes
        self.start = end
        self.number += 1
        return True


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def indexed_end(window: Window, number: cython.Py_ssize_t, count: cython.Py_ssize_t) -> cython.longlong:
    return INDEX_BYTES * count + u32_at(window.p, INDEX_BYTES * number + 4)


@cython.cfunc
@cython.inline
@cython.exceptval(-1, check=True)
def message_end(window: Window, number: cython.Py_ssize_t, count: cython.Py_ssize_t) -> cython.Py_ssize_t:
    """Where the index says that a message ends. The last one takes all that is left, as Iggy's servers do."""
    at: cython.Py_ssize_t = INDEX_BYTES * number
    end: cython.longlong = indexed_end(window, number, count)
    if u32_at(window.p, at) != 0:
        raise BadMessages(Flaw.INDEX_OFFSET, f"index entry {number} has an offset, which only a server gives")
    if u64_at(window.p, at + 8) != 0:
        raise BadMessages(
            Flaw.INDEX_TIMESTAMP, f"index entry {number} has a timestamp, which only a server gives"
        )
    if end > window.size_bytes:
        raise BadMessages(
            Flaw.INDEX, f"message {number} ends {end - window.size_bytes} bytes after all that was sent"
        )
    return window.size_bytes if number == count - 1 else end


@cython.cfunc
@cython.inline
@cython.exceptval(-1, check=True)
def checked_header_bytes(
    window: Window, start: cython.Py_ssize_t, end: cython.Py_ssize_t, expected: cython.Py_ssize_t
) -> cython.Py_ssize_t:
    """The size of a message's header: what its other parts leave of it. ``expected`` is 0 for the first."""
    if end < start:
        raise BadMessages(Flaw.INDEX_ORDER, "a message in the index ends before it begins")
    if end - start < SHORT_HEAD:
        raise BadMessages(Flaw.TOO_SMALL, f"a message of {end - start} bytes is smaller than its header")
    headers_length: cython.longlong = u32_at(window.p, start + 48)
    payload_length: cython.longlong = u32_at(window.p, start + 52)
    header_bytes: cython.longlong = end - start - headers_length - payload_length
    if payload_length > PAYLOAD_MAX:
        raise BadMessages(Flaw.PAYLOAD_TOO_BIG, f"a payload of {payload_length} bytes, of {PAYLOAD_MAX}")
    if headers_length > USER_HEADERS_MAX:
        raise BadMessages(
            Flaw.HEADERS_TOO_BIG, f"user headers of {headers_length} bytes, of {USER_HEADERS_MAX}"
        )
    if header_bytes != expected and (expected or header_bytes not in (SHORT_HEAD, LONG_HEAD)):
        raise BadMessages(
            Flaw.SIZE,
            f"a message of {end - start} bytes has {payload_length} of payload"
            f" and {headers_length} of user headers",
        )
    if header_bytes == LONG_HEAD and u64_at(window.p, start + 56) != 0:
        raise BadMessages(Flaw.RESERVED, "the reserved bytes of a message are not zero")
    return header_bytes
