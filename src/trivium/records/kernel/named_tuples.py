"""Named tuples, made and read without what Python's own ways cost.

The constructor of a named tuple takes longer than all the parsing before it. Compiled code can make an empty
one and fill it; the interpreted form calls the constructor.
"""

from __future__ import annotations

import sys
from typing import Any

from trivium.records.kernel import cython

if cython.compiled:
    from cython.cimports.cpython.ref import Py_INCREF
    from cython.cimports.cpython.tuple import PyTuple_GetItem, PyTuple_SET_ITEM
    from cython.cimports.trivium.records.kernel.allocation import (
        Py_XDECREF,
        PyObject_GC_UnTrack,
        PyTuple_GET_ITEM,
        PyType_GenericAlloc,
    )

# From 3.14 on a tuple carries its hash, and only its own constructor prepares the place for it.
ALLOCATES_TUPLES = cython.declare(cython.bint, cython.compiled and sys.version_info < (3, 14))
"""Whether ``blank`` and ``fill`` may be called."""


@cython.cfunc
@cython.inline
def blank(kind: type, fields_count: cython.Py_ssize_t) -> Any:
    """A named tuple whose fields are still to be filled, with numbers, bytes, text or tuples of these."""
    made = PyType_GenericAlloc(kind, fields_count)
    PyObject_GC_UnTrack(made)  # Such fields refer to nothing: the collector has no cycle to look for.
    return made


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def fill(made: Any, index: cython.Py_ssize_t, content: Any) -> cython.void:
    """Set a field of a tuple that nobody else holds. What it held before has no finalizer that could look."""
    Py_XDECREF(PyTuple_GET_ITEM(made, index))
    Py_INCREF(content)  # The macro takes a reference over without counting it.
    PyTuple_SET_ITEM(made, index, content)


@cython.cfunc
@cython.inline
def field(items: Any, index: cython.Py_ssize_t) -> Any:
    """A field by number. Cython looks up ``__getitem__`` by name where a tuple has a class of its own."""
    if cython.compiled:
        return cython.cast(object, PyTuple_GetItem(items, index))
    else:  # noqa: RET505 - a compiler that sees one branch only calls the rest unreachable
        return items[index]
