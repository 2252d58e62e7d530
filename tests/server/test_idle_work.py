"""Work for idle moments is done when no bytes are there, and never before them (R9)."""

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Any, cast

import pytest

from trivium.server.connections import Connections, Patience
from trivium.server.limits import MemoryBudget


class Turns:
    """A loop by hand. What is called soon is called in the next turn, before its bytes are read."""

    def __init__(self) -> None:
        self._soon: deque[Callable[[], object]] = deque()

    def call_soon(self, call: Callable[..., object], *words: Any) -> None:
        self._soon.append(lambda: call(*words))

    def turn(self) -> None:
        for _ in range(len(self._soon)):
            self._soon.popleft()()


@pytest.fixture
def turns() -> Turns:
    return Turns()


@pytest.fixture
def connections(turns: Turns) -> Connections:
    loop = cast(asyncio.AbstractEventLoop, turns)
    return Connections(loop, Patience(1, 1, 1, 1), MemoryBudget(1), MemoryBudget(1))


def test_idle_work_is_done_after_a_look_that_found_nothing(turns: Turns, connections: Connections) -> None:
    done: list[str] = []
    for name in ("one", "other"):
        connections.when_idle(lambda name=name: done.append(name))  # type: ignore[misc]
    turns.turn()
    assert done == []
    turns.turn()
    assert done == ["one", "other"]
    turns.turn()
    assert done == ["one", "other"]


def test_idle_work_is_left_when_bytes_have_come(turns: Turns, connections: Connections) -> None:
    done: list[str] = []
    connections.when_idle(lambda: done.append("before"))
    turns.turn()
    connections.traffic.in_bytes += 1
    turns.turn()
    turns.turn()
    assert done == []
    connections.when_idle(lambda: done.append("after"))
    turns.turn()
    turns.turn()
    assert done == ["after"]
