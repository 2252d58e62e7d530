"""Administration by the clients that people use (mission 001.2, 001.44)."""

import asyncio
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import aiokafka.admin
import kafka
import kafka.admin
import pytest
from confluent_kafka import KafkaException, TopicCollection, TopicPartition
from confluent_kafka.admin import (
    AclOperation,
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    NewPartitions,
    NewTopic,
    ResourceType,
)

from tests.server.wire import Peer
from trivium.messages.api import ApiKey
from trivium.messages.api.alter_replica_log_dirs import (
    AlterReplicaLogDir,
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirsResponse,
    AlterReplicaLogDirTopic,
)
from trivium.testing.broker import Broker

PATIENCE_SECONDS = 20


@pytest.fixture(scope="module")
def broker() -> Iterator[Broker]:
    with Broker() as made:
        yield made


def wait_until(has_happened: Callable[[], bool]) -> None:
    """For what a broker does in its own time."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not has_happened():
        assert time.monotonic() < deadline, "it never happened"
        time.sleep(0.02)


def settled(futures: "dict[Any, Future[Any]]") -> list[Any]:
    return [future.result(PATIENCE_SECONDS) for future in futures.values()]


def code_of(future: "Future[Any]") -> str:
    with pytest.raises(KafkaException) as refused:
        future.result(PATIENCE_SECONDS)
    name: str = refused.value.args[0].name()
    return name


# -- confluent-kafka -----------------------------------------------------------------------------


@pytest.fixture
def confluent(broker: Broker) -> AdminClient:
    return AdminClient({"bootstrap.servers": broker.bootstrap})


def test_confluent_kafka_makes_extends_describes_and_deletes_a_topic(confluent: AdminClient) -> None:
    settled(confluent.create_topics([NewTopic("ck", 2, 1, config={"retention.ms": "60000"})]))
    assert code_of(confluent.create_topics([NewTopic("ck", 1, 1)])["ck"]) == "TOPIC_ALREADY_EXISTS"
    assert code_of(confluent.create_topics([NewTopic("ck2", 1, 3)])["ck2"]) == "INVALID_REPLICATION_FACTOR"
    settled(confluent.create_partitions([NewPartitions("ck", 4)]))
    assert code_of(confluent.create_partitions([NewPartitions("ck", 3)])["ck"]) == "INVALID_PARTITIONS"
    (described,) = settled(
        confluent.describe_topics(TopicCollection(["ck"]), include_authorized_operations=True)
    )
    assert [partition.id for partition in described.partitions] == [0, 1, 2, 3]
    assert AclOperation.WRITE in described.authorized_operations
    settled(confluent.delete_topics(["ck"]))
    assert code_of(confluent.delete_topics(["ck"])["ck"]) == "UNKNOWN_TOPIC_OR_PART"


def test_confluent_kafka_learns_which_node_it_talks_to(confluent: AdminClient) -> None:
    """Also where nobody has configured a number: the directory has one."""
    (entries,) = settled(confluent.describe_configs([ConfigResource(ResourceType.BROKER, "1")]))
    assert (entries["node.id"].value, entries["broker.id"].value) == ("1", "1")


def test_confluent_kafka_changes_settings(confluent: AdminClient) -> None:
    settled(confluent.create_topics([NewTopic("ck-configs", 1, 1)]))

    def value(name: str) -> Any:
        (entries,) = settled(confluent.describe_configs([ConfigResource(ResourceType.TOPIC, "ck-configs")]))
        return entries[name]

    def alter(name: str, text: str | None, kind: AlterConfigOpType) -> "Future[Any]":
        entry = ConfigEntry(name, text, incremental_operation=kind)
        resource = ConfigResource(ResourceType.TOPIC, "ck-configs", incremental_configs=[entry])
        (future,) = confluent.incremental_alter_configs([resource]).values()
        return future

    alter("cleanup.policy", "compact", AlterConfigOpType.APPEND).result(PATIENCE_SECONDS)
    assert value("cleanup.policy").value == "delete,compact"
    assert not value("cleanup.policy").is_default
    alter("cleanup.policy", None, AlterConfigOpType.DELETE).result(PATIENCE_SECONDS)
    assert value("cleanup.policy").value == "delete"
    assert code_of(alter("segment.ms", "0", AlterConfigOpType.SET)) == "INVALID_CONFIG"


def test_confluent_kafka_deletes_records(broker: Broker, confluent: AdminClient) -> None:
    broker.create_topic("ck-records", 1)
    broker.produce("ck-records", [f"{number}" for number in range(10)])
    (deleted,) = settled(confluent.delete_records([TopicPartition("ck-records", 0, 4)]))
    assert deleted.low_watermark == 4
    assert [record.offset for record in broker.records("ck-records")] == list(range(4, 10))


def test_confluent_kafka_describes_the_cluster(broker: Broker, confluent: AdminClient) -> None:
    described = confluent.describe_cluster(include_authorized_operations=True).result(PATIENCE_SECONDS)
    assert f"{described.nodes[0].host}:{described.nodes[0].port}" == broker.bootstrap
    assert described.controller.id == described.nodes[0].id
    assert AclOperation.ALTER in described.authorized_operations


# -- kafka-python --------------------------------------------------------------------------------


def test_kafka_python_administers(broker: Broker) -> None:
    admin = kafka.KafkaAdminClient(bootstrap_servers=broker.bootstrap)
    try:
        admin.create_topics([kafka.admin.NewTopic("kp", 2, 1)])
        admin.create_partitions({"kp": kafka.admin.NewPartitions(3)})
        (described,) = admin.describe_topics(["kp"])
        assert len(described["partitions"]) == 3
        resource = kafka.admin.ConfigResource(
            kafka.admin.ConfigResourceType.TOPIC, "kp", configs={"flush.messages": "7"}
        )
        admin.alter_configs([resource])
        assert "flush.messages" in str(admin.describe_configs([resource]))
        assert "kp" in str(admin.describe_log_dirs())
        admin.delete_topics(["kp"])
        assert "kp" not in admin.list_topics()
    finally:
        admin.close()


# -- aiokafka ------------------------------------------------------------------------------------


def test_aiokafka_administers(broker: Broker) -> None:
    async def administer() -> None:
        admin = aiokafka.admin.AIOKafkaAdminClient(bootstrap_servers=broker.bootstrap)
        await admin.start()
        try:
            await admin.create_topics([aiokafka.admin.NewTopic("aio", 2, 1)])
            await admin.create_partitions({"aio": aiokafka.admin.NewPartitions(3)})
            (described,) = await admin.describe_topics(["aio"])
            assert len(described["partitions"]) == 3
            resource = aiokafka.admin.config_resource.ConfigResource(
                aiokafka.admin.config_resource.ConfigResourceType.TOPIC, "aio", configs={"flush.ms": "7"}
            )
            await admin.alter_configs([resource])
            await admin.delete_topics(["aio"])
            assert "aio" not in await admin.list_topics()
        finally:
            await admin.close()

    asyncio.run(administer())


# -- over a restart ------------------------------------------------------------------------------


def test_topics_and_settings_are_there_after_a_restart(tmp_path: Path) -> None:
    with Broker(tmp_path) as broker:
        admin = AdminClient({"bootstrap.servers": broker.bootstrap})
        settled(
            admin.create_topics(
                [NewTopic("kept", 3, 1, config={"retention.ms": "60000"}), NewTopic("gone", 1, 1)]
            )
        )
        settled(admin.delete_topics(["gone"]))
        broker.kill()
        broker.start()
        assert broker.topics() == {"kept": 3}
        (entries,) = settled(admin.describe_configs([ConfigResource(ResourceType.TOPIC, "kept")]))
        assert entries["retention.ms"].value == "60000"


def test_partition_is_moved_to_another_directory_and_keeps_its_records(tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    with Broker([one, two]) as broker, Peer(broker.bootstrap) as peer:
        broker.create_topic("moved", 1)
        broker.produce("moved", ["before"])
        here, there = (one, two) if (one / "moved-0").is_dir() else (two, one)
        topic = AlterReplicaLogDirTopic(name="moved", partitions=[0])
        directory = AlterReplicaLogDir(path=str(there), topics=[topic])
        peer.ask(AlterReplicaLogDirsRequest(dirs=[directory]), 2)
        answer = peer.answer(ApiKey.ALTER_REPLICA_LOG_DIRS, 2)[1]
        assert isinstance(answer, AlterReplicaLogDirsResponse)
        assert answer.results[0].partitions[0].error_code == 0
        wait_until(lambda: (there / "moved-0").is_dir() and not (here / "moved-0").exists())
        broker.produce("moved", ["after"])
        assert [record.value for record in broker.records("moved")] == [b"before", b"after"]
        broker.restart()
        assert [record.value for record in broker.records("moved")] == [b"before", b"after"]
