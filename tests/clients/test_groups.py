"""Groups of real clients: shared work, members that come and go, offsets that last (003.27, 003.28)."""

import asyncio
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import pytest

from tests.clients.clients import CLIENTS, LIBRDKAFKA, SECONDS_MAX, Client, Sent
from trivium.testing import Broker


class Member(threading.Thread):
    """A member of a group that reads until it is told to leave."""

    def __init__(self, bootstrap: str, topic: str, group: str) -> None:
        super().__init__(daemon=True)
        self._where = bootstrap, topic, group
        self._leaving = threading.Event()
        self.assigned: set[int] = set()
        self.values: list[bytes] = []
        self.rebalances = 0
        self.failure: BaseException | None = None

    def __enter__(self) -> "Member":
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.leave()

    def leave(self) -> None:
        self._leaving.set()
        self.join(SECONDS_MAX)
        assert not self.is_alive()
        if self.failure is not None:
            raise self.failure

    def run(self) -> None:
        try:
            self.read(*self._where, self._leaving.is_set)
        except BaseException as failure:  # noqa: BLE001  (raised where the test waits)
            self.failure = failure

    def read(self, bootstrap: str, topic: str, group: str, is_leaving: Callable[[], bool]) -> None:
        raise NotImplementedError


class KafkaPythonMember(Member):
    def read(self, bootstrap: str, topic: str, group: str, is_leaving: Callable[[], bool]) -> None:
        from kafka import KafkaConsumer

        consumer = KafkaConsumer(
            topic,
            bootstrap_servers=bootstrap,
            group_id=group,
            auto_offset_reset="earliest",
            heartbeat_interval_ms=100,
            metadata_max_age_ms=500,
        )
        try:
            while not is_leaving():
                polled = consumer.poll(100)
                self.values += [record.value for records in polled.values() for record in records]
                self.assigned = {partition.partition for partition in consumer.assignment()}
        finally:
            consumer.close()


class AioKafkaMember(Member):
    def read(self, bootstrap: str, topic: str, group: str, is_leaving: Callable[[], bool]) -> None:
        asyncio.run(self._read(bootstrap, topic, group, is_leaving))

    async def _read(self, bootstrap: str, topic: str, group: str, is_leaving: Callable[[], bool]) -> None:
        from aiokafka import AIOKafkaConsumer

        consumer = AIOKafkaConsumer(
            topic,
            bootstrap_servers=bootstrap,
            group_id=group,
            auto_offset_reset="earliest",
            heartbeat_interval_ms=100,
        )
        await consumer.start()
        try:
            while not is_leaving():
                polled = await consumer.getmany(timeout_ms=100)
                self.values += [record.value for records in polled.values() for record in records]
                self.assigned = {partition.partition for partition in consumer.assignment()}
        finally:
            await consumer.stop()


class LibrdkafkaMember(Member):
    settings: Mapping[str, str] = {}

    def read(self, bootstrap: str, topic: str, group: str, is_leaving: Callable[[], bool]) -> None:
        from confluent_kafka import Consumer

        consumer = Consumer(
            {
                "bootstrap.servers": bootstrap,
                "group.id": group,
                "auto.offset.reset": "earliest",
                "heartbeat.interval.ms": 100,
                **LIBRDKAFKA,
                **self.settings,
            }
        )
        consumer.subscribe([topic], on_assign=self._note_rebalance)
        try:
            while not is_leaving():
                messages: list[Any] = consumer.consume(100, 0.1)
                for message in messages:
                    assert message.error() is None, message.error()
                    self.values.append(message.value())
                self.assigned = {partition.partition for partition in consumer.assignment()}
        finally:
            consumer.close()

    def _note_rebalance(self, _consumer: Any, _partitions: Any) -> None:
        self.rebalances += 1


class StaticMember(LibrdkafkaMember):
    def __init__(self, bootstrap: str, topic: str, group: str, name: str) -> None:
        super().__init__(bootstrap, topic, group)
        self.settings = {"group.instance.id": name}


class CooperativeMember(LibrdkafkaMember):
    settings: Mapping[str, str] = {"partition.assignment.strategy": "cooperative-sticky"}


MEMBERS = [KafkaPythonMember, AioKafkaMember, LibrdkafkaMember, CooperativeMember]


