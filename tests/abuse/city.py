"""A whole node with three doors, and nobody between them and a test: frames in, frames out.

The node is the real one (``server.node``), on files in memory, with access control lists that count. Its
sessions are fed directly, so that a thousand requests take a second.

    orders, others     topics of three records each
    buyers             a group that has committed an offset of orders
    sharers            a share group that stands somewhere in orders
    readers, drinkers  a group and a share group, each with a member that reads orders
    tx-1               a transaction that is open, with a record in orders
    query-1            a query that has committed a batch
    a.t                a topic of Iggy's: the topic t of the stream a, with a group g
    root               may do everything
    ann                has the rights that the lists give her, and no other
    bob                is somebody else, and has a delegation token
"""

import asyncio
import struct
from collections.abc import Callable, Coroutine, Iterable, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeVar

from tests.abuse.spelling import errors_in, said
from tests.core.batches import batch
from tests.protocols.iggy.raw_client import long_text, request, text
from trivium.core.acls.entry import Operation, PatternType, Permission, ResourceType
from trivium.core.acls.filter import AclFilter
from trivium.core.caller import Caller
from trivium.core.commands.acls import CreateAcls, DeleteAcls, NewAcl
from trivium.core.commands.command import Command
from trivium.core.commands.stream_groups import CreateStreamGroup
from trivium.core.commands.streams import CreateStream, CreateStreamTopic
from trivium.core.commands.users import CreateUser
from trivium.messages.api import request_class
from trivium.messages.frames import decode_response, encode_request
from trivium.protocols.conversation import Conversation
from trivium.protocols.iggy.client import Endpoint as Reached
from trivium.protocols.iggy.code import Code
from trivium.protocols.iggy.session import IggySession
from trivium.protocols.kafka.api import Endpoint
from trivium.protocols.kafka.session import KafkaSession
from trivium.protocols.rustlog.session import RustLogSession
from trivium.server.node import Node
from trivium.testing.broker_settings import configuration
from trivium.testing.memory_files import MemoryFiles

R = TypeVar("R")

ROOT: Final = "root"
PASSWORD: Final = "canary-5f1e-password"
HOST: Final = "10.0.0.7"
SECONDS_MAX: Final = 60
SETTINGS: Final = {
    "listen.kafka": "off",
    "listen.iggy": "127.0.0.1:0",  # there is a first user where there is a door for users
    "iggy.root.username": ROOT,
    "iggy.root.password": PASSWORD,
    "access.anonymous": "deny",
    "access.acls": "on",
    "delegation.token.secret.key": "canary-5f1e-delegation-key",
    "offsets.topic.num.partitions": "1",
    "transaction.state.log.num.partitions": "1",
    "share.coordinator.state.topic.num.partitions": "1",
    # Members stay, however long a busy machine takes.
    "group.consumer.session.timeout.ms": "3600000",
    "group.consumer.max.session.timeout.ms": "3600000",
    "group.share.session.timeout.ms": "3600000",
    "group.share.max.session.timeout.ms": "3600000",
    "transaction.max.timeout.ms": "3600000",
    "transaction.two.phase.commit.enable": "true",
}


class Right(NamedTuple):
    operation: Operation
    resource_type: ResourceType
    name: str = "kafka-cluster"

    def entry(self, permission: Permission, principal: str = "User:ann") -> NewAcl:
        return NewAcl(
            self.resource_type,
            self.name,
            PatternType.LITERAL,
            principal,
            "*",
            self.operation,
            permission,
        )


def everything_of(kind: ResourceType, name: str = "*") -> Right:
    return Right(Operation.ALL, kind, "kafka-cluster" if kind is ResourceType.CLUSTER else name)


class Answered(NamedTuple):
    """An answer of Kafka's door."""

    message: Any
    data: bytes
    errors: frozenset[tuple[str, int]]


class Door:
    """One connection: what it is told, and what it says to that."""

    def __init__(self, city: "City", head: struct.Struct, session: Callable[..., Conversation[Any]]) -> None:
        self._city = city
        self._head = head
        self._woken = asyncio.Event()
        self.session = session(self._woken.set)
        self._scratch = memoryview(bytearray(1 << 20))
        self._received = bytearray()

    def ask(self, data: bytes) -> bytes:
        """The bytes of the one answer to one request."""
        return self._city.run(self._ask(data))

    async def _ask(self, data: bytes) -> bytes:
        self.session.space(self._scratch)[: len(data)] = data
        self.session.received(len(data), self._scratch)
        async with asyncio.timeout(SECONDS_MAX):
            while not (answer := b"".join(map(bytes, self.session.data_to_send()))):
                await self._woken.wait()
                self._woken.clear()
        self.session.proceed()
        return answer


