"""ElectLeaders (key 43): elect leaders, preferred or unclean.

Served: 0-2. Version 0 knows preferred leaders only. Null asks for all partitions.
"""

from itertools import groupby
from typing import Final

from trivium.core.commands.placement import Elected, ElectLeaders, PlacedPart
from trivium.core.faults import Fault
from trivium.messages.api import ApiKey
from trivium.messages.api.elect_leaders import (
    ElectLeadersRequest,
    ElectLeadersResponse,
    PartitionResult,
    ReplicaElectionResult,
)
from trivium.protocols.kafka.api import Api, Call
from trivium.protocols.kafka.faults import code_of

_PREFERRED: Final = 0
_UNCLEAN: Final = 1


def to_command(request: ElectLeadersRequest, call: Call) -> ElectLeaders | ElectLeadersResponse:
    parts = None
    if request.topic_partitions is not None:
        parts = [(topic.topic, index) for topic in request.topic_partitions for index in topic.partitions]
    command = ElectLeaders(parts, unclean=request.election_type == _UNCLEAN)
    if request.election_type not in (_PREFERRED, _UNCLEAN):
        sentence = f"Unknown election type {request.election_type}"
        return to_response(command.refused(Fault.INVALID_REQUEST, sentence), call)
    return command


def to_response(result: Elected, call: Call) -> ElectLeadersResponse:
    by_topic: dict[str, list[PlacedPart]] = {topic: [] for topic in result.topics}
    for topic, parts in groupby(result.parts, key=lambda part: part.topic):
        by_topic.setdefault(topic, []).extend(parts)
    return ElectLeadersResponse(
        throttle_time_ms=0,
        error_code=code_of(result.fault) if call.version >= 1 else 0,
        replica_election_results=[
            ReplicaElectionResult(
                topic=topic,
                partition_result=[
                    PartitionResult(
                        partition_id=part.partition,
                        error_code=code_of(part.fault),
                        error_message=part.message,
                    )
                    for part in parts
                ],
            )
            for topic, parts in by_topic.items()
        ],
    )


API = Api(ApiKey.ELECT_LEADERS, 0, 2, to_command, to_response)