def wait_until(condition: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + SECONDS_MAX
    while not condition():
        assert time.monotonic() < deadline, what
        time.sleep(0.02)


def share_all(members: Iterable[Member], partitions: int) -> bool:
    """Whether each partition has exactly one reader, and each reader has some."""
    assigned = [member.assigned for member in members]
    return all(assigned) and Counter(part for some in assigned for part in some) == Counter(range(partitions))


@pytest.mark.parametrize("kind", MEMBERS, ids=lambda kind: kind.__name__)
def test_group_shares_partitions_anew_when_members_come_and_go(
    kind: type[Member], trivium_session_broker: Broker, trivium_topic: str
) -> None:
    """R15 in small: no partition has two readers, and no record is lost or read twice."""
    broker, topic = trivium_session_broker, f"{trivium_topic}-of-six"
    broker.create_topic(topic, partitions=6)
    where = broker.bootstrap, topic, topic

    def produce(first: int) -> None:
        broker.produce(topic, [(str(number), str(number)) for number in range(first, first + 100)])

    with kind(*where) as one:
        produce(0)
        wait_until(lambda: len(one.values) == 100, "the first member reads all")
        wait_until(lambda: one.assigned == set(range(6)), "the only member has all partitions")
        with kind(*where) as two:
            wait_until(lambda: share_all([one, two], 6), "two members share the partitions")
            produce(100)
            wait_until(lambda: len(one.values) + len(two.values) == 200, "two members read on")
            with kind(*where) as three:
                wait_until(lambda: share_all([one, two, three], 6), "three members share the partitions")
                produce(200)
                wait_until(
                    lambda: len(one.values) + len(two.values) + len(three.values) == 300,
                    "three members read on",
                )
            # Whoever closes librdkafka in the middle of a rebalance leaves first and commits then, in vain.
            wait_until(lambda: share_all([one, two], 6), "two members share the partitions again")
        wait_until(lambda: one.assigned == set(range(6)), "the last member has all partitions again")
        produce(300)
        wait_until(
            lambda: len(one.values) + len(two.values) + len(three.values) == 400, "the last member reads on"
        )
    found = sorted(int(value) for value in one.values + two.values + three.values)
    assert found == list(range(400))


def test_group_goes_on_where_another_client_has_stopped(
    trivium_session_broker: Broker, trivium_topic: str
) -> None:
    """Committed offsets belong to the group, not to a client: each reads ten and the next goes on."""
    bootstrap = trivium_session_broker.bootstrap
    trivium_session_broker.produce(trivium_topic, [str(number) for number in range(30)])
    seen = [
        [int(record.value or b"") for record in make().consume(bootstrap, trivium_topic, 10, trivium_topic)]
        for make in CLIENTS
    ]
    assert seen == [list(range(10)), list(range(10, 20)), list(range(20, 30))]


@pytest.mark.parametrize("ends", ["restart", "kill"])
def test_group_goes_on_after_its_broker_has_ended(client: Client, ends: str) -> None:
    with Broker() as broker:
        client.produce(broker.bootstrap, "t", [Sent(b"%d" % number) for number in range(20)])
        before = client.consume(broker.bootstrap, "t", 10, "group")
        if ends == "kill":
            broker.kill()
            broker.start()
        else:
            broker.restart()
        after = client.consume(broker.bootstrap, "t", 10, "group")
    assert [record.offset for record in before + after] == list(range(20))


def test_static_member_comes_back_to_its_partitions_and_nobody_else_notices(
    trivium_session_broker: Broker, trivium_topic: str
) -> None:
    """KIP-345: a member with a name of its own may restart without a rebalance."""
    topic = f"{trivium_topic}-of-four"
    trivium_session_broker.create_topic(topic, partitions=4)
    where = trivium_session_broker.bootstrap, topic, topic
    with StaticMember(*where, "a") as stays:
        with StaticMember(*where, "b") as leaves:
            wait_until(lambda: share_all([stays, leaves], 4), "two members share the partitions")
        rebalances, its_own = stays.rebalances, leaves.assigned
        with StaticMember(*where, "b") as again:
            wait_until(lambda: again.assigned == its_own, "it has its partitions again")
            trivium_session_broker.produce(topic, [(str(number), str(number)) for number in range(100)])
            wait_until(lambda: len(stays.values) + len(again.values) == 100, "both read on")
        assert stays.rebalances == rebalances