class KafkaDoor(Door):
    def __init__(self, city: "City", name: str) -> None:
        def session(wake: Callable[[], None]) -> KafkaSession:
            here = Endpoint("broker.example", 9092)
            return KafkaSession(city.node.speakers.kafka, HOST, here, wake, certified_name=name)

        super().__init__(city, struct.Struct(">i"), session)

    def say(self, key: int, version: int, values: Mapping[str, Any]) -> Answered:
        message = said(request_class(key), version, values)
        frame = encode_request(message, version, 1, "client")
        data = self.ask(self._head.pack(len(frame)) + frame)
        (size_bytes,) = self._head.unpack_from(data)
        assert size_bytes == len(data) - self._head.size, "one answer, whole"
        _, answer = decode_response(key, version, data[self._head.size :])
        return Answered(answer, data, frozenset(errors_in(answer, version)))


class IggyDoor(Door):
    def __init__(self, city: "City", name: str) -> None:
        def session(wake: Callable[[], None]) -> IggySession:
            return IggySession(city.node.speakers.iggy, HOST, 1234, Reached("broker", 8090), wake)

        super().__init__(city, struct.Struct("<II"), session)
        login = text(name) + text(PASSWORD) + long_text("0.10.0") + long_text("")
        assert self.status(Code.LOGIN_USER, login) == 0

    def status(self, code: int, body: bytes) -> int:
        return int(self._head.unpack_from(self.ask(request(code, body)))[0])


class RustLogDoor(Door):
    def __init__(self, city: "City", name: str) -> None:
        def session(wake: Callable[[], None]) -> RustLogSession:
            return RustLogSession(city.node.speakers.rustlog, HOST, wake, certified_name=name)

        super().__init__(city, struct.Struct(">I"), session)

    def say(self, body: bytes) -> bytes:
        return self.ask(self._head.pack(len(body)) + body)[self._head.size :]


