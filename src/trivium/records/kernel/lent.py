"""A stretch of memory as an object, for libraries that take ``bytes`` and would have them copied.

Only the compiled kernel has memory to lend. Whoever gets it reads it at once and keeps nothing: it is gone
when its owner is.
"""

from __future__ import annotations

from trivium.records.kernel import cython

if cython.compiled:
    from cython.cimports.cpython.buffer import Py_buffer, PyBuffer_FillInfo


@cython.final
@cython.cclass
class Lent:
    """It has no ``__releasebuffer__``: that is what a library goes by that only takes what stays as it is."""

    p: cython.p_const_uchar
    size_bytes: cython.Py_ssize_t

    def __getbuffer__(self, view: cython.pointer(Py_buffer), flags):  # type: ignore[valid-type, no-untyped-def]
        PyBuffer_FillInfo(view, self, cython.cast(cython.p_void, self.p), self.size_bytes, True, flags)


@cython.cfunc
def lent(p: cython.p_const_uchar, start: cython.Py_ssize_t, end: cython.Py_ssize_t) -> Lent:
    made: Lent = Lent()
    made.p = cython.cast(cython.p_const_uchar, p + start)
    made.size_bytes = end - start
    return made
