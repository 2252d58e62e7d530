"""Deadlines of a connection, with a loop, a transport and a session that do nothing by themselves."""

import asyncio
from math import inf
from typing import Any, cast

import pytest

from trivium.server.connection import Connection
from trivium.server.connections import Connections, Patience
from trivium.server.limits import MemoryBudget
from trivium.server.patrol import Patrol
from trivium.wire.buffer import Buffer


class StillLoop:
    """Time passes when the test says so."""

    def __init__(self) -> None:
        self.now = 100.0

    def time(self) -> float:
        return self.now

    def call_later(self, seconds: float, callback: Any) -> asyncio.TimerHandle:
        return cast(asyncio.TimerHandle, None)

    def call_soon(self, callback: Any) -> None:
        pass


class StillTransport:
    def __init__(self) -> None:
        self.untaken_bytes = 0
        self.is_reading = True

    def set_write_buffer_limits(self, high: int) -> None:
        pass

    def get_write_buffer_size(self) -> int:
        return self.untaken_bytes

    def get_extra_info(self, name: str) -> object:
        return {"peername": ("192.0.2.1", 1234), "socket": self}.get(name)

    def fileno(self) -> int:
        return -1

    def pause_reading(self) -> None:
        self.is_reading = False

    def resume_reading(self) -> None:
        self.is_reading = True

    def write(self, data: Buffer) -> None:
        pass


class StillSession:
    in_flight = 0
    has_room = True
    has_foresight = False
    is_idle = True
    held_bytes = 0
    is_between_requests = True
    has_ended = False
    out_bytes = 0
    requests = 1

    def space(self, scratch: memoryview) -> memoryview:
        return scratch

    def received(self, count: int, scratch: memoryview) -> None:
        pass

    def proceed(self) -> None:
        pass

    def prepare(self) -> None:
        pass

    def data_to_send(self) -> list[Buffer]:
        self.out_bytes = 0
        return [b"answer"]

    def farewell(self) -> bytes:
        return b""

    def peer_finished(self) -> None:
        pass

    def close(self) -> None:
        pass


class Scene:
    def __init__(self) -> None:
        self.loop, self.transport, self.session = StillLoop(), StillTransport(), StillSession()
        shared = Connections(
            cast(asyncio.AbstractEventLoop, self.loop),
            Patience(first_request=3, slow_sender=5, slow_reader=7, idle=11),
            MemoryBudget(),
            MemoryBudget(),
        )
        shared.guard = Patrol(shared)
        self.connection = Connection(shared, lambda connection: self.session, lambda: None)
        self.connection.connection_made(cast(asyncio.Transport, self.transport))

    def due(self) -> float:
        return self.connection.due(self.loop.now)[0]


@pytest.fixture
def scene() -> Scene:
    return Scene()


def test_deadline_before_the_first_request_counts_from_the_connection(scene: Scene) -> None:
    scene.session.requests = 0
    scene.loop.now += 1
    assert scene.due() == 103


def test_deadline_of_an_idle_connection_counts_from_its_last_byte(scene: Scene) -> None:
    scene.loop.now += 4
    scene.connection.buffer_updated(1)
    assert scene.due() == 104 + 11


def test_deadline_of_a_connection_with_an_answer_about_to_leave_is_none(scene: Scene) -> None:
    scene.session.out_bytes = 6
    scene.loop.now += 100
    assert scene.due() == inf


def test_deadline_of_a_connection_that_waits_for_its_answer_is_none(scene: Scene) -> None:
    scene.session.is_idle = False
    assert scene.due() == inf


def test_deadline_of_a_slow_request_counts_from_its_first_byte(scene: Scene) -> None:
    scene.session.is_between_requests = False
    scene.connection.buffer_updated(1)
    scene.loop.now += 4
    scene.connection.buffer_updated(1)
    assert scene.due() == 100 + 5


def test_deadline_of_a_slow_request_begins_anew_with_the_next_request(scene: Scene) -> None:
    scene.session.is_between_requests = False
    scene.connection.buffer_updated(1)
    scene.loop.now += 4
    scene.session.requests += 1
    scene.connection.buffer_updated(1)
    assert scene.due() == 104 + 5


def test_deadline_of_a_peer_that_is_not_read_is_none_and_counts_anew_afterwards(scene: Scene) -> None:
    scene.session.is_between_requests = False
    scene.connection.buffer_updated(1)
    scene.session.has_room = False
    scene.connection.decide_reading()
    assert not scene.transport.is_reading
    assert scene.due() == inf
    scene.loop.now += 60
    scene.session.has_room = True
    scene.connection.decide_reading()
    assert scene.transport.is_reading
    assert scene.due() == 160 + 5


def test_deadline_of_a_slow_reader_counts_from_the_last_byte_it_took(scene: Scene) -> None:
    scene.transport.untaken_bytes = 1000
    scene.connection.pause_writing()
    scene.loop.now += 6
    assert scene.due() == 100 + 7
    scene.transport.untaken_bytes = 999
    assert scene.due() == 106 + 7
    scene.loop.now += 6
    assert scene.due() == 106 + 7
    scene.connection.resume_writing()
    assert scene.due() == 112 + 11