class City:
    """In memory, unless it is given a directory; ``settings`` are those that it has besides its own."""

    def __init__(self, settings: Mapping[str, str] | None = None, *directories: Path) -> None:
        self._loop = asyncio.Runner()
        self.files = MemoryFiles()
        self.configuration = configuration(directories, {**SETTINGS, **(settings or {})})
        self.node = Node(self.configuration, None if directories else self.files)
        self.run(self.node.start())
        self.root = Caller(principal=f"User:{ROOT}", host=HOST, user_id=0)
        self._settle()

    def close(self) -> None:
        self.run(self.node.stop())
        self._loop.close()

    def run(self, coroutine: Coroutine[Any, Any, R]) -> R:
        return self._loop.run(coroutine)

    def execute(self, command: Command[R]) -> R:
        """The result of a command of root's."""

        async def ask() -> R:
            answer: asyncio.Future[R] = asyncio.get_running_loop().create_future()
            self.node.broker.execute(command, self.root, answer.set_result)
            return await asyncio.wait_for(answer, SECONDS_MAX)

        return self.run(ask())

    # -- what is there ---------------------------------------------------------------------------

    def _settle(self) -> None:
        self.kafka = KafkaDoor(self, ROOT)
        for name in ("ann", "bob"):
            assert self.execute(CreateUser(name, PASSWORD)).fault is None
        for topic in ("orders", "others"):
            self._ask(19, 5, topics=[{"name": topic, "num_partitions": 1, "replication_factor": 1}])
            self._write(topic, batch(b"one", b"two", b"three"))
        self.topic_ids = {
            topic: self.node.cluster.image.topics.by_name[topic].topic_id for topic in ("orders", "others")
        }
        self.execute(CreateStream("a"))
        self.execute(CreateStreamTopic("a", "t", 1))
        self.execute(CreateStreamGroup("a", "t", "g"))
        committed = [{"name": "orders", "partitions": [{"partition_index": 0, "committed_offset": 1}]}]
        self._ask(8, 2, group_id="buyers", topics=committed)
        self._begin_transaction()
        self._begin_sharing()
        self._ask(16385, 0, query_id="query-1", batch_id=1, prepared=[])
        bob = KafkaDoor(self, "bob")
        created = bob.say(38, 1, {"max_lifetime_ms": -1})
        assert not created.errors
        self.token = created.message.hmac

    def _begin_transaction(self) -> None:
        begun = self._ask(22, 2, transactional_id="tx-1", transaction_timeout_ms=3_600_000)
        self.producer_id, self.producer_epoch = begun.producer_id, begun.producer_epoch
        producer = {
            "v3_and_below_transactional_id": "tx-1",
            "v3_and_below_producer_id": self.producer_id,
            "v3_and_below_producer_epoch": self.producer_epoch,
        }
        self._ask(24, 2, **producer, v3_and_below_topics=[{"name": "orders", "partitions": [0]}])
        self._write("orders", self.transactional_batch(), transactional_id="tx-1")
        self._ask(
            25,
            2,
            transactional_id="tx-1",
            producer_id=self.producer_id,
            producer_epoch=self.producer_epoch,
            group_id="buyers",
        )

    def _begin_sharing(self) -> None:
        joined = self._ask(
            76, 1, group_id="sharers", member_id="A" * 22, member_epoch=0, subscribed_topic_names=["orders"]
        )
        self._ask(76, 1, group_id="sharers", member_id=joined.member_id, member_epoch=-1)
        topics = [{"topic_name": "orders", "partitions": [{"partition_index": 0, "start_offset": 1}]}]
        self._ask(91, 0, group_id="sharers", topics=topics)
        member = {"member_id": "A" * 22, "subscribed_topic_names": ["orders"]}
        self._ask(76, 1, group_id="drinkers", **member)
        self._ask(68, 0, group_id="readers", rebalance_timeout_ms=60_000, topic_partitions=[], **member)

    def transactional_batch(self, sequence: int = 0) -> bytes:
        """A record of tx-1's; it has written the one with sequence 0."""
        return batch(
            b"mine",
            producer_id=self.producer_id,
            producer_epoch=self.producer_epoch,
            base_sequence=sequence,
            transactional=True,
        )

    def _write(self, topic: str, records: bytes, transactional_id: str | None = None) -> None:
        data = [{"name": topic, "partition_data": [{"index": 0, "records": records}]}]
        self._ask(0, 8, transactional_id=transactional_id, acks=-1, timeout_ms=60_000, topic_data=data)

    def _ask(self, key: int, version: int, **values: Any) -> Any:
        answered = self.kafka.say(key, version, values)
        assert not answered.errors, (key, answered)
        return answered.message

    # -- what is allowed -------------------------------------------------------------------------

    def allow(self, *rights: Right, deny: Iterable[Right] = ()) -> None:
        """From now on ann may do this and nothing else."""
        self.execute(DeleteAcls([AclFilter()]))
        entries = [right.entry(Permission.ALLOW) for right in rights]
        entries += [right.entry(Permission.DENY) for right in deny]
        assert all(result.fault is None for result in self.execute(CreateAcls(entries)))

    # -- what has become of it -------------------------------------------------------------------

    def state(self) -> dict[object, object]:
        """Everything that an answer could have changed: how far every log reaches, and what root is told of
        groups, transactions and settings.
        """
        cluster, storage = self.node.cluster, self.node.storage
        found: dict[object, object] = {}
        for topic in cluster.image.topics.by_name.values():
            for partition in topic.partitions:
                log = storage.log(topic.name, partition)
                found[topic.name, partition] = (log.log_start_offset, log.log_end_offset)
        metadata = storage.log("__cluster_metadata", 0)
        found["metadata"] = metadata.log_end_offset
        for key, version, values in LOOKS:
            found[key] = self.kafka.say(key, version, values).data
        return found


LOOKS: Final[tuple[tuple[int, int, dict[str, Any]], ...]] = (
    (3, 12, {"topics": None}),
    (9, 8, {"groups": [{"group_id": "buyers", "topics": None}]}),
    (15, 5, {"groups": ["buyers"]}),
    (16, 5, {}),
    (32, 4, {"resources": [{"resource_type": 2, "resource_name": "orders", "configuration_keys": None}]}),
    (41, 3, {"owners": None}),
    (48, 1, {}),
    (50, 0, {"users": None}),
    (65, 0, {"transactional_ids": ["tx-1"]}),
    (66, 2, {}),
    (69, 1, {"group_ids": ["readers"]}),
    (77, 1, {"group_ids": ["sharers", "drinkers"]}),
    (90, 1, {"groups": [{"group_id": "sharers", "topics": None}]}),
    (16386, 0, {}),
    (16388, 0, {}),
)
"""What root asks to see whether anything is different."""
