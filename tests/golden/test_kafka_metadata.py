"""What Kafka's admin clients said about its cluster, the metadata log says to us (R11, mission 001.25)."""

import hashlib
import hmac
import re
import shutil
from pathlib import Path
from random import Random

import pytest
from tests.golden.recording import NODE_ID, NOW, Recording

from trivium.cli.inspect_metadata import load_metadata
from trivium.core.metadata import MetadataImage
from trivium.core.metadata_configs import ALL_BROKERS, ConfigResource, ConfigType
from trivium.core.metadata_topics import NO_LEADER
from trivium.log.directory import LogDirectory
from trivium.log.files import RealFiles
from trivium.log.metadata_log import METADATA_DIRECTORY, read_metadata_log
from trivium.log.settings import LogSettings
from trivium.messages.stored.metadata_log import decode_metadata_record
from trivium.wire.errors import DecodeError
from trivium.wire.uuid_text import uuid_to_text

LARGE_TOPIC = "big-segments"
"""Known to every recording's metadata, stored only in the whole ones."""


@pytest.fixture(scope="module")
def image(recording: Recording) -> MetadataImage:
    return recording.metadata()


def test_topics_are_those_that_kafka_listed_with_their_ids(
    recording: Recording, image: MetadataImage, directory: LogDirectory
) -> None:
    listed = recording.manifest["topics"]
    assert {topic.name: uuid_to_text(topic.topic_id) for topic in image.topics} == {
        name: facts["topic_id"] for name, facts in listed.items()
    }
    for (topic, _), topic_id in directory.topic_ids.items():
        if topic in listed:
            assert image.topics.by_name[topic].topic_id == topic_id.bytes


def test_partitions_are_those_on_disk_and_held_by_their_only_replica(
    image: MetadataImage, directory: LogDirectory
) -> None:
    placed = {
        (topic.name, number): partition
        for topic in image.topics
        for number, partition in topic.partitions.items()
    }
    on_disk = {key for key, log in directory.logs.items() if log.name != METADATA_DIRECTORY}
    assert on_disk == {key for key in placed if key[0] != LARGE_TOPIC or key in on_disk}
    for partition in placed.values():
        assert partition.replicas == (NODE_ID,)
        # A broker that says good-bye is in sync with nobody, and remains the one who may lead.
        assert partition.isr + partition.eligible_leader_replicas == (NODE_ID,)
        assert partition.leader == (NODE_ID if partition.isr else NO_LEADER)
        assert partition.directories == (directory_id(directory),)


def directory_id(directory: LogDirectory) -> bytes:
    assert directory.meta.directory_id is not None
    return directory.meta.directory_id.bytes


def test_leader_epochs_are_not_behind_those_in_the_logs(
    image: MetadataImage, directory: LogDirectory
) -> None:
    """A leader writes with its epoch; one that the metadata does not know would be from the future."""
    for (topic, number), log in directory.logs.items():
        if topic in image.topics.by_name:
            newest = max(
                (found.header.leader_epoch for found in log.batches(log.log_start_offset)), default=0
            )
            assert newest <= image.topics.by_name[topic].partitions[number].leader_epoch, log.name


def test_topic_configs_are_those_that_kafka_listed(recording: Recording, image: MetadataImage) -> None:
    for name, facts in recording.manifest["topics"].items():
        assert image.configs.of_topic(name) == facts["dynamic_configs"], name


def test_logs_are_opened_with_the_settings_of_their_topics(directory: LogDirectory) -> None:
    settings = {topic: log.settings for (topic, _), log in directory.logs.items()}
    hour_ms = 3_600_000
    assert settings["plain"] == LogSettings()
    assert settings["segmented"] == LogSettings(segment_ms=hour_ms, index_interval_bytes=256)
    assert settings["expired"] == LogSettings(segment_ms=hour_ms, retention_ms=10 * hour_ms)
    assert settings["dynamic"] == LogSettings(compact=True, delete=True, retention_ms=-1)
    assert settings["compacted"] == LogSettings(
        compact=True,
        delete=False,
        segment_ms=hour_ms,
        min_cleanable_dirty_ratio=0.01,
        delete_retention_ms=1_000_000_000_000,
    )
    assert settings["__consumer_offsets"] == LogSettings(compact=True, delete=False, segment_bytes=100 << 20)


def test_configs_of_brokers_groups_and_metrics_are_those_that_kafka_listed(image: MetadataImage) -> None:
    configs = image.configs.by_resource
    assert configs[ConfigResource(ConfigType.BROKER, str(NODE_ID))] == {"log.cleaner.threads": "2"}
    assert configs[ConfigResource(ConfigType.BROKER, ALL_BROKERS)] == {
        "message.max.bytes": "3000000",
        "min.insync.replicas": "1",
    }
    assert configs[ConfigResource(ConfigType.GROUP, "g-consumer")] == {
        "consumer.heartbeat.interval.ms": "6000"
    }
    assert configs[ConfigResource(ConfigType.CLIENT_METRICS, "sub-1")] == {
        "interval.ms": "60000",
        "metrics": "org.apache.kafka.",
    }
    assert set(image.configs.of_broker(NODE_ID)) == {
        "log.cleaner.threads",
        "message.max.bytes",
        "min.insync.replicas",
    }


