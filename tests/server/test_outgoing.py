"""Answers on their way into a socket: every byte once and in order, however the socket takes them (S5)."""

import asyncio
import random
import socket
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import cast

import pytest
import uvloop

from trivium.server.outgoing import JOIN_BYTES_MAX, PIECES_MAX, WAITING_BYTES, Outgoing
from trivium.wire.buffer import Buffer

NewLoop = Callable[[], asyncio.AbstractEventLoop]

each_loop = pytest.mark.parametrize("new_loop", [asyncio.new_event_loop, uvloop.new_event_loop])


@dataclass
class Sender(asyncio.Protocol):
    """Sends pieces as a connection does: nothing while the transport has something left."""

    pieces: list[list[Buffer]]
    lost: list[Exception | None] = field(default_factory=list)
    is_paused: bool = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        ours = cast(asyncio.Transport, transport)
        ours.set_write_buffer_limits(high=0)
        self.outgoing = Outgoing(ours)
        self.send()

    def send(self) -> None:
        while self.pieces and not self.is_paused:
            answer = self.pieces.pop(0)
            self.outgoing.send(answer, sum(map(len, answer)))
        if not self.pieces:
            self.outgoing.finish()

    def pause_writing(self) -> None:
        self.is_paused = True

    def resume_writing(self) -> None:
        self.is_paused = False
        self.outgoing.go_on()
        if not self.is_paused:
            self.send()

    def connection_lost(self, exc: Exception | None) -> None:
        self.lost.append(exc)


def sent_through_a_small_socket(
    pieces: list[list[Buffer]], receive: Callable[[socket.socket], bytes], new_loop: NewLoop
) -> tuple[bytes, Sender]:
    sender = Sender(pieces)

    def ask(port: int) -> bytes:
        with socket.create_connection(("127.0.0.1", port), timeout=20) as peer:
            return receive(peer)

    async def run() -> bytes:
        listener = socket.create_server(("127.0.0.1", 0))
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 8192)  # its connections get the same
        loop = asyncio.get_running_loop()
        async with await loop.create_server(lambda: sender, sock=listener) as server:
            data = await loop.run_in_executor(None, ask, listener.getsockname()[1])
            while not sender.lost:
                await asyncio.sleep(0.001)
            server.close()
        return data

    with asyncio.Runner(loop_factory=new_loop) as runner:
        return runner.run(run()), sender


def everything(peer: socket.socket) -> bytes:
    data = bytearray()
    while piece := peer.recv(100_000):
        data += piece
    return bytes(data)


@each_loop
@pytest.mark.parametrize(
    "sizes",
    [
        [[1]],
        [[JOIN_BYTES_MAX]],
        [[JOIN_BYTES_MAX + 1]],
        [[10, 3_000_000]],
        [[10, WAITING_BYTES], [10, WAITING_BYTES, 1]],
        [[0, 50_000, 0, 50_000, 0]],
        [[100] * (3 * PIECES_MAX)],
        [[40, 1_000_000, 40, 1_000_000], [20], [30, 20_000], [1_000_000]],
    ],
)
def test_pieces_of_every_size_arrive_in_order(sizes: list[list[int]], new_loop: NewLoop) -> None:
    made = random.Random(1)
    pieces = [[made.randbytes(size) for size in answer] for answer in sizes]
    expected = b"".join(piece for answer in pieces for piece in answer)
    data, sender = sent_through_a_small_socket([list(answer) for answer in pieces], everything, new_loop)
    assert data == expected
    assert sender.outgoing.untaken_bytes == 0


@each_loop
def test_peer_that_goes_away_ends_the_connection(new_loop: NewLoop) -> None:
    def a_little(peer: socket.socket) -> bytes:
        data = peer.recv(1000)
        peer.close()
        return data

    _, sender = sent_through_a_small_socket([[bytes(5_000_000)], [bytes(5_000_000)]], a_little, new_loop)
    assert len(sender.lost) == 1


class Obliging(asyncio.Transport):
    """A transport that always finds room: its peer takes what there is right before each write."""

    def __init__(self) -> None:
        self.ours, self.peer = socket.socketpair()
        self.ours.setblocking(False)
        self.peer.setblocking(False)
        self.data = bytearray()

    def get_extra_info(self, name: str, default: object = None) -> object:
        return {"socket": self.ours}.get(name)

    def get_write_buffer_size(self) -> int:
        return 0

    def is_closing(self) -> bool:
        return False

    def write(self, data: Buffer) -> None:
        self.drain()
        assert self.ours.send(data) == len(data)

    def drain(self) -> None:
        with suppress(BlockingIOError):
            while piece := self.peer.recv(1 << 20):
                self.data += piece


def test_room_that_comes_between_two_looks_at_the_socket_is_used() -> None:
    """S5: found full, then empty: nobody tells, as the transport had nothing to wait for."""
    transport = Obliging()
    answer = random.Random(2).randbytes(3_000_000)
    with transport.ours, transport.peer:
        outgoing = Outgoing(transport)
        outgoing.send([answer], len(answer))
        transport.drain()
    assert (outgoing.untaken_bytes, bytes(transport.data)) == (0, answer)


def test_encrypted_connection_is_refused() -> None:
    class Encrypted(asyncio.Transport):
        def get_extra_info(self, name: str, default: object = None) -> object:
            return {"sslcontext": "a context"}.get(name)

    with pytest.raises(ValueError, match="would not be encrypted"):
        Outgoing(Encrypted())
