"""``trivium topic``: what topics there are, and what is in them. Changing them is in ``topic_changes``."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import click

from trivium.cli.connecting import broker_option, fail_if_refused, json_option, reach, succeeded
from trivium.cli.output import printable, write_json, writing
from trivium.cli.topic_changes import alter, create, delete, records
from trivium.client.admin_cluster import describe_log_dirs
from trivium.client.admin_configs import Config, Resource, ResourceType, describe_configs
from trivium.client.admin_topics import describe_places, describe_topics
from trivium.client.cluster import Cluster
from trivium.client.errors import Refused, Unsupported, settled
from trivium.client.offsets import EARLIEST, LATEST, FoundOffset, list_offsets
from trivium.client.topology import Topic, TopicPartition
from trivium.messages.topic_in_stream import TopicInStream
from trivium.wire.uuid_text import uuid_to_text


@dataclass(frozen=True, slots=True)
class TopicRow:
    topic: str
    partitions: int
    replicas: int
    records: int | None
    """From beginning to end, gaps of compaction and transactions included; None while a leader is missing."""

    size_bytes: int | None
    """Of one copy: the largest where replicas differ."""


@dataclass(frozen=True, slots=True)
class PartitionRow:
    partition: int
    leader: int | None
    replicas: tuple[int, ...]
    in_sync: tuple[int, ...]
    start: int | None
    end: int | None
    size_bytes: int | None


@dataclass(frozen=True, slots=True)
class DoorRow:
    """What clients of a protocol call the topic."""

    door: str
    name: str
    number: str
    """What Iggy's clients may say in place of names."""


@dataclass(frozen=True, slots=True)
class IggyPlace:
    """Numbers begin at 0; clients of Iggy 0.5 count from 1."""

    stream: str
    stream_id: int
    topic: str
    topic_id: int


@dataclass(frozen=True, slots=True)
class SettingRow:
    setting: str
    value: str | None
    source: str


@click.group("topic")
def command() -> None:
    """List, create, describe, change and delete topics.

    \b
    Examples:
      trivium topic list
      trivium topic create orders --partitions 3 --config retention.ms=86400000
      trivium topic show orders
      trivium topic alter orders --partitions 6 --set cleanup.policy=compact
      trivium topic records orders --delete-before 2025-06-01
      trivium topic delete orders
    """


command.add_command(create)
command.add_command(delete)
command.add_command(alter)
command.add_command(records)


@command.command("list")
@click.option("--internal", is_flag=True, help="Also the topics that brokers keep for themselves.")
@broker_option
@json_option
def list_topics(internal: bool, bootstrap: str, as_json: bool) -> None:
    """List all topics with their sizes.

    \b
    Examples:
      trivium topic list
      trivium topic list --internal --json | jq '.topics[] | {topic, size_bytes}'
    """
    with reach(bootstrap) as cluster:
        topics = [topic for topic in cluster.topics().values() if internal or not topic.is_internal]
        extents = Extents.survey(cluster, topics)
    rows = [
        TopicRow(
            topic.name,
            len(topic.partitions),
            len(topic.partitions[0].replicas) if topic.partitions else 0,
            extents.records(topic),
            extents.topic_bytes(topic),
        )
        for topic in topics
    ]
    if as_json:
        write_json({"topics": rows})
    elif rows:
        from trivium.cli.tables import show_table

        show_table("topics", rows)
    else:
        with writing():
            click.echo(
                "There are no topics yet, or none that you may see; 'trivium topic create NAME' makes one."
            )


@command.command(short_help="Show names at each door, partitions and settings.")
@click.argument("topics", nargs=-1, required=True, metavar="TOPIC...")
@click.option("--all-settings", is_flag=True, help="Also the settings that nobody has changed.")
@broker_option
@json_option
def describe(topics: tuple[str, ...], all_settings: bool, bootstrap: str, as_json: bool) -> None:
    """Show what topics are called at each door, their partitions and settings.

    Iggy's clients know a topic by its stream and its name there, or by two numbers that begin at 0 (at 1 for
    clients of Iggy 0.5). They are shown where the broker has a door for Iggy, or has had one.

    \b
    Examples:
      trivium topic show orders
      trivium topic describe orders --all-settings --json | jq '.topics[].settings'
    """
    with reach(bootstrap) as cluster:
        outcomes = describe_topics(cluster, topics)
        found = succeeded(outcomes)
        extents = Extents.survey(cluster, found.values())
        settings = _settings(cluster, found, all_settings)
        places = describe_places(cluster, found)
        facts = [
            {
                "topic": name,
                "topic_id": uuid_to_text(topic.topic_id),
                "is_internal": topic.is_internal,
                "doors": {"kafka": name, "iggy": _iggy_place(places.get(name)), "rustlog": name},
                "partitions": extents.rows(topic),
                "settings": settings[name],
            }
            for name, topic in found.items()
        ]
        if as_json:
            write_json({"topics": facts})
        else:
            for each in facts:
                _show_topic(each)
        fail_if_refused(outcomes)