def test_access_control_entries_are_those_that_kafka_listed(
    recording: Recording, image: MetadataImage
) -> None:
    found = sorted(
        [
            # The client that made the list calls the cluster by an older name.
            entry.resource_type.name.replace("CLUSTER", "BROKER"),
            entry.resource_name,
            entry.pattern_type.name,
            entry.principal,
            entry.host,
            entry.operation.name,
            entry.permission.name,
        ]
        for entry in image.access_control.by_id.values()
    )
    assert found == sorted(recording.manifest["acls"])


def test_scram_users_are_those_that_kafka_listed_and_their_passwords_fit(
    recording: Recording, image: MetadataImage
) -> None:
    listed = {
        user: {(name, iterations) for name, iterations in credentials}
        for user, credentials in recording.manifest["scram_users"].items()
    }
    assert listed == {
        user: {(mechanism.name, credential.iterations) for mechanism, credential in credentials.items()}
        for user, credentials in image.scram.by_user.items()
    }
    for user, credentials in image.scram.by_user.items():
        password = recording.manifest["scram_passwords"][user].encode()
        for mechanism, credential in credentials.items():
            name = mechanism.hash_name
            salted = hashlib.pbkdf2_hmac(name, password, credential.salt, credential.iterations)
            client_key = hmac.digest(salted, b"Client Key", name)
            assert hashlib.new(name, client_key).digest() == credential.stored_key
            assert hmac.digest(salted, b"Server Key", name) == credential.server_key


def test_quotas_are_those_that_kafka_listed(recording: Recording, image: MetadataImage) -> None:
    listed = {line for line in recording.manifest["quotas"] if line.startswith("Quota configs")}
    described = set()
    for entity, limits in image.quotas.by_entity.items():
        parts = [
            f"the default {kind}" if name is None else f"{kind} '{name}'"
            for kind, name in sorted(entity, reverse=True)
        ]
        text = (
            ", ".join(parts)
            .replace("user ", "user-principal ")
            .replace("default user", "default user-principal")
        )
        values = ", ".join(f"{key}={value}" for key, value in limits.items())
        described.add(f"Quota configs for {text} are {values}")
    assert described == listed


def test_features_are_those_that_kafka_finalized(recording: Recording, image: MetadataImage) -> None:
    listed = {}
    for line in recording.manifest["features"]:
        name, level = re.findall(r"Feature: (\S+) .*FinalizedVersionLevel: (\S+)", line)[0]
        listed[name] = level
    # kraft.version stands in control records of the quorum; at level 0 it has none.
    assert listed.pop("kraft.version") == "0"
    # The tool names this level by the release that brought it.
    assert listed.pop("metadata.version") == "4.3-IV0"
    levels = dict(image.features.levels)
    assert levels.pop("metadata.version") == 30
    assert {name: str(level) for name, level in levels.items()} == listed


def test_broker_is_the_one_that_wrote_the_directory(image: MetadataImage, directory: LogDirectory) -> None:
    (broker,) = image.brokers
    assert broker.broker_id == NODE_ID
    assert broker.directories == (directory_id(directory),)
    assert set(broker.listeners) == {"PLAINTEXT"}
    assert image.producer_ids.next_id == 2000


def test_image_of_the_whole_log_is_that_of_the_snapshot_and_the_rest(
    recording: Recording, image: MetadataImage, tmp_path: Path
) -> None:
    """Kafka's own snapshots are the proof that changes are replayed as Kafka replays them."""
    shutil.copytree(recording.data / METADATA_DIRECTORY, tmp_path / METADATA_DIRECTORY)
    snapshots = sorted((tmp_path / METADATA_DIRECTORY).glob("*.checkpoint"))
    assert len(snapshots) >= 2
    for snapshot in reversed(snapshots):
        snapshot.unlink()
        assert load_metadata(RealFiles(), str(tmp_path), NOW) == image, f"without {snapshot.name}"


def test_damaged_values_are_refused_or_harmless(recording: Recording) -> None:
    """S1 for the metadata log: whatever a value says, the worst that comes of it is a ``DecodeError``."""
    random = Random(20260)
    entries = [value for _, value in read_metadata_log(RealFiles(), str(recording.data), now_ms=NOW)]
    refused = 0
    for _ in range(40):
        image = MetadataImage()
        try:
            for value in entries:
                damaged = bytearray(value)
                if random.random() < 0.02:
                    damaged[random.randrange(len(damaged))] ^= 1 << random.randrange(8)
                image.replay(decode_metadata_record(bytes(damaged))[2])
        except DecodeError:
            refused += 1
    assert refused
