"""Share groups of Kafka's Java client, and Kafka's tools for them (issue 6, KIP-932, R11)."""

import itertools
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import confluent_kafka
import pytest
from confluent_kafka.admin import AdminClient, NewTopic
from tests.golden.group_dialogue import STATIC, Talk
from tests.golden.share_group_dialogue import ACCEPT, LAST, NEW, ShareTalk, half_done
from tests.interop.brokers import Restartable
from tests.interop.kafka import Kafka, Unavailable
from tests.interop.puppets import SHARE_PUPPET, Puppet

from trivium.testing import Broker

pytestmark = pytest.mark.interop

SHARE_GROUPS = "org.apache.kafka.tools.consumer.group.ShareGroupCommand"
CONSOLE = "org.apache.kafka.tools.consumer.ConsoleShareConsumer"
CONFIGS = "kafka.admin.ConfigCommand"
PATIENCE_MS = 20_000
SHORT_MS = 1500
LOCK_MS = 1000


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Restartable]:
    settings = {
        "group.share.min.record.lock.duration.ms": LOCK_MS,
        "group.share.record.lock.duration.ms": 30_000,
        "group.share.assignment.interval.ms": 0,
        "group.share.min.heartbeat.interval.ms": 200,
        "group.share.heartbeat.interval.ms": 200,
    }
    flags = [word for name, value in settings.items() for word in ("--set", f"{name}={value}")]
    broker = Restartable(tmp_path_factory.mktemp("broker"), *flags)
    with broker:
        yield broker


@pytest.fixture(scope="module")
def puppet(broker: Restartable, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Puppet]:
    try:
        puppet = Puppet(SHARE_PUPPET, broker.bootstrap, tmp_path_factory.mktemp("puppet"))
    except Unavailable as reason:
        pytest.skip(str(reason))
    with puppet:
        yield puppet


@pytest.fixture
def kafka() -> Kafka:
    try:
        return Kafka.obtain()
    except Unavailable as reason:
        pytest.skip(str(reason))


_numbers = itertools.count()


@pytest.fixture
def topic(broker: Restartable) -> str:
    """A topic of two partitions, also the name of a group that begins at its beginning."""
    name = f"shared-{next(_numbers)}"
    admin = AdminClient({"bootstrap.servers": broker.bootstrap})
    for done in admin.create_topics([NewTopic(name, 2, 1)]).values():
        done.result(30)
    configure(broker, name, "share.auto.offset.reset", "earliest")
    return name


def configure(broker: Restartable, group: str, setting: str, value: str) -> None:
    Kafka.obtain().run(
        CONFIGS,
        "--bootstrap-server",
        broker.bootstrap,
        *("--entity-type", "groups", "--entity-name", group, "--alter", "--add-config", f"{setting}={value}"),
    )


def polled(puppet: Puppet, member: str, patience_ms: int = PATIENCE_MS) -> list[Any]:
    return sorted(puppet.ask("poll", member, patience_ms))


def read_all(puppet: Puppet, count: int, *members: str) -> list[tuple[str, Any]]:
    """Poll members in turn until so many records have come, or nothing comes any more."""
    found: list[tuple[str, Any]] = []
    deadline = time.monotonic() + PATIENCE_MS / 1000
    while len(found) < count and time.monotonic() < deadline:
        for member in members:
            found += [(member, record) for record in polled(puppet, member, 300)]
    return found


def test_java_members_get_every_record_once_between_them(puppet: Puppet, topic: str) -> None:
    puppet.ask("join", "a", topic, topic)
    puppet.ask("join", "b", topic, topic)
    for member in ("a", "b"):
        polled(puppet, member, SHORT_MS)
    for partition in (0, 1):
        puppet.ask("produce", topic, partition, partition * 100, 100)
    found = read_all(puppet, 200, "a", "b")
    assert sorted(int(record[2]) for _, record in found) == list(range(200))
    assert {record[3] for _, record in found} == {1}
    assert {member for member, _ in found} == {"a", "b"}
    for member in ("a", "b"):
        puppet.ask("leave", member)


def test_java_member_that_releases_gets_the_record_again_and_one_that_rejects_does_not(
    puppet: Puppet, topic: str
) -> None:
    puppet.ask("produce", topic, 0, 0, 3)
    puppet.ask("join", "e", topic, topic, "explicit")
    records = polled(puppet, "e")
    assert [record[:4] for record in records] == [[0, 0, "0", 1], [0, 1, "1", 1], [0, 2, "2", 1]]
    for offset, kind in enumerate(("accept", "release", "reject")):
        puppet.ask("acknowledge", "e", 0, offset, kind)
    assert puppet.ask("commit", "e") == {}
    assert polled(puppet, "e") == [[0, 1, "1", 2]]
    puppet.ask("acknowledge", "e", 0, 1, "accept")
    assert puppet.ask("commit", "e") == {}
    assert polled(puppet, "e", SHORT_MS) == []
    puppet.ask("leave", "e")


