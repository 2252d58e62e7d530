"""ListPartitionReassignments (key 46): partitions that are being moved to other brokers. Served: 0."""

from itertools import groupby

from trivium.core.commands.placement import ListedReassignments, ListReassignments
from trivium.messages.api import ApiKey
from trivium.messages.api.list_partition_reassignments import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsResponse,
    OngoingPartitionReassignment,
    OngoingTopicReassignment,
)
from trivium.protocols.kafka.api import Api, Call
from trivium.protocols.kafka.faults import code_of


def to_command(request: ListPartitionReassignmentsRequest, call: Call) -> ListReassignments:
    if request.topics is None:
        return ListReassignments(None)
    return ListReassignments(
        [(topic.name, index) for topic in request.topics for index in topic.partition_indexes]
    )


def to_response(result: ListedReassignments, call: Call) -> ListPartitionReassignmentsResponse:
    return ListPartitionReassignmentsResponse(
        throttle_time_ms=0,
        error_code=code_of(result.fault),
        error_message=result.message,
        topics=[
            OngoingTopicReassignment(
                name=topic,
                partitions=[
                    OngoingPartitionReassignment(
                        partition_index=part.partition,
                        replicas=list(part.replicas),
                        adding_replicas=list(part.adding),
                        removing_replicas=list(part.removing),
                    )
                    for part in parts
                ],
            )
            for topic, parts in groupby(result.parts, key=lambda part: part.topic)
        ],
    )


API = Api(ApiKey.LIST_PARTITION_REASSIGNMENTS, 0, 0, to_command, to_response)
