"""What every protocol's clients can do here, in words that all of them share: the contract's side of a door.

A new protocol joins by a module like ``kafka_door``, and its name in ``doors``. An offset is the next one to
read; a protocol that counts otherwise converts, as its users would.
"""

import socket
from collections.abc import Sequence
from types import TracebackType
from typing import Protocol

SECONDS_MAX = 20
"""A test that waits longer for an answer has failed."""


class RefusedByDoor(Exception):
    """The protocol's own error, in its own words."""


class Wire:
    """A socket that can also do what no client should."""

    def __init__(self, address: str) -> None:
        host, port = address.rsplit(":", 1)
        self.socket = socket.create_connection((host, int(port)), timeout=SECONDS_MAX)

    def __enter__(self) -> "Wire":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self.socket.close()

    def send(self, data: bytes) -> None:
        self.socket.sendall(data)

    def finish(self) -> None:
        """Send nothing more, and still listen."""
        self.socket.shutdown(socket.SHUT_WR)

    def receive(self, size_bytes: int) -> bytes:
        data = bytearray()
        while len(data) < size_bytes:
            piece = self.socket.recv(min(size_bytes - len(data), 1 << 20))
            if not piece:
                raise EOFError(f"the connection ended after {len(data)} of {size_bytes} bytes")
            data += piece
        return bytes(data)

    def received_to_the_end(self) -> bytes:
        """Everything until the broker ends the connection, well or badly."""
        data = bytearray()
        try:
            while piece := self.socket.recv(1 << 20):
                data += piece
        except ConnectionError:
            pass
        return bytes(data)


class Client(Protocol):
    """One connection. Topics are named as Kafka names them."""

    wire: Wire

    def create_topic(self, topic: str, partitions: int) -> None: ...

    def produce(self, topic: str, partition: int, payloads: Sequence[bytes]) -> None:
        """They are durable when this returns."""
        ...

    def fetch(self, topic: str, partition: int, offset: int) -> list[tuple[int, bytes]]:
        """Offsets and payloads from an offset on: some if there are any, and none at the end."""
        ...

    def commit(self, group: str, topic: str, partition: int, offset: int) -> None: ...
    def committed(self, group: str, topic: str, partition: int) -> int | None: ...

    def ping(self) -> None:
        """Ask for the smallest answer there is."""
        ...


class Door(Protocol):
    @property
    def name(self) -> str:
        """Of the protocol, as in ``listen.<name>``."""
        ...

    @property
    def half_a_request(self) -> bytes:
        """The beginning of something that is never sent to its end."""
        ...

    @property
    def announced_too_large(self) -> bytes:
        """The first bytes of a request that is larger than any may be."""
        ...

    def connect(self, address: str) -> Client: ...


def read_all(client: Client, topic: str, partition: int = 0, offset: int = 0) -> list[tuple[int, bytes]]:
    """Everything there is from an offset on, as a client reads it: one fetch after the other."""
    found: list[tuple[int, bytes]] = []
    while records := client.fetch(topic, partition, offset):
        found += records
        offset = records[-1][0] + 1
    return found
