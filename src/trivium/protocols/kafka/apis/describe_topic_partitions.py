"""DescribeTopicPartitions (key 75): topics and their partitions, page by page (mission 001.13-001.33).

Served: 0. An empty list asks for all topics. Where streams are used, a tagged field of ours says where each
topic is in them (``messages.topic_in_stream``).
"""

from trivium.core.commands.topics import Cursor, DescribedTopic, DescribeTopicsPage, TopicsPage
from trivium.core.metadata_topics import NO_LEADER
from trivium.messages.api import ApiKey
from trivium.messages.api.describe_topic_partitions import Cursor as WireCursor
from trivium.messages.api.describe_topic_partitions import (
    DescribeTopicPartitionsRequest,
    DescribeTopicPartitionsResponse,
    DescribeTopicPartitionsResponsePartition,
    DescribeTopicPartitionsResponseTopic,
)
from trivium.messages.errors import ErrorCode
from trivium.messages.topic_in_stream import TopicInStream, to_tags
from trivium.protocols.kafka.api import Api, Call
from trivium.protocols.kafka.faults import code_of
from trivium.protocols.kafka.operations import bits_of


def to_command(request: DescribeTopicPartitionsRequest, call: Call) -> DescribeTopicsPage:
    cursor = request.cursor
    return DescribeTopicsPage(
        [topic.name for topic in request.topics] or None,
        request.response_partition_limit,
        None if cursor is None else Cursor(cursor.topic_name, cursor.partition_index),
    )


def to_response(page: TopicsPage, call: Call) -> DescribeTopicPartitionsResponse:
    cursor = page.cursor_next
    return DescribeTopicPartitionsResponse(
        throttle_time_ms=0,
        topics=[_topic(topic) for topic in page.topics],
        next_cursor=None
        if cursor is None
        else WireCursor(topic_name=cursor.topic, partition_index=cursor.partition),
    )


def _topic(topic: DescribedTopic) -> DescribeTopicPartitionsResponseTopic:
    assert isinstance(topic.topic, str), "this API knows topics by name only"
    described = DescribeTopicPartitionsResponseTopic(
        error_code=code_of(topic.fault),
        name=topic.topic,
        topic_id=topic.topic_id,
        is_internal=topic.is_internal,
        partitions=[
            DescribeTopicPartitionsResponsePartition(
                error_code=ErrorCode.LEADER_NOT_AVAILABLE if index in topic.offline else ErrorCode.NONE,
                partition_index=index,
                leader_id=NO_LEADER if index in topic.offline else partition.leader,
                leader_epoch=partition.leader_epoch,
                replica_nodes=list(partition.replicas),
                isr_nodes=list(partition.isr),
                eligible_leader_replicas=list(partition.eligible_leader_replicas),
                last_known_elr=list(partition.last_known_elr),
                offline_replicas=list(partition.replicas) if index in topic.offline else [],
            )
            for index, partition in sorted(topic.partitions.items())
        ],
        topic_authorized_operations=bits_of(topic.operations),
    )
    if topic.place is not None:
        described.unknown_tags = to_tags(TopicInStream(**topic.place._asdict()))
    return described


API = Api(ApiKey.DESCRIBE_TOPIC_PARTITIONS, 0, 0, to_command, to_response)