def test_java_member_that_renews_keeps_its_record(puppet: Puppet, broker: Restartable, topic: str) -> None:
    configure(broker, topic, "share.record.lock.duration.ms", str(LOCK_MS * 3))
    puppet.ask("produce", topic, 0, 0, 1)
    puppet.ask("join", "slow", topic, topic, "explicit")
    for _ in range(3):
        # The client gives out a record again that it has renewed, as the same delivery.
        assert polled(puppet, "slow") == [[0, 0, "0", 1]]
        puppet.ask("acknowledge", "slow", 0, 0, "renew")
        assert puppet.ask("commit", "slow") == {}
        time.sleep(LOCK_MS * 1.5 / 1000)
    assert polled(puppet, "slow") == [[0, 0, "0", 1]]
    puppet.ask("acknowledge", "slow", 0, 0, "accept")
    assert puppet.ask("commit", "slow") == {}
    assert polled(puppet, "slow", SHORT_MS) == []
    puppet.ask("leave", "slow")


def test_java_member_that_goes_leaves_its_records_to_others(puppet: Puppet, topic: str) -> None:
    puppet.ask("produce", topic, 0, 0, 5)
    puppet.ask("join", "gone", topic, topic, "explicit")
    assert len(polled(puppet, "gone")) == 5
    puppet.ask("leave", "gone")
    puppet.ask("join", "heir", topic, topic)
    assert [record[3] for record in polled(puppet, "heir")] == [2] * 5
    puppet.ask("leave", "heir")


@pytest.mark.parametrize("killed", [False, True], ids=["stopped", "killed"])
def test_java_member_over_a_restart_loses_nothing_and_gets_nothing_again(
    puppet: Puppet, broker: Restartable, topic: str, killed: bool
) -> None:
    """What was accepted before kill -9 stays accepted; what was not is given out once more (R11)."""
    puppet.ask("produce", topic, 0, 0, 10)
    puppet.ask("join", "k", topic, topic, "explicit")
    assert len(polled(puppet, "k")) == 10
    for offset in (0, 1, 2, 5):
        puppet.ask("acknowledge", "k", 0, offset, "accept")
    for offset in (3, 4, 6, 7, 8, 9):
        puppet.ask("acknowledge", "k", 0, offset, "release")
    assert puppet.ask("commit", "k") == {}
    broker.restart(killed=killed)
    found = read_all(puppet, 6, "k")
    assert sorted(record[1] for _, record in found) == [3, 4, 6, 7, 8, 9]
    assert {record[3] for _, record in found} == {2}
    puppet.ask("leave", "k")


def test_share_groups_tool_lists_describes_resets_and_deletes(
    puppet: Puppet, broker: Restartable, topic: str, kafka: Kafka
) -> None:
    puppet.ask("produce", topic, 0, 0, 10)
    puppet.ask("join", "t", topic, topic)
    assert len(polled(puppet, "t")) == 10
    polled(puppet, "t", SHORT_MS)

    def tool(*words: str) -> str:
        return kafka.run(SHARE_GROUPS, "--bootstrap-server", broker.bootstrap, *words)

    assert topic in tool("--list").split()
    members = tool("--describe", "--group", topic, "--members", "--verbose")
    assert f"{topic}:0" in members
    assert "Stable" in tool("--describe", "--group", topic, "--state")
    puppet.ask("leave", "t")
    assert "Empty" in tool("--describe", "--group", topic, "--state")
    offsets = tool("--describe", "--group", topic, "--offsets")
    assert [line.split()[2:5] for line in offsets.splitlines() if line.split()[2:3] == ["0"]] == [
        ["0", "10", "0"]
    ]
    tool("--reset-offsets", "--group", topic, "--topic", topic, "--to-earliest", "--execute")
    puppet.ask("join", "t", topic, topic)
    assert len(polled(puppet, "t")) == 10
    puppet.ask("leave", "t")
    tool("--delete-offsets", "--group", topic, "--topic", topic)
    tool("--delete", "--group", topic)
    assert topic not in tool("--list").split()


