"""Consumer groups (KIP-848) of Java and franz-go, under Kafka's tools, and in a directory of two brokers."""

import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer, KafkaException, Producer
from confluent_kafka.admin import AdminClient, ConsumerGroupDescription, NewTopic
from tests.interop.brokers import Restartable
from tests.interop.kafka import Kafka, Unavailable
from tests.interop.puppets import PUPPETS, Puppet

from trivium.testing import Broker

pytestmark = pytest.mark.interop

CLUSTER_ID = "Jp0c1hZbTgeqYpVSd9aLmA"
GROUPS = "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand"
SETTLE_SECONDS_MAX = 60
HASTY = {
    "group.consumer.assignment.interval.ms": "0",
    "group.consumer.min.heartbeat.interval.ms": "100",
    "group.consumer.heartbeat.interval.ms": "100",
}


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Restartable]:
    flags = [word for name, value in HASTY.items() for word in ("--set", f"{name}={value}")]
    broker = Restartable(tmp_path_factory.mktemp("broker"), *flags)
    with broker:
        yield broker


@pytest.fixture(scope="module", params=["java-4.3.1", "franz-go"])
def client(
    request: pytest.FixtureRequest, broker: Restartable, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Puppet]:
    try:
        puppet = Puppet(PUPPETS[request.param], broker.bootstrap, tmp_path_factory.mktemp(request.param))
    except Unavailable as reason:
        pytest.skip(str(reason))
    with puppet:
        yield puppet


def until(condition: Callable[[], Any], puppet: Puppet | None = None) -> None:
    deadline = time.monotonic() + SETTLE_SECONDS_MAX
    while not condition():
        assert time.monotonic() < deadline, "" if puppet is None else puppet.complaints[-2000:]
        time.sleep(0.05)


def held(puppet: Puppet, *members: str) -> list[int]:
    return sorted(number for member in members for number in puppet.ask("assignment", member))


# -- clients ------------------------------------------------------------------------------------------


def test_members_of_both_protocols_share_a_group_over_a_kill(broker: Restartable, client: Puppet) -> None:
    group = topic = f"both-{client.name}"
    client.ask("create-topic", topic, 4)
    client.ask("join", "one", group, topic, "consumer")
    until(lambda: held(client, "one") == [0, 1, 2, 3], client)
    client.ask("join", "two", group, topic, "consumer")
    client.ask("join", "old", group, topic)
    until(lambda: all(client.ask("assignment", each) for each in ("one", "two", "old")), client)
    until(lambda: held(client, "one", "two", "old") == [0, 1, 2, 3], client)
    broker.restart(killed=True)
    for partition in range(4):
        client.ask("produce", topic, partition, "none", 0, 10, 50)
    until(lambda: sum(len(client.ask("seen", each)) for each in ("one", "two", "old")) >= 40, client)
    until(lambda: held(client, "one", "two", "old") == [0, 1, 2, 3], client)
    client.ask("leave", "one")
    client.ask("leave", "two")
    until(lambda: held(client, "old") == [0, 1, 2, 3], client)
    client.ask("leave", "old")


# -- tools -----------------------------------------------------------------------------------------


def test_kafka_consumer_groups_lists_describes_resets_and_deletes(
    kafka: Kafka, broker: Restartable, client: Puppet
) -> None:
    def tool(*arguments: str) -> str:
        return kafka.run(GROUPS, "--bootstrap-server", broker.bootstrap, *arguments)

    name = f"tools-{client.name}"
    client.ask("create-topic", name, 2)
    client.ask("produce", name, 0, "none", 0, 10, 50)
    client.ask("join", "member", name, name, "consumer")
    until(lambda: len(client.ask("seen", "member")) == 10, client)
    until(lambda: client.ask("committed", name, name), client)
    assert name in tool("--list", "--type", "consumer")
    assert name not in tool("--list", "--type", "classic")
    state = tool("--describe", "--group", name, "--state")
    assert "uniform" in state
    assert "Stable" in state
    members = tool("--describe", "--group", name, "--members", "--verbose")
    assert f"{name}:0,1" in members.replace(f"{name}(0,1)", f"{name}:0,1")
    assert name in tool("--describe", "--group", name)
    client.ask("leave", "member")
    reset = ("--reset-offsets", "--group", name, "--topic", name, "--to-offset", "3", "--execute")
    assert "3" in tool(*reset)
    assert "successful" in tool("--delete", "--group", name)


# -- one directory ---------------------------------------------------------------------------------


def consumer(bootstrap: str) -> Consumer:
    """A static member: its place stays when it closes."""
    made = Consumer(
        {
            "bootstrap.servers": bootstrap,
            "group.id": "shared",
            "group.protocol": "consumer",
            "group.instance.id": "one",
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
        }
    )
    made.subscribe(["t"])
    return made


def read_and_commit(bootstrap: str, count: int) -> None:
    producer = Producer({"bootstrap.servers": bootstrap})
    for number in range(count):
        producer.produce("t", str(number), partition=number % 2)
    assert producer.flush(30) == 0
    member, seen = consumer(bootstrap), 0
    while seen < count:
        seen += sum(message.error() is None for message in member.consume(100, 0.1))
    member.commit(asynchronous=False)
    member.close()


def described(bootstrap: str) -> ConsumerGroupDescription:
    """As soon as groups are loaded, which takes Kafka a moment."""
    admin = AdminClient({"bootstrap.servers": bootstrap})
    found: list[ConsumerGroupDescription] = []

    def ask() -> bool:
        with suppress(KafkaException):
            found.append(admin.describe_consumer_groups(["shared"])["shared"].result(30))
        return bool(found)

    until(ask)
    return found[0]


def test_consumer_group_lives_on_from_kafka_to_trivium_and_back(kafka: Kafka, tmp_path: Path) -> None:
    """R11: each reads the records that the other wrote, members and all."""
    data = tmp_path / "data"
    with kafka.broker(data, CLUSTER_ID) as bootstrap:
        admin = AdminClient({"bootstrap.servers": bootstrap})
        admin.create_topics([NewTopic("t", 2, 1)])["t"].result(30)
        read_and_commit(bootstrap, 10)
    with Broker(data) as broker:
        [member] = described(broker.bootstrap).members
        assert member.group_instance_id == "one"
        read_and_commit(broker.bootstrap, 20)
    log = next((data / "__consumer_offsets-0").glob("*.log"))
    dump = kafka.dump("--offsets-decoder", "--deep-iteration", "--print-data-log", files=[log])
    assert "isvalid: false" not in dump
    assert '"type":"8"' in dump
    with kafka.broker(data, CLUSTER_ID) as bootstrap:
        group = described(bootstrap)
        [member] = group.members
        assert (group.partition_assignor, member.group_instance_id) == ("uniform", "one")
        assert {place.partition for place in member.assignment.topic_partitions} == {0, 1}
        read_and_commit(bootstrap, 10)
