"""The process that Spark runs Python in: what makes it quick at small tasks, and quiet at its end.

Spark uses such a process again and again, and lets it collect garbage after each task: 20 ms for everything
that was imported, more than a task of one row takes. What is there from the start is not garbage.
"""

import gc
import os
import sys

_SPARKS_MARK = "SPARK_REUSE_WORKER"
"""In the environment of processes that are used again, and of no others."""

_settled_modules = 0


def settle() -> None:
    """Leave what has been imported out of all further collections; again only if there is more of it."""
    global _settled_modules
    if _settled_modules != len(sys.modules) and _SPARKS_MARK in os.environ:
        _settled_modules = len(sys.modules)
        gc.collect()
        gc.freeze()


def fall_silent_if_left() -> None:
    """When Spark has closed the pipe, its own last words here would be a traceback about that."""
    if _SPARKS_MARK in os.environ and isinstance(sys.exception(), BrokenPipeError | EOFError):
        with open(os.devnull, "w") as nowhere:
            os.dup2(nowhere.fileno(), sys.stderr.fileno())
