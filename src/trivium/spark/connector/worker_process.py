"""The process that Spark runs Python in: what makes it quick, and quiet at its end.

Spark uses such a process again and again, and lets it collect garbage after each task: 20 ms for everything
that was imported, more than a task of one row takes. What is there from the start is not garbage.

Rows come through it in pieces of some megabytes. The C library would give the memory of each back to the
system, and get it again for the next one page by page: a quarter of all that a reading task needs.
"""

import ctypes
import gc
import os
import sys
from typing import Final

KEPT_BYTES_MAX: Final = 64 * 1024 * 1024
"""Of memory that is free and may be needed again: a few pieces, in both forms."""

_KEEP_LARGE_BYTES: Final = 32 * 1024 * 1024
"""What is larger than this goes back at once; glibc takes no more."""

_M_TRIM_THRESHOLD: Final = -1
_M_MMAP_THRESHOLD: Final = -3

_SPARKS_MARK = "SPARK_REUSE_WORKER"
"""In the environment of processes that are used again, and of no others."""

_settled_modules = 0


def settle() -> None:
    """Keep memory for the next piece, and leave what has been imported out of all further collections; again
    only if there is more of it."""
    global _settled_modules
    if _settled_modules != len(sys.modules) and _SPARKS_MARK in os.environ:
        if not _settled_modules:
            _keep_memory()
        _settled_modules = len(sys.modules)
        gc.collect()
        gc.freeze()


def _keep_memory() -> None:
    adjust = getattr(ctypes.CDLL(None), "mallopt", None)  # glibc has it; others know better, or nothing.
    if adjust is not None:
        adjust(_M_TRIM_THRESHOLD, KEPT_BYTES_MAX)
        adjust(_M_MMAP_THRESHOLD, _KEEP_LARGE_BYTES)


def fall_silent_if_left() -> None:
    """When Spark has closed the pipe, its own last words here would be a traceback about that."""
    if _SPARKS_MARK in os.environ and isinstance(sys.exception(), BrokenPipeError | EOFError):
        with open(os.devnull, "w") as nowhere:
            os.dup2(nowhere.fileno(), sys.stderr.fileno())
