"""Room for bytes to come, as the memory is found.

Python fills every new block with zeros, which costs a reader of large answers as much as copying a third of
them. Nobody may look at room before it is full.
"""

from __future__ import annotations

from trivium.records.kernel import cython

if cython.compiled:
    from cython.cimports.cpython.bytearray import PyByteArray_FromStringAndSize


def room_for(size_bytes: int) -> bytearray:
    if not cython.compiled:
        return bytearray(size_bytes)
    room: bytearray = PyByteArray_FromStringAndSize(cython.NULL, size_bytes)
    return room
