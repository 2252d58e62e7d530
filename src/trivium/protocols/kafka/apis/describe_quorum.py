"""DescribeQuorum (key 55): who keeps the metadata log.

Served: 0-2. In a cluster of one the quorum is this broker. It has no listener for controllers to tell of.
"""

from itertools import groupby

from trivium.core.commands.cluster import DescribedQuorum, DescribeQuorum
from trivium.core.faults import Fault
from trivium.messages.api import ApiKey
from trivium.messages.api.describe_quorum import (
    DescribeQuorumRequest,
    DescribeQuorumResponse,
    DescribeQuorumResponsePartitionData,
    DescribeQuorumResponseTopicData,
    Node,
    ReplicaState,
)
from trivium.messages.errors import ErrorCode
from trivium.protocols.kafka.api import Api, Call
from trivium.protocols.kafka.faults import code_of


def to_command(request: DescribeQuorumRequest, call: Call) -> DescribeQuorum:
    return DescribeQuorum(
        [
            (topic.topic_name, partition.partition_index)
            for topic in request.topics
            for partition in topic.partitions
        ]
    )


def to_response(results: list[DescribedQuorum], call: Call) -> DescribeQuorumResponse:
    if any(result.fault is Fault.NOT_AUTHORIZED_CLUSTER for result in results):
        return DescribeQuorumResponse(error_code=ErrorCode.CLUSTER_AUTHORIZATION_FAILED, topics=[])
    voters = sorted({voter.node_id for result in results for voter in result.voters})
    return DescribeQuorumResponse(
        error_code=ErrorCode.NONE,
        topics=[
            DescribeQuorumResponseTopicData(topic_name=topic, partitions=[_partition(part) for part in parts])
            for topic, parts in groupby(results, key=lambda result: result.topic)
        ],
        nodes=[Node(node_id=node_id, listeners=[]) for node_id in voters] if call.version >= 2 else [],
    )


def _partition(result: DescribedQuorum) -> DescribeQuorumResponsePartitionData:
    return DescribeQuorumResponsePartitionData(
        partition_index=result.partition,
        error_code=code_of(result.fault),
        error_message=result.message or "",
        leader_id=result.leader_id,
        leader_epoch=result.leader_epoch,
        high_watermark=result.high_watermark,
        current_voters=[
            ReplicaState(
                replica_id=voter.node_id,
                log_end_offset=voter.offset_end,
                last_fetch_timestamp=voter.seen_ms,
                last_caught_up_timestamp=voter.seen_ms,
            )
            for voter in result.voters
        ],
        observers=[],
    )


API = Api(ApiKey.DESCRIBE_QUORUM, 0, 2, to_command, to_response)
