"""On whose behalf something is done, also when it is done later.

``Broker`` says who asks while a command is carried out. Whoever keeps a callback for later (for a sync, for a
thread, in a line with others) keeps it ``on_behalf`` of that caller. What it raises then is our mistake:
the caller's connection ends, since nobody else would tell it that there will be no answer, and those in line
behind it have their turn. If nobody has asked, or the caller has gone, it is raised as ever.

A node works in one thread, and a test may run several nodes in one process: each thread has its own asker.
"""

import threading
from collections.abc import Callable, Iterable
from functools import partial
from typing import ParamSpec

from trivium.core.caller import Presence

P = ParamSpec("P")

Asked = tuple[Presence, str]
"""Who, and for what."""


class _Now(threading.local):
    asked: Asked | None = None


now = _Now()


def on_behalf(callback: Callable[P, None]) -> Callable[P, None]:
    """The same callback, for whoever asks now."""
    asked = now.asked
    return callback if asked is None else partial(act_for, asked, callback)


def act_for(
    asked: Asked | None, callback: Callable[P, None], /, *arguments: P.args, **named: P.kwargs
) -> None:
    """Call back for whoever asked then. Who waits in many lines at once keeps ``now.asked`` for this, and no
    callback of its own, which would hold it in return.
    """
    before, now.asked = now.asked, asked
    try:
        callback(*arguments, **named)
    except Exception as error:
        if asked is None or not asked[0].fail(asked[1], error):
            raise
    finally:
        now.asked = before


def tell_all(waiting: Iterable[Callable[P, None]], /, *arguments: P.args, **named: P.kwargs) -> None:
    """Call back everybody who waits. What one of them raises is raised when all have been told."""
    mistakes: list[Exception] = []
    for told in waiting:
        try:
            told(*arguments, **named)
        except Exception as mistake:  # noqa: BLE001  (raised below)
            mistakes.append(mistake)
    if mistakes:
        raise mistakes[0] if len(mistakes) == 1 else ExceptionGroup("several who were told", mistakes)
