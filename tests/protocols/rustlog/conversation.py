"""A RustLog client and a session without a socket between them, on a broker made of memory."""

import json
import struct
from typing import Any

from tests.core.fakes import World
from tests.core.groups.coordinated import Coordinated
from trivium.core.broker import Broker
from trivium.core.fetch import Fetching
from trivium.core.list_offsets import Offsets
from trivium.core.produce import Producing
from trivium.core.topics import TopicDirectory
from trivium.protocols.rustlog.msgpack import pack, unpack
from trivium.protocols.rustlog.protocol import RustLogProtocol
from trivium.protocols.rustlog.session import RustLogSession
from trivium.protocols.rustlog.slow_consumer import SlowConsumer

LENGTH = struct.Struct(">I")


class Door:
    """The protocol on a world. Topic ``t`` has four partitions."""

    def __init__(self, static: dict[str, str] | None = None, **budgets: int) -> None:
        self.groups = Coordinated(static)
        self.world: World = self.groups.world
        world = self.world
        world.add(Producing(world.cluster, world.access, world.timers).routes)
        world.add(Fetching(world.cluster, world.access, world.timers, world.soon).routes)
        world.add(Offsets(world.cluster, world.access).routes)
        world.add(world.topics.routes)
        world.add(TopicDirectory(world.cluster, world.settings, world.access, world.topics).routes)
        self.slow: list[SlowConsumer] = []
        self.protocol = RustLogProtocol(
            Broker(world.access, [world.routes]),
            world.clock,
            world.timers,
            report_slow_consumer=self.slow.append,
            **budgets,  # type: ignore[arg-type]
        )

    def connect(self) -> "Conversation":
        return Conversation(self)

    def restart(self) -> None:
        """What is in the logs survives."""
        self.groups.restart()
        self.protocol.engine = Broker(self.world.access, [self.world.routes])


class Conversation:
    """One connection. ``ask`` for what is answered at once; ``send`` and ``answers`` for the rest."""

    def __init__(self, door: Door, scratch_bytes: int = 1 << 16) -> None:
        self.door = door
        self.world = door.world
        self.wakes = 0
        self.session = RustLogSession(door.protocol, "10.0.0.7", self._wake)
        self._scratch = memoryview(bytearray(scratch_bytes))
        self._received = bytearray()

    def _wake(self) -> None:
        self.wakes += 1

    # -- bytes -----------------------------------------------------------------------------------

    def feed(self, data: bytes, piece_bytes: int = 1 << 30) -> None:
        """Let bytes arrive as from a socket, in pieces of a size."""
        at = 0
        while at < len(data):
            space = self.session.space(self._scratch)
            count = min(len(space), piece_bytes, len(data) - at)
            space[:count] = data[at : at + count]
            self.session.received(count, self._scratch)
            at += count

    def send_body(self, body: bytes) -> None:
        self.feed(LENGTH.pack(len(body)) + body)

    def bodies(self) -> list[bytes]:
        """The answers since the last call; what had to wait for them is begun."""
        found = []
        while True:
            for part in self.session.data_to_send():
                self._received += part
            while self._received:
                end = LENGTH.size + LENGTH.unpack_from(self._received)[0]
                found.append(bytes(self._received[LENGTH.size : end]))
                del self._received[:end]
            self.session.proceed()
            if not self.session.out_bytes:
                return found

    def ask_body(self, body: bytes) -> bytes:
        self.send_body(body)
        (only,) = self.bodies()
        return only

    # -- JSON ------------------------------------------------------------------------------------

    def send(self, kind: str, **fields: Any) -> None:
        self.send_body(json.dumps({kind: fields}).encode())

    def answers(self) -> list[Any]:
        return [json.loads(body) for body in self.bodies()]

    def ask(self, kind: str, **fields: Any) -> Any:
        """The fields of the answer, which is of the request's own type."""
        self.send(kind, **fields)
        (answer,) = self.answers()
        assert list(answer) == [kind], answer
        return answer[kind]

    def refused(self, kind: str, **fields: Any) -> Any:
        """The fields of the error."""
        self.send(kind, **fields)
        (answer,) = self.answers()
        assert list(answer) == ["Error"], answer
        return answer["Error"]

    def produce(self, *payloads: bytes, topic: str = "t", partition: int = 0) -> list[int]:
        records = [list(payload) for payload in payloads]
        offsets: list[int] = self.ask("Produce", topic=topic, partition=partition, records=records)["offsets"]
        return offsets

    def fetch(
        self,
        offset: int,
        *,
        topic: str = "t",
        partition: int = 0,
        max_bytes: int = 1 << 20,
        group_id: str | None = None,
    ) -> tuple[list[tuple[int, bytes]], int]:
        """Offsets and payloads, and the next offset."""
        answer = self.ask(
            "Fetch", topic=topic, partition=partition, offset=offset, max_bytes=max_bytes, group_id=group_id
        )
        records = [(record["offset"], bytes(record["payload"])) for record in answer["records"]]
        return records, answer["next_offset"]

    # -- MessagePack -----------------------------------------------------------------------------

    def ask_packed(self, kind: str, **fields: Any) -> Any:
        answer = unpack(memoryview(self.ask_body(pack({kind: fields}))))
        assert list(answer) == [kind], answer
        return answer[kind]
