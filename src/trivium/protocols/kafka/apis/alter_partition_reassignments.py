"""AlterPartitionReassignments (key 45): move partitions to other brokers, or stop doing so.

Served: 0-1. Version 1 may forbid that a partition gets more or fewer replicas.
"""

from itertools import groupby

from trivium.core.commands.placement import Reassigned, Reassignment, ReassignPartitions
from trivium.messages.api import ApiKey
from trivium.messages.api.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    AlterPartitionReassignmentsResponse,
    ReassignablePartitionResponse,
    ReassignableTopicResponse,
)
from trivium.protocols.kafka.api import Api, Call
from trivium.protocols.kafka.faults import code_of


def to_command(request: AlterPartitionReassignmentsRequest, call: Call) -> ReassignPartitions:
    return ReassignPartitions(
        [
            Reassignment(topic.name, partition.partition_index, partition.replicas)
            for topic in request.topics
            for partition in topic.partitions
        ],
        may_change_count=request.allow_replication_factor_change,
    )


def to_response(result: Reassigned, call: Call) -> AlterPartitionReassignmentsResponse:
    request: AlterPartitionReassignmentsRequest = call.request
    return AlterPartitionReassignmentsResponse(
        throttle_time_ms=0,
        allow_replication_factor_change=request.allow_replication_factor_change,
        error_code=code_of(result.fault),
        error_message=result.message,
        responses=[
            ReassignableTopicResponse(
                name=topic,
                partitions=[
                    ReassignablePartitionResponse(
                        partition_index=part.partition,
                        error_code=code_of(part.fault),
                        error_message=part.message,
                    )
                    for part in parts
                ],
            )
            for topic, parts in groupby(result.parts, key=lambda part: part.topic)
        ],
    )


API = Api(ApiKey.ALTER_PARTITION_REASSIGNMENTS, 0, 1, to_command, to_response)
