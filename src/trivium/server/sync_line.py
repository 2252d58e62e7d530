"""A thread that syncs files without ever asking for Python's lock, and the pipes that lead there and back.

What goes through them is drawn in ``records.kernel.sync_line``. A round is a number; rounds are done in the
order in which they were put in line, and after a failure none is. Knows neither logs nor who waits for them.
"""

import os
import select
import threading
from collections.abc import Sequence
from typing import NamedTuple

from trivium.records.kernel import sync_in_line
from trivium.records.kernel.sync_line import REPLY, REQUEST

REQUESTS_MAX = 128
"""In line at any time: half of what the smallest pipe holds, a page. So nobody waits to put one in."""


class Progress(NamedTuple):
    number: int
    """The last round that is done."""
    failure: OSError | None
    seconds: float
    """Of the syncs that are news."""


class SyncLine:
    def __init__(self, name: str) -> None:
        self._requests_out, self._requests_in = os.pipe()
        self.replies, self._replies_in = os.pipe()
        """To be watched for what there is to read."""
        os.set_blocking(self.replies, False)
        ends = (self._requests_out, self._replies_in)
        # A daemon: it waits in a system call, and a process that ends by an error closes nothing.
        self._thread = threading.Thread(target=sync_in_line, args=ends, name=name, daemon=True)
        self._thread.start()

    def put(self, descriptors: Sequence[int], number: int) -> None:
        """Have these synced as round ``number``, the next one."""
        last = len(descriptors) - 1
        requests = [REQUEST.pack(each, number if at == last else 0) for at, each in enumerate(descriptors)]
        os.write(self._requests_in, b"".join(requests))

    def wait(self) -> None:
        """Until the thread has said something."""
        poll = select.poll()
        poll.register(self.replies, select.POLLIN)
        poll.poll()

    def progress(self) -> list[Progress]:
        """What the thread has said since it was last asked."""
        try:
            said = os.read(self.replies, REQUESTS_MAX * REPLY.size)
        except BlockingIOError:
            return []
        return [
            Progress(number, OSError(error, os.strerror(error)) if error else None, nanoseconds / 1e9)
            for number, error, nanoseconds in REPLY.iter_unpack(said)
        ]

    def close(self) -> None:
        """Once everything has been answered."""
        os.close(self._requests_in)
        self._thread.join()
        for descriptor in (self._requests_out, self.replies, self._replies_in):
            os.close(descriptor)
