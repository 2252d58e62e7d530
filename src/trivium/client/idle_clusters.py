"""Clusters that stay connected between two uses, for processes that do one small thing after the other.

    with borrowed("127.0.0.1:9092") as cluster:
        ...

Whoever borrows a cluster has it alone. Given back, it waits for the next one who asks for the same; after an
error it is closed, and the next one gets another. What it knows of topics is forgotten in between, because
they may change meanwhile. Threads may borrow at the same time. A process that was forked begins without any:
a connection has one owner.
"""

import atexit
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from threading import Lock
from typing import Final, NamedTuple

from trivium.client.cluster import TIMEOUT_S, Cluster
from trivium.client.security import PLAINTEXT, Security

IDLE_MAX: Final = 4
"""How many wait at most: a task has one for its rows, and a query commits to few places."""


class Address(NamedTuple):
    """Everything that makes two clusters the same."""

    bootstrap: str
    client_id: str
    timeout_s: float
    security: Security


_idle: list[tuple[Address, Cluster]] = []
_lock = Lock()


@contextmanager
def borrowed(
    bootstrap: str,
    *,
    client_id: str = "trivium",
    timeout_s: float = TIMEOUT_S,
    security: Security = PLAINTEXT,
) -> Iterator[Cluster]:
    """A cluster for the time of a ``with``; nobody there is an error at once."""
    wanted = Address(bootstrap, client_id, timeout_s, security)
    cluster = _take(wanted) or Cluster.connect(
        bootstrap, client_id=client_id, timeout_s=timeout_s, security=security
    )
    with ExitStack() as on_error:
        on_error.callback(cluster.close)
        yield cluster
        on_error.pop_all()
    cluster.forget_leaders(list(cluster.topology.topics))
    with _lock:
        _idle.append((wanted, cluster))
        while len(_idle) > IDLE_MAX:
            _idle.pop(0)[1].close()


def close_idle() -> None:
    """Close those that nobody uses just now."""
    with _lock:
        while _idle:
            _idle.pop()[1].close()


def _take(wanted: Address) -> Cluster | None:
    """The one that was given back last: its connections are the likeliest to live."""
    with _lock:
        for each in reversed(_idle):
            if each[0] == wanted:
                _idle.remove(each)
                return each[1]
    return None


def _begin_anew() -> None:
    global _lock
    _lock = Lock()  # Somebody in the process before may have held it.
    _idle.clear()


atexit.register(close_idle)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_anew)
