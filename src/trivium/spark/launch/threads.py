"""How many threads the numerical libraries of Spark's Python processes start: one, where nobody has chosen.

NumPy, which comes with PyArrow, starts one for each core when it is loaded, and every query on a stream loads
it in a process of its own: with two cores a third of what that process needs to start, with more cores more.
Spark itself asks for ``spark.task.cpus`` threads in the processes that run a task, users' functions among
them, by the same variable; that stays as it is. Left are those that plan queries, which calculate nothing.
"""

from collections.abc import Mapping
from typing import Final

THREADS: Final = "OMP_NUM_THREADS"

_CHOICES: Final = (THREADS, "OPENBLAS_NUM_THREADS", "GOTO_NUM_THREADS", "MKL_NUM_THREADS")

_SPARKS_SETTING: Final = f"spark.executorEnv.{THREADS}"
"""Where it is there, Spark leaves the variable alone."""


def threads_are_chosen(environment: Mapping[str, str], settings: Mapping[str, str]) -> bool:
    return _SPARKS_SETTING in settings or any(name in environment for name in _CHOICES)
