"""Metadata (key 3): brokers, topics, partitions and who leads them.

Served: 0-13. In version 0 an empty list asks for all topics, later null does and an empty list asks for none.
Topics are asked for by id from version 12 on; the two versions before have room for ids and no use for them.
"""

from typing import Final

from trivium.core.commands.command import TopicRef
from trivium.core.commands.topics import DescribedTopic, DescribedTopics, DescribeTopics
from trivium.core.metadata_topics import NO_LEADER
from trivium.messages.api import ApiKey
from trivium.messages.api.metadata import (
    MetadataRequest,
    MetadataRequestTopic,
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)
from trivium.messages.errors import ErrorCode
from trivium.protocols.kafka.api import Api, Call
from trivium.protocols.kafka.faults import code_of
from trivium.protocols.kafka.operations import bits_of
from trivium.wire.uuid_text import ZERO_UUID

_BY_ID_SINCE: Final = 12


def to_command(request: MetadataRequest, call: Call) -> DescribeTopics | MetadataResponse:
    wanted: list[TopicRef] | None = None
    if request.topics is not None and not (call.version == 0 and not request.topics):
        if call.version < _BY_ID_SINCE and any(map(_has_id, request.topics)):
            return _refused(request.topics)
        # Whoever names one topic by its id names all of them so: names beside ids are not looked at.
        by_id = any(map(_has_id, request.topics))
        wanted = [
            topic.topic_id if topic.name is None or by_id else topic.name
            for topic in request.topics
            if not by_id or topic.topic_id != ZERO_UUID or topic.name is None
        ]
    return DescribeTopics(
        wanted,
        may_create=request.allow_auto_topic_creation,
        with_operations=request.include_topic_authorized_operations,
        with_cluster_operations=request.include_cluster_authorized_operations,
    )


def _has_id(topic: MetadataRequestTopic) -> bool:
    return topic.name is None or topic.topic_id != ZERO_UUID


def _refused(topics: list[MetadataRequestTopic]) -> MetadataResponse:
    return MetadataResponse(
        brokers=[],
        topics=[
            MetadataResponseTopic(
                error_code=ErrorCode.INVALID_REQUEST,
                name=topic.name or "",
                topic_id=topic.topic_id,
                partitions=[],
            )
            for topic in topics
        ],
    )


def to_response(result: DescribedTopics, call: Call) -> MetadataResponse:
    brokers = []
    for node in result.nodes:
        host, port = call.endpoint(node)
        brokers.append(MetadataResponseBroker(node_id=node.node_id, host=host, port=port, rack=node.rack))
    return MetadataResponse(
        brokers=brokers,
        cluster_id=result.cluster_id,
        controller_id=result.controller_id,
        topics=[_topic(topic) for topic in result.topics],
        cluster_authorized_operations=bits_of(result.cluster_operations),
    )


def _topic(topic: DescribedTopic) -> MetadataResponseTopic:
    asked = topic.topic
    return MetadataResponseTopic(
        error_code=code_of(topic.fault),
        name=asked if isinstance(asked, str) else topic.name,
        topic_id=asked if isinstance(asked, bytes) else topic.topic_id,
        is_internal=topic.is_internal,
        partitions=[
            MetadataResponsePartition(
                error_code=ErrorCode.LEADER_NOT_AVAILABLE if index in topic.offline else ErrorCode.NONE,
                partition_index=index,
                leader_id=NO_LEADER if index in topic.offline else partition.leader,
                leader_epoch=partition.leader_epoch,
                replica_nodes=list(partition.replicas),
                isr_nodes=list(partition.isr),
                offline_replicas=list(partition.replicas) if index in topic.offline else [],
            )
            for index, partition in sorted(topic.partitions.items())
        ],
        topic_authorized_operations=bits_of(topic.operations),
    )


API = Api(ApiKey.METADATA, 0, 13, to_command, to_response)
