"""Clusters that stay connected between two uses, for processes that do one small thing after the other.

    with borrowed("127.0.0.1:9092") as cluster:
        ...

Whoever borrows a cluster has it alone. Given back, it waits for the next one who asks for the same; after an
error it is closed, and the next one gets another. What it knows of topics is forgotten in between, because
they may change meanwhile. Threads may borrow at the same time. A process that was forked begins without any,
and keeps none that was lent before: a connection has one owner.
"""

import atexit
import os
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from threading import Lock
from typing import Final, NamedTuple

from trivium.client.cluster import TIMEOUT_S, Cluster
from trivium.client.security import PLAINTEXT, Security

IDLE_MAX: Final = 4
"""How many wait at most: a task has one for its rows, and a query commits to few places."""

IDLE_S_MAX: Final = 240.0
"""How long one waits: what lies between here and a broker may forget a connection that is silent for longer,
and nobody would hear of that but who asks and gets no answer."""


class Address(NamedTuple):
    """Everything that makes two clusters the same."""

    bootstrap: str
    client_id: str
    timeout_s: float
    security: Security
    patience_s: float


class _Idle(NamedTuple):
    address: Address
    cluster: Cluster
    since_s: float


_idle: list[_Idle] = []
_lock = Lock()


@contextmanager
def borrowed(
    bootstrap: str,
    *,
    client_id: str = "trivium",
    timeout_s: float = TIMEOUT_S,
    security: Security = PLAINTEXT,
    patience_s: float = 0.0,
) -> Iterator[Cluster]:
    """A cluster for the time of a ``with``; nobody there is an error at once, or after ``patience_s``."""
    wanted = Address(bootstrap, client_id, timeout_s, security, patience_s)
    cluster = _take(wanted) or Cluster.connect(
        bootstrap, client_id=client_id, timeout_s=timeout_s, security=security, patience_s=patience_s
    )
    owner = os.getpid()
    with ExitStack() as unless_kept:
        unless_kept.callback(cluster.close)
        yield cluster
        if os.getpid() == owner:
            unless_kept.pop_all()
            _keep(wanted, cluster)


def close_idle() -> None:
    """Close those that nobody uses just now."""
    with _lock:
        while _idle:
            _idle.pop().cluster.close()


def _keep(address: Address, cluster: Cluster) -> None:
    cluster.forget_leaders(list(cluster.topology.topics))
    with _lock:
        _idle.append(_Idle(address, cluster, time.monotonic()))
        while len(_idle) > IDLE_MAX:
            _idle.pop(0).cluster.close()


def _take(wanted: Address) -> Cluster | None:
    """The one that was given back last: its connections are the likeliest to live."""
    with _lock:
        while _idle and time.monotonic() - _idle[0].since_s > IDLE_S_MAX:
            _idle.pop(0).cluster.close()
        for each in reversed(_idle):
            if each.address == wanted:
                _idle.remove(each)
                return each.cluster
    return None


def _begin_anew() -> None:
    global _lock
    _lock = Lock()  # Somebody in the process before may have held it.
    _idle.clear()


atexit.register(close_idle)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_anew)
