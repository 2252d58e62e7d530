"""Changes on disk of which each must be durable before the next, and nobody waits who has other things to do.

A staged change is a generator. It takes a step, hands out what has to be waited for (a sync, which may run in
any thread), and goes on once that is over; an error is thrown back in where the wait was handed out. So a
change reads from top to bottom, and whoever carries it out chooses where the waiting is done: ``carry_out``
here and now, ``server.housekeeping`` in a thread.

The steps belong to the thread that appends. Between two of them the log may have changed, or be deleted.
"""

from collections.abc import Callable, Generator
from typing import TypeVar

Result = TypeVar("Result")

Wait = Callable[[], None]
"""Blocks until the disk has done its part; ``OSError`` if it cannot. Touches files and nothing else."""

Staged = Generator[Wait, None, Result]


def carry_out(staged: Staged[Result]) -> Result:
    """From the first step to the last, waiting in between."""
    error: OSError | None = None
    while True:
        try:
            wait = next(staged) if error is None else staged.throw(error)
        except StopIteration as end:
            result: Result = end.value
            return result
        error = outcome(wait)


def outcome(wait: Wait) -> OSError | None:
    """Wait; what went wrong."""
    try:
        wait()
    except OSError as error:
        return error
    return None
