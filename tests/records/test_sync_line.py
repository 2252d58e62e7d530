"""Files in line to be synced: both kernels read the same requests and give the same replies."""

import errno
import os
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from trivium.records.kernel.sync_line import REPLY, REQUEST


@contextmanager
def line_of(kernel: Any) -> Iterator[tuple[int, int]]:
    """The end that takes requests and the end that gives replies, with a thread between them."""
    with ExitStack() as stack:
        requests, put = os.pipe()
        replies, answer = os.pipe()
        for descriptor in (requests, replies, answer):
            stack.callback(os.close, descriptor)
        thread = threading.Thread(target=kernel.sync_in_line, args=(requests, answer))
        thread.start()
        stack.callback(thread.join, 60)
        stack.callback(os.close, put)
        yield put, replies


def ask(put: int, replies: int, *requests: tuple[int, int]) -> tuple[int, int]:
    """The number that is done and the error, of requests that came together."""
    os.write(put, b"".join(REQUEST.pack(*request) for request in requests))
    number, error, nanoseconds = REPLY.unpack(os.read(replies, REPLY.size))
    assert nanoseconds >= 0
    return number, error


def test_line_answers_with_the_last_number_of_what_came_together(kernel: Any, tmp_path: Path) -> None:
    with (tmp_path / "a").open("wb") as a, (tmp_path / "b").open("wb") as b, line_of(kernel) as ends:
        assert ask(*ends, (a.fileno(), 1)) == (1, 0)
        assert ask(*ends, (a.fileno(), 0), (b.fileno(), 2), (a.fileno(), 3)) == (3, 0)
        assert ask(*ends, (a.fileno(), 4), (b.fileno(), 0)) == (4, 0), "round 5 has only begun"
        assert ask(*ends, (a.fileno(), 5)) == (5, 0)


def test_line_ends_with_the_sync_that_fails(kernel: Any, tmp_path: Path) -> None:
    """R4: whatever stands behind it is never done."""
    unsyncable, other_end = os.pipe()
    with (tmp_path / "a").open("wb") as a, line_of(kernel) as ends:
        requests = [(a.fileno(), 1), (unsyncable, 2), (a.fileno(), 3)]
        assert ask(*ends, *requests) == (1, errno.EINVAL)
    os.close(unsyncable)
    os.close(other_end)
