"""Groups and offsets of a directory that Kafka wrote, served to a client (R11)."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer, ConsumerGroupTopicPartitions, TopicPartition
from confluent_kafka.admin import AdminClient
from tests.golden.recording import Recording

from trivium.testing import Broker


@pytest.fixture(scope="module")
def broker(recording: Recording, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    data = tmp_path_factory.mktemp("served") / "data"
    shutil.copytree(recording.data, data)
    with Broker(data) as broker:
        yield broker


@pytest.fixture(scope="module")
def admin(broker: Broker) -> AdminClient:
    return AdminClient({"bootstrap.servers": broker.bootstrap})


def offsets_of(admin: AdminClient, group_id: str) -> set[tuple[str, int, int]]:
    asked = ConsumerGroupTopicPartitions(group_id)
    found = admin.list_consumer_group_offsets([asked])[group_id].result(30).topic_partitions
    return {(place.topic, place.partition, place.offset) for place in found}


def test_groups_of_kafka_are_listed(recording: Recording, admin: AdminClient) -> None:
    listed = admin.list_consumer_groups().result(30)
    assert listed.errors == []
    assert {group.group_id for group in listed.valid} == set(recording.manifest["groups"])


def test_offsets_of_kafka_are_served(recording: Recording, admin: AdminClient) -> None:
    groups: dict[str, Any] = recording.manifest["groups"]
    expected = {
        name: {(each["topic"], each["partition"], each["offset"]) for each in facts["offsets"]}
        for name, facts in groups.items()
    }
    assert {name: offsets_of(admin, name) for name in groups} == expected


def test_static_member_of_kafka_finds_its_place(
    recording: Recording, broker: Broker, admin: AdminClient
) -> None:
    [member] = recording.manifest["groups"]["g-static"]["members"]
    [before] = admin.describe_consumer_groups(["g-static"])["g-static"].result(30).members
    assert before.group_instance_id == member["group_instance_id"]
    consumer = Consumer(
        {
            "bootstrap.servers": broker.bootstrap,
            "group.id": "g-static",
            "group.instance.id": member["group_instance_id"],
            "session.timeout.ms": 300_000,
        }
    )
    consumer.subscribe(sorted({topic for topic, _ in member["assignment"]}))
    while not consumer.assignment():
        consumer.poll(0.1)
    assert [[place.topic, place.partition] for place in consumer.assignment()] == member["assignment"]
    consumer.close()


def test_offsets_committed_on_top_of_kafkas_survive_a_restart(recording: Recording, tmp_path: Path) -> None:
    shutil.copytree(recording.data, tmp_path / "data")
    with Broker(tmp_path / "data") as broker:
        consumer = Consumer({"bootstrap.servers": broker.bootstrap, "group.id": "g-offsets-only"})
        consumer.commit(offsets=[TopicPartition("plain", 1, 3)], asynchronous=False)
        consumer.close()
        broker.restart()
        admin = AdminClient({"bootstrap.servers": broker.bootstrap})
        facts = recording.manifest["groups"]["g-offsets-only"]
        before = {(each["topic"], each["partition"], each["offset"]) for each in facts["offsets"]}
        assert offsets_of(admin, "g-offsets-only") == before | {("plain", 1, 3)}
