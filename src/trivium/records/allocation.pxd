# The one C function that the kernel needs and that Cython's own headers declare with a wrong type.

cdef extern from "Python.h":
    object PyType_GenericAlloc(type kind, Py_ssize_t items_count)
