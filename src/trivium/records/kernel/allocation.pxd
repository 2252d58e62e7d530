# C functions that the kernel needs and that Cython's own headers declare with other types: a field of a tuple
# that was just made is NULL, which is no object.

cdef extern from "Python.h":
    ctypedef struct PyObject
    object PyType_GenericAlloc(type kind, Py_ssize_t items_count)
    PyObject* PyTuple_GET_ITEM(object items, Py_ssize_t index)
    void PyObject_GC_UnTrack(object tracked)
    void Py_XDECREF(PyObject* item)