def test_logs_of_share_groups_are_read_by_kafka(
    puppet: Puppet, broker: Restartable, topic: str, kafka: Kafka
) -> None:
    puppet.ask("produce", topic, 0, 0, 3)
    puppet.ask("join", "d", topic, topic, "explicit")
    polled(puppet, "d")
    puppet.ask("acknowledge", "d", 0, 0, "accept")
    puppet.ask("acknowledge", "d", 0, 1, "reject")
    puppet.ask("acknowledge", "d", 0, 2, "release")
    puppet.ask("commit", "d")
    puppet.ask("leave", "d")
    states = kafka.dump(
        "--share-group-state-decoder", files=sorted(broker.data.glob("__share_group_state-*/*.log"))
    )
    said = [line for line in states.splitlines() if f'"groupId":"{topic}"' in line]
    assert any('"startOffset":-1' in line for line in said)
    assert any('"startOffset":2' in line and '"deliveryState":0,"deliveryCount":1' in line for line in said)
    groups = kafka.dump("--offsets-decoder", files=sorted(broker.data.glob("__consumer_offsets-*/*.log")))
    kinds = {
        kind
        for line in groups.splitlines()
        if f'"groupId":"{topic}"' in line
        for kind in range(10, 16)
        if f'"type":"{kind}"' in line
    }
    assert kinds == set(range(10, 16))


def test_librdkafka_member_releases_and_accepts(broker: Restartable, puppet: Puppet, topic: str) -> None:
    if not hasattr(confluent_kafka, "ShareConsumer"):
        pytest.skip("this confluent-kafka has no share consumer: 2.16 is the first that does")
    puppet.ask("produce", topic, 0, 0, 3)
    member = confluent_kafka.ShareConsumer(
        {"bootstrap.servers": broker.bootstrap, "group.id": topic, "share.acknowledgement.mode": "explicit"}
    )
    member.subscribe([topic])
    found: list[tuple[int | None, int | None]] = []
    deadline = time.monotonic() + PATIENCE_MS / 1000
    while len(found) < 4 and time.monotonic() < deadline:
        for message in member.poll(1):
            assert message.error() is None
            found.append((message.offset(), message.delivery_count()))
            is_first = found[-1] == (1, 1)
            kinds = confluent_kafka.AcknowledgeType
            member.acknowledge(message, kinds.RELEASE if is_first else kinds.ACCEPT)
        assert not any((member.commit_sync(10) or {}).values())
    member.close()
    assert sorted(found, key=str) == [(0, 1), (1, 1), (1, 2), (2, 1)]


def test_console_share_consumer_reads_what_is_there(
    puppet: Puppet, broker: Restartable, topic: str, kafka: Kafka
) -> None:
    puppet.ask("produce", topic, 0, 0, 5)
    printed = kafka.run(
        CONSOLE,
        *("--bootstrap-server", broker.bootstrap, "--topic", topic, "--group", topic),
        *("--max-messages", "5", "--timeout-ms", str(PATIENCE_MS)),
    )
    assert printed.split() == ["0", "1", "2", "3", "4"]


def test_share_group_moves_to_kafka_and_back_with_its_directory(kafka: Kafka, tmp_path: Path) -> None:
    """Kafka goes on where our node stopped, record by record, and our node where Kafka did (003.7)."""
    data = tmp_path / "data"
    with Broker(data=data, settings=STATIC) as node:
        talk = Talk(node.bootstrap)
        talk.begin()
        half_done(talk)
        talk.close()
    with kafka.broker(data, "unused: the directory has its own") as address:
        assert left_over(address, (2, 2), (4, 5)) == [[2, 2], [4, 2], [5, 2], [6, 2], [8, 2], [9, 2]]
    with Broker(data=data, settings=STATIC) as node:
        assert left_over(node.bootstrap) == [[6, 3], [8, 3], [9, 3]]


def left_over(address: str, *accepted: tuple[int, int]) -> list[list[int]]:
    """Offset and delivery count of all that a new member gets; these it accepts, then it hangs up."""
    talk = Talk(address)
    share = ShareTalk(talk)
    share.settle("heir")
    share.fetch("what is left", NEW, member="heir")
    [topic] = talk.answers["what is left"]["responses"]
    if accepted:
        share.acknowledge(
            "accepting", 1, *((first, last, [ACCEPT]) for first, last in accepted), member="heir"
        )
    share.acknowledge("the end", LAST, member="heir")
    talk.close()
    acquired: list[list[int]] = topic["partitions"][0]["acquired_records"]
    return acquired