command.add_command(describe, "show")


def _iggy_place(place: TopicInStream | None) -> IggyPlace | None:
    if place is None:
        return None
    return IggyPlace(place.stream, place.stream_id, place.topic, place.topic_id)


@dataclass(frozen=True, slots=True)
class Extents:
    """Where partitions begin and end, and what they take on disk."""

    starts: dict[TopicPartition, FoundOffset | Refused]
    ends: dict[TopicPartition, FoundOffset | Refused]
    sizes_bytes: dict[TopicPartition, int]

    @classmethod
    def survey(cls, cluster: Cluster, topics: Iterable[Topic]) -> "Extents":
        keys = [
            TopicPartition(topic.name, partition.index)
            for topic in topics
            for partition in topic.partitions
            if partition.leader_id >= 0  # Nobody answers for the others, and a list need not wait for them.
        ]
        starts = list_offsets(cluster, dict.fromkeys(keys, EARLIEST))
        ends = list_offsets(cluster, dict.fromkeys(keys, LATEST))
        return cls(starts, ends, _sizes_bytes(cluster))

    def records(self, topic: Topic) -> int | None:
        total = 0
        for key in topic.partition_keys():
            start, end = self.starts.get(key), self.ends.get(key)
            if not isinstance(start, FoundOffset) or not isinstance(end, FoundOffset):
                return None
            total += end.offset - start.offset
        return total

    def topic_bytes(self, topic: Topic) -> int | None:
        sizes = [self.sizes_bytes.get(key) for key in topic.partition_keys()]
        return None if None in sizes else sum(size for size in sizes if size is not None)

    def rows(self, topic: Topic) -> list[PartitionRow]:
        return [
            PartitionRow(
                partition.index,
                None if partition.leader_id < 0 else partition.leader_id,
                partition.replicas,
                partition.isr,
                _offset(self.starts.get(TopicPartition(topic.name, partition.index))),
                _offset(self.ends.get(TopicPartition(topic.name, partition.index))),
                self.sizes_bytes.get(TopicPartition(topic.name, partition.index)),
            )
            for partition in topic.partitions
        ]


def _sizes_bytes(cluster: Cluster) -> dict[TopicPartition, int]:
    """What partitions take on disk, as far as we may know it."""
    sizes: dict[TopicPartition, int] = {}
    try:
        for directory in describe_log_dirs(cluster):
            for key, size_bytes in directory.sizes_bytes.items():
                sizes[key] = max(sizes.get(key, 0), size_bytes)
    except (Refused, Unsupported):
        return {}  # The rest is worth showing without it.
    return sizes


def _offset(found: FoundOffset | Refused | None) -> int | None:
    return found.offset if isinstance(found, FoundOffset) else None


def _settings(cluster: Cluster, names: Iterable[str], is_all: bool) -> dict[str, list[SettingRow]]:
    resources = [Resource(ResourceType.TOPIC, name) for name in names]
    described = describe_configs(cluster, resources) if resources else {}
    return {
        resource.name: [
            SettingRow(config.name, config.value, config.source)
            for config in settled(outcome).values()
            if is_all or _is_own(config)
        ]
        for resource, outcome in described.items()
    }


def _is_own(config: Config) -> bool:
    """Whether somebody has set it for this topic, and not for all."""
    return config.source == "topic"


def _door_rows(doors: dict[str, Any]) -> list[DoorRow]:
    iggy: IggyPlace | None = doors["iggy"]
    rows = [DoorRow("kafka", doors["kafka"], "")]
    if iggy is not None:
        name = f"stream {iggy.stream}, topic {iggy.topic}"
        rows.append(DoorRow("iggy", name, f"stream {iggy.stream_id}, topic {iggy.topic_id}"))
    return [*rows, DoorRow("rustlog", doors["rustlog"], "")]


def _show_topic(facts: dict[str, Any]) -> None:
    from trivium.cli.tables import show_table

    kind = ", kept by brokers for themselves" if facts["is_internal"] else ""
    with writing():
        click.echo(f"{printable(facts['topic'])}  id {facts['topic_id']}{kind}")
    show_table("doors", _door_rows(facts["doors"]))
    show_table("partitions", facts["partitions"])
    show_table("settings", facts["settings"])
