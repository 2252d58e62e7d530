"""Iggy's frames for a client that costs next to nothing: made beforehand, answers counted and not read.

The layouts are those of 0.8; every broker gets the same bytes.
"""

import contextlib
import os
import socket
import struct
import time
from types import TracebackType

RECEIVE_BYTES = 1 << 20

LOGIN, CREATE_STREAM, CREATE_TOPIC, POLL, SEND = 38, 202, 302, 100, 101

_HEAD = struct.Struct("<II")
_MESSAGE_HEAD = struct.Struct("<Q16sQQQIIQ")
_INDEX = struct.Struct("<IIQ")


class Client:
    """One blocking connection that is logged in."""

    def __init__(self, port: int) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=60)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._buffer = bytearray(RECEIVE_BYTES)
        self.ask(login_frame("iggy", "iggy"))

    def __enter__(self) -> "Client":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self.socket.close()

    def ask(self, frame: bytes) -> int:
        """The size of the answer, which is not kept."""
        self.socket.sendall(frame)
        return self.skip_answer()

    def skip_answer(self) -> int:
        head = self._exactly(_HEAD.size)
        status, size = _HEAD.unpack(head)
        if status:
            raise ConnectionError(f"the broker has answered with the error {status}")
        left = size
        while left:
            got = self.socket.recv_into(self._buffer, min(left, RECEIVE_BYTES))
            if not got:
                raise ConnectionError("the broker closed the connection")
            left -= got
        return int(size)

    def _exactly(self, count: int) -> bytes:
        data = b""
        while len(data) < count:
            piece = self.socket.recv(count - len(data))
            if not piece:
                raise ConnectionError("the broker closed the connection")
            data += piece
        return data

    def create(self, stream: str, topic: str) -> None:
        """A stream, if it is not there, and a topic of one partition in it that never expires."""
        with contextlib.suppress(ConnectionError):
            self.ask(_frame(CREATE_STREAM, _short_text(stream)))
        never = (1 << 64) - 1
        body = _named(stream) + struct.pack("<IBQQB", 1, 1, never, never, 0) + _short_text(topic)
        self.ask(_frame(CREATE_TOPIC, body))


def pipelined(port: int, frames: list[bytes], *, in_flight: int) -> float:
    """Ask all of them on one connection, with so many unanswered at a time. Seconds it took."""
    with Client(port) as client:
        start = time.perf_counter()
        for number, frame in enumerate(frames):
            client.socket.sendall(frame)
            if number >= in_flight - 1:
                client.skip_answer()
        for _ in range(min(in_flight - 1, len(frames))):
            client.skip_answer()
        return time.perf_counter() - start


def login_frame(username: str, password: str) -> bytes:
    body = _short_text(username) + _short_text(password) + _long_text("0.10.0") + _long_text("")
    return _frame(LOGIN, body)


def send_frame(stream: str, topic: str, count: int, payload_bytes: int) -> bytes:
    """To partition 0. The payloads do not compress."""
    payloads = os.urandom(payload_bytes + count)
    metadata = _named(stream) + _named(topic) + struct.pack("<BBII", 2, 4, 0, count)
    head = _MESSAGE_HEAD.pack(0, bytes(16), 0, 0, time.time_ns() // 1000, 0, payload_bytes, 0)
    index, messages, size = [], [], 0
    for number in range(count):
        messages.append(head + payloads[number : number + payload_bytes])
        size += len(messages[-1])
        index.append(_INDEX.pack(0, size, 0))
    return _frame(SEND, struct.pack("<I", len(metadata)) + metadata + b"".join(index + messages))


def poll_frame(stream: str, topic: str, offset: int, count: int) -> bytes:
    """From partition 0, as consumer 1, without storing an offset."""
    consumer = b"\x01" + struct.pack("<BBI", 1, 4, 1)
    tail = struct.pack("<BIBQIB", 1, 0, 1, offset, count, 0)
    return _frame(POLL, consumer + _named(stream) + _named(topic) + tail)


def _frame(code: int, body: bytes) -> bytes:
    return _HEAD.pack(len(body) + 4, code) + body


def _named(name: str) -> bytes:
    return b"\x02" + _short_text(name)


def _short_text(text: str) -> bytes:
    return bytes([len(text)]) + text.encode()


def _long_text(text: str) -> bytes:
    return struct.pack("<I", len(text)) + text.encode()
