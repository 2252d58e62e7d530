"""The one loop of the kernel that is about no records: files stand in line to be synced.

It is here because it must run without Python's lock. A thread that asks for the lock between two syncs waits
for a busy loop, and makes that loop stumble at each of its writes: that would cost a third of what a durable
write costs.

Requests come by one pipe and replies leave by another, numbers of 64 bits as the machine has them::

    request: file descriptor | number, or 0 if the next request belongs to it
    reply:   the last number that is done | errno of the sync that failed, or 0 | nanoseconds that it took

Whatever has come in by the time a sync ends shares the next one. The end of the pipe or a sync that fails
ends the line.
"""

from __future__ import annotations

import os
import struct
import time

from trivium.records.kernel import cython

if cython.compiled:
    from cython.cimports.libc.errno import EINTR, errno
    from cython.cimports.posix.time import CLOCK_MONOTONIC, clock_gettime, timespec
    from cython.cimports.posix.unistd import fdatasync, read, write

REQUEST = struct.Struct("=qq")
REPLY = struct.Struct("=qqq")
REQUEST_BYTES = cython.declare(cython.Py_ssize_t, 16)
REPLY_BYTES = cython.declare(cython.Py_ssize_t, 24)
READ_BYTES = cython.declare(cython.Py_ssize_t, 4096)
"""At once: whole requests, as many as a pipe is sure to take."""


def sync_in_line(requests: cython.uint, replies: cython.uint) -> None:
    """Blocks until the line ends."""
    received: bytearray = bytearray(READ_BYTES)
    sent: bytearray = bytearray(REPLY_BYTES)
    entries: cython.p_ulonglong
    reply: cython.p_ulonglong
    size_bytes: cython.Py_ssize_t
    i: cython.Py_ssize_t
    first: cython.Py_ssize_t
    if not cython.compiled:
        _sync_with_lock(requests, replies)
        return
    begun: timespec = timespec(tv_sec=0, tv_nsec=0)
    ended: timespec = timespec(tv_sec=0, tv_nsec=0)
    entries = cython.cast(cython.p_ulonglong, cython.cast(cython.p_uchar, received))
    reply = cython.cast(cython.p_ulonglong, cython.cast(cython.p_uchar, sent))
    with cython.nogil:
        while reply[1] == 0:
            size_bytes = read(requests, entries, READ_BYTES)
            if size_bytes < 0 and errno == EINTR:
                continue
            if size_bytes <= 0:
                break
            clock_gettime(CLOCK_MONOTONIC, cython.address(begun))
            for i in range(size_bytes // REQUEST_BYTES):
                first = 0
                while entries[2 * first] != entries[2 * i]:
                    first += 1
                while first == i and fdatasync(entries[2 * i]) != 0:
                    if errno != EINTR:
                        reply[1] = errno
                        break
                if reply[1] != 0:
                    break
                if entries[2 * i + 1] != 0:
                    reply[0] = entries[2 * i + 1]
            clock_gettime(CLOCK_MONOTONIC, cython.address(ended))
            reply[2] = (ended.tv_sec - begun.tv_sec) * 1_000_000_000 + ended.tv_nsec - begun.tv_nsec
            while write(replies, reply, REPLY_BYTES) < 0 and errno == EINTR:
                pass


def _sync_with_lock(requests: int, replies: int) -> None:
    done = error = 0
    while not error and (data := os.read(requests, READ_BYTES)):
        begun = time.monotonic_ns()
        synced: set[int] = set()
        try:
            for descriptor, number in REQUEST.iter_unpack(data):
                if descriptor not in synced:
                    os.fdatasync(descriptor)
                    synced.add(descriptor)
                done = number or done
        except OSError as failure:
            error = failure.errno or -1
        os.write(replies, REPLY.pack(done, error, time.monotonic_ns() - begun))
