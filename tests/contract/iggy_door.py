"""The contract through Iggy's protocol, as clients of 0.8 speak it. Kafka's topics are in stream ``default``.

Iggy's clients store the last offset that they have read, so offsets are converted here, as its users would.
"""

import struct
from collections.abc import Sequence
from typing import Final

from tests.contract.door import Client, RefusedByDoor, Wire
from tests.protocols.iggy.answers import read_answer
from tests.protocols.iggy.raw_client import (
    OFFSET,
    consumer,
    long_text,
    member,
    message,
    new_topic,
    optional_partition,
    poll,
    request,
    send,
    text,
    to_partition,
)
from tests.protocols.iggy.raw_client import name as identifier

_STREAM: Final = "default"
_HEADER_BYTES: Final = 64
_COUNT: Final = 1_000
_PING, _LOGIN, _POLL, _SEND, _GET_OFFSET, _STORE_OFFSET = 1, 38, 100, 101, 120, 121
_CREATE_TOPIC, _CREATE_GROUP, _JOIN_GROUP, _LEAVE_GROUP = 302, 602, 604, 605
_GROUP_EXISTS: Final = 5004

name = "iggy"
half_a_request = struct.pack("<II", 100, _LOGIN) + b"\x04"
announced_too_large = struct.pack("<I", 0xFFFF_FFFF)


def connect(address: str) -> Client:
    return IggyClient(address)


class IggyClient:
    def __init__(self, address: str) -> None:
        self.wire = Wire(address)
        self._ask(_LOGIN, text("iggy") + text("iggy") + long_text("0.10.0") + long_text(""))

    def _ask(self, code: int, body: bytes = b"", *, allowed: int = 0) -> bytes:
        self.wire.send(request(code, body))
        status, size_bytes = struct.unpack("<II", self.wire.receive(8))
        payload = self.wire.receive(size_bytes)
        if status not in (0, allowed):
            raise RefusedByDoor(f"status {status}")
        return payload

    def create_topic(self, topic: str, partitions: int) -> None:
        self._ask(_CREATE_TOPIC, new_topic(_STREAM, topic, partitions))

    def produce(self, topic: str, partition: int, payloads: Sequence[bytes]) -> None:
        self._ask(_SEND, send(_STREAM, topic, to_partition(partition), *map(message, payloads)))

    def fetch(self, topic: str, partition: int, offset: int) -> list[tuple[int, bytes]]:
        body = poll(consumer(), _STREAM, topic, partition, (OFFSET, offset), _COUNT)
        answer = read_answer(_POLL, self._ask(_POLL, body), _HEADER_BYTES)
        assert answer is not None
        return [(each["offset"], each["payload"]) for each in answer["messages"]]

    def commit(self, group: str, topic: str, partition: int, offset: int) -> None:
        place = identifier(_STREAM) + identifier(topic)
        self._ask(_CREATE_GROUP, place + text(group), allowed=_GROUP_EXISTS)
        self._ask(_JOIN_GROUP, place + identifier(group))
        where = member(group) + place + optional_partition(partition)
        self._ask(_STORE_OFFSET, where + struct.pack("<Q", offset - 1))
        self._ask(_LEAVE_GROUP, place + identifier(group))

    def committed(self, group: str, topic: str, partition: int) -> int | None:
        place = identifier(_STREAM) + identifier(topic)
        self._ask(_CREATE_GROUP, place + text(group), allowed=_GROUP_EXISTS)
        payload = self._ask(_GET_OFFSET, member(group) + place + optional_partition(partition))
        answer = read_answer(_GET_OFFSET, payload, _HEADER_BYTES)
        return None if answer is None else int(answer["stored"]) + 1

    def ping(self) -> None:
        assert self._ask(_PING) == b""
