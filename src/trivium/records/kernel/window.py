"""The bytes of others, whatever holds them, where a pointer may look at them without a copy."""

from __future__ import annotations

from trivium.records.kernel import cython
from trivium.wire.buffer import Buffer

if cython.compiled:
    from cython.cimports.cpython.buffer import (
        Py_buffer,
        PyBUF_SIMPLE,
        PyBUF_WRITABLE,
        PyBuffer_Release,
        PyObject_GetBuffer,
    )


@cython.final
@cython.cclass
class Window:
    """Bytes that belong to somebody else, held so that they stay where they are."""

    view: Py_buffer
    p: cython.p_uchar
    size_bytes: cython.Py_ssize_t

    def __init__(self, buffer: Buffer, writable: bool = False) -> None:
        if cython.compiled:
            PyObject_GetBuffer(
                buffer, cython.address(self.view), PyBUF_WRITABLE if writable else PyBUF_SIMPLE
            )
            self.p = cython.cast(cython.p_uchar, self.view.buf)
            self.size_bytes = self.view.len
        else:
            self.p = buffer
            self.size_bytes = len(buffer)

    def __dealloc__(self) -> None:
        if cython.compiled:
            PyBuffer_Release(cython.address(self.view))
