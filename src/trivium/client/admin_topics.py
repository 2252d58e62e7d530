"""Topics: create, describe, grow, delete. Each item of a request has its own outcome."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from trivium.client.cluster import Cluster
from trivium.client.errors import Refused, Unsupported
from trivium.client.topology import Topic, topic_of
from trivium.messages.api.create_partitions import (
    CreatePartitionsRequest,
    CreatePartitionsResponse,
    CreatePartitionsTopic,
)
from trivium.messages.api.create_topics import (
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from trivium.messages.api.delete_topics import (
    DeleteTopicsRequest,
    DeleteTopicsResponse,
    DeleteTopicState,
)
from trivium.messages.api.describe_topic_partitions import (
    DescribeTopicPartitionsRequest,
    DescribeTopicPartitionsResponse,
    TopicRequest,
)
from trivium.messages.errors import ErrorCode
from trivium.messages.topic_in_stream import TopicInStream, from_tags
from trivium.wire.uuid_text import ZERO_UUID

BROKER_DEFAULT: Final = -1
"""Partitions or replicas: as many as the broker is set up for."""


@dataclass(frozen=True, slots=True)
class NewTopic:
    name: str
    partitions: int = BROKER_DEFAULT
    replication_factor: int = BROKER_DEFAULT
    configs: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CreatedTopic:
    """What a broker made; -1 for numbers that an old one does not tell."""

    name: str
    topic_id: bytes
    partitions: int
    replication_factor: int


def create_topics(
    cluster: Cluster, topics: Sequence[NewTopic], *, validate_only: bool = False
) -> dict[str, CreatedTopic | Refused]:
    request = CreateTopicsRequest(
        topics=[
            CreatableTopic(
                name=topic.name,
                num_partitions=topic.partitions,
                replication_factor=topic.replication_factor,
                assignments=[],
                configs=[
                    CreatableTopicConfig(name=name, value=value) for name, value in topic.configs.items()
                ],
            )
            for topic in topics
        ],
        timeout_ms=_timeout_ms(cluster),
        validate_only=validate_only,
    )
    answer = cluster.call(
        cluster.controller,
        request,
        CreateTopicsResponse,
        codes=lambda response: [each.error_code for each in response.topics],
    )
    return {
        each.name: _refusal(each.error_code, each.name, each.error_message)
        or CreatedTopic(each.name, each.topic_id, each.num_partitions, each.replication_factor)
        for each in answer.topics
    }


def describe_topics(cluster: Cluster, names: Iterable[str]) -> dict[str, Topic | Refused]:
    answer = cluster.metadata(names)
    return {
        each.name or "": _refusal(each.error_code, each.name or "", None) or topic_of(each)
        for each in answer.topics
    }


def describe_places(cluster: Cluster, names: Iterable[str]) -> dict[str, TopicInStream]:
    """Where topics are in Iggy's streams. Those are missing that are in none, and all of another broker's."""
    places: dict[str, TopicInStream] = {}
    for name in names:
        # One partition of it: its place is told with the first page.
        request = DescribeTopicPartitionsRequest(topics=[TopicRequest(name=name)], response_partition_limit=1)
        try:
            answer = cluster.call(cluster.anyone, request, DescribeTopicPartitionsResponse)
        except Unsupported:
            return {}
        for each in answer.topics:
            place = from_tags(each.unknown_tags)
            if place is not None:
                places[name] = place
    return places


def add_partitions(
    cluster: Cluster, totals: Mapping[str, int], *, validate_only: bool = False
) -> dict[str, Refused | None]:
    """Give each topic so many partitions in total; None is done."""
    request = CreatePartitionsRequest(
        topics=[
            CreatePartitionsTopic(name=name, count=count, assignments=None) for name, count in totals.items()
        ],
        timeout_ms=_timeout_ms(cluster),
        validate_only=validate_only,
    )
    answer = cluster.call(
        cluster.controller,
        request,
        CreatePartitionsResponse,
        codes=lambda response: [each.error_code for each in response.results],
    )
    cluster.forget_leaders(totals)
    return {each.name: _refusal(each.error_code, each.name, each.error_message) for each in answer.results}


def delete_topics(cluster: Cluster, names: Sequence[str]) -> dict[str, Refused | None]:
    """Delete topics with all their records; None is done."""
    request = DeleteTopicsRequest(
        topics=[DeleteTopicState(name=name, topic_id=ZERO_UUID) for name in names],
        timeout_ms=_timeout_ms(cluster),
    )
    answer = cluster.call(
        cluster.controller,
        request,
        DeleteTopicsResponse,
        codes=lambda response: [each.error_code for each in response.responses],
    )
    cluster.forget_leaders(names)
    return {
        each.name or "": _refusal(each.error_code, each.name or "", each.error_message)
        for each in answer.responses
    }


def _refusal(code: int, name: str, detail: str | None) -> Refused | None:
    known = ErrorCode.of(code)
    return None if known is ErrorCode.NONE else Refused(known, f"topic {name}", detail)


def _timeout_ms(cluster: Cluster) -> int:
    return int(cluster.timeout_s * 1000)
