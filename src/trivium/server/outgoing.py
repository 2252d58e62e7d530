"""Answers on their way into one socket, in the pieces in which they were made.

A transport of asyncio copies what the socket does not take at once, and before Python 3.12 it joins the
pieces first: with answers of megabytes that is most of what sending them costs. So the pieces go straight to
the socket. When it is full the transport gets a small one, and with it what transports are good at: it waits
for room, sends that piece and says so (``resume_writing``), and it finds out when the peer has gone.

Nothing goes straight to the socket while the transport has something left: it would be overtaken.
"""

import asyncio
import os
from collections import deque
from collections.abc import Iterable
from itertools import islice
from typing import Final

from trivium.wire.buffer import Buffer

JOIN_BYTES_MAX: Final = 16 << 10
"""Answers up to this size are cheaper to copy into one piece than to hand to the system in several."""
WAITING_BYTES: Final = 64 << 10
"""What the transport gets when the socket is full."""
PIECES_MAX: Final = min(os.sysconf("SC_IOV_MAX"), 1024)
"""As many pieces the system takes at once."""


class Outgoing:
    __slots__ = ("_left", "_left_bytes", "_socket", "_transport")

    def __init__(self, transport: asyncio.Transport) -> None:
        if transport.get_extra_info("sslcontext") is not None:
            raise ValueError("what goes past the transport of an encrypted connection would not be encrypted")
        self._transport = transport
        self._socket: int = transport.get_extra_info("socket").fileno()
        self._left: deque[memoryview] = deque()
        self._left_bytes = 0

    @property
    def untaken_bytes(self) -> int:
        """What the socket has not taken yet."""
        return self._left_bytes + self._transport.get_write_buffer_size()

    def send(self, pieces: Iterable[Buffer], size_bytes: int) -> None:
        if size_bytes <= JOIN_BYTES_MAX or self._transport.get_write_buffer_size():
            self._transport.write(b"".join(pieces))
        else:
            self._left.extend(map(memoryview, pieces))
            self._left_bytes += size_bytes
            self.go_on()

    def go_on(self) -> None:
        """The socket has room, as far as one knows."""
        while self._left_bytes:
            try:
                taken_bytes = os.writev(self._socket, list(islice(self._left, PIECES_MAX)))
            except OSError:
                # Full, or broken: the transport finds out which, and tells.
                self._transport.write(b"".join(self._take(WAITING_BYTES)))
                if self._transport.get_write_buffer_size() or self._transport.is_closing():
                    return
                # The peer made room in between. The transport has nothing left, so it would not tell.
                continue
            self._take(taken_bytes)

    def finish(self) -> None:
        """Close when everything has been taken."""
        if self._left_bytes:
            self._transport.write(b"".join(self._take(self._left_bytes)))
        self._transport.close()

    def _take(self, size_bytes: int) -> list[memoryview]:
        """The next so many bytes, or all that are left."""
        left, taken = self._left, []
        while left and size_bytes >= len(left[0]):
            piece = left.popleft()
            size_bytes -= len(piece)
            self._left_bytes -= len(piece)
            taken.append(piece)
        if left and size_bytes:
            taken.append(left[0][:size_bytes])
            left[0] = left[0][size_bytes:]
            self._left_bytes -= size_bytes
        return taken
