"""The contract through RustLog's protocol, in the JSON of its document."""

import json
import struct
from collections.abc import Sequence
from typing import Any, Final

from tests.contract.door import Client, RefusedByDoor, Wire

_LENGTH: Final = struct.Struct(">I")

name = "rustlog"
half_a_request = _LENGTH.pack(100) + b'{"Fetch":'
announced_too_large = _LENGTH.pack((10 << 20) + 1)


def connect(address: str) -> Client:
    return RustLogClient(address)


class RustLogClient:
    def __init__(self, address: str) -> None:
        self.wire = Wire(address)

    def _ask(self, kind: str, **fields: Any) -> Any:
        body = json.dumps({kind: fields}).encode()
        self.wire.send(_LENGTH.pack(len(body)) + body)
        (size_bytes,) = _LENGTH.unpack(self.wire.receive(_LENGTH.size))
        answer = json.loads(self.wire.receive(size_bytes))
        if "Error" in answer:
            raise RefusedByDoor(answer["Error"]["message"])
        return answer[kind]

    def create_topic(self, topic: str, partitions: int) -> None:
        self._ask("CreateTopic", topic=topic, partitions=partitions)

    def produce(self, topic: str, partition: int, payloads: Sequence[bytes]) -> None:
        records = [list(payload) for payload in payloads]
        offsets = self._ask("Produce", topic=topic, partition=partition, records=records)["offsets"]
        assert len(offsets) == len(payloads)

    def fetch(self, topic: str, partition: int, offset: int) -> list[tuple[int, bytes]]:
        answer = self._ask("Fetch", topic=topic, partition=partition, offset=offset, max_bytes=1 << 20)
        return [(record["offset"], bytes(record["payload"])) for record in answer["records"]]

    def commit(self, group: str, topic: str, partition: int, offset: int) -> None:
        answer = self._ask("OffsetCommit", topic=topic, partition=partition, group_id=group, offset=offset)
        if not answer["success"]:
            raise RefusedByDoor(answer["message"])

    def committed(self, group: str, topic: str, partition: int) -> int | None:
        offset: int | None = self._ask("OffsetFetch", topic=topic, partition=partition, group_id=group)[
            "offset"
        ]
        return offset

    def ping(self) -> None:
        assert self._ask("Ping") == {}
