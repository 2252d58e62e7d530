"""An Iggy client that sends what it is told to, over a real socket, and the frames of common requests."""

import socket
import struct
from types import TracebackType
from typing import Any, NamedTuple

from tests.protocols.iggy.answers import read_answer

TIMEOUT_SECONDS = 30


class Answered(NamedTuple):
    status: int
    payload: bytes


class RawClient:
    """Speaks the newest generation, unless it is told its ``header_bytes``."""

    def __init__(self, address: str, header_bytes: int = 64) -> None:
        host, _, port = address.rpartition(":")
        self.socket = socket.create_connection((host, int(port)), TIMEOUT_SECONDS)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.header_bytes = header_bytes

    def __enter__(self) -> "RawClient":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        self.socket.close()

    def send_raw(self, data: bytes) -> None:
        self.socket.sendall(data)

    def receive(self, count: int) -> bytes:
        data = bytearray()
        while len(data) < count:
            piece = self.socket.recv(count - len(data))
            if not piece:
                raise ConnectionError(f"closed after {len(data)} of {count} bytes")
            data += piece
        return bytes(data)

    def answer(self) -> Answered:
        status, size = struct.unpack("<II", self.receive(8))
        return Answered(status, self.receive(size))

    def ask_raw(self, frame: bytes) -> Answered:
        self.send_raw(frame)
        return self.answer()

    def ask(self, code: int, body: bytes = b"") -> Answered:
        return self.ask_raw(request(code, body))

    def get(self, code: int, body: bytes = b"") -> Any:
        """The fields of an answer that must be a success; None for an empty one."""
        status, payload = self.ask(code, body)
        assert status == 0, f"status {status}"
        return read_answer(code, payload, self.header_bytes)

    def login(self, username: str = "iggy", password: str = "iggy", version: str = "") -> int:
        status, payload = self.ask(38, text(username) + text(password) + long_text(version) + long_text(""))
        assert status == 0, f"status {status}"
        number: int = struct.unpack("<I", payload)[0]
        return number

    def received_to_the_end(self) -> bytes:
        """Everything until the broker ends the connection, well or badly."""
        data = bytearray()
        try:
            while piece := self.socket.recv(1 << 16):
                data += piece
        except ConnectionResetError:
            pass
        return bytes(data)

    def is_closed(self) -> bool:
        try:
            return self.socket.recv(1) == b""
        except ConnectionResetError:
            return True


# -- frames ----------------------------------------------------------------------------------------


def request(code: int, body: bytes = b"") -> bytes:
    return struct.pack("<II", len(body) + 4, code) + body


def text(value: str | bytes) -> bytes:
    data = value.encode() if isinstance(value, str) else value
    return bytes([len(data)]) + data


def long_text(value: str) -> bytes:
    return struct.pack("<I", len(value.encode())) + value.encode()


def name(value: str | int) -> bytes:
    """An identifier."""
    if isinstance(value, int):
        return struct.pack("<BBI", 1, 4, value)
    return b"\x02" + text(value)


def new_topic(stream: str | int, topic: str, partitions: int = 1) -> bytes:
    return name(stream) + struct.pack("<IBQQB", partitions, 1, 0, 0, 0) + text(topic)


def message(payload: bytes, *, header_bytes: int = 64, message_id: int = 0, headers: bytes = b"") -> bytes:
    head = bytes(8) + message_id.to_bytes(16, "little") + bytes(16) + struct.pack("<Q", 1_700_000_000_000_001)
    head += struct.pack("<II", len(headers), len(payload))
    return head + bytes(header_bytes - len(head)) + payload + headers


def balanced() -> bytes:
    return b"\x01\x00"


def to_partition(number: int) -> bytes:
    return struct.pack("<BBI", 2, 4, number)


def by_key(key: bytes) -> bytes:
    return b"\x03" + text(key)


def send(stream: str | int, topic: str | int, partitioning: bytes, *messages: bytes) -> bytes:
    metadata = name(stream) + name(topic) + partitioning + struct.pack("<I", len(messages))
    index, end = b"", 0
    for each in messages:
        end += len(each)
        index += struct.pack("<IIQ", 0, end, 0)
    return struct.pack("<I", len(metadata)) + metadata + index + b"".join(messages)


def consumer(number: str | int = 0) -> bytes:
    return b"\x01" + name(number)


def member(group: str | int) -> bytes:
    return b"\x02" + name(group)


def optional_partition(number: int | None) -> bytes:
    return struct.pack("<BI", number is not None, number or 0)


OFFSET, TIMESTAMP, FIRST, LAST, NEXT = range(1, 6)


def poll(
    who: bytes,
    stream: str | int,
    topic: str | int,
    partition: int | None = 0,
    strategy: tuple[int, int] = (FIRST, 0),
    count: int = 10,
    auto_commit: bool = False,
) -> bytes:
    return (
        who
        + name(stream)
        + name(topic)
        + optional_partition(partition)
        + struct.pack("<BQIB", *strategy, count, auto_commit)
    )
