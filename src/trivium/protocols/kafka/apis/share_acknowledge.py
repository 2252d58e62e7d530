"""ShareAcknowledge (key 79): accept, release or reject acquired records (KIP-932).

Served: 1-2.
2   renewal of locks; the answer says how long they are (KIP-1222)
"""

from typing import Final

from trivium.core.commands.share_groups_reading import (
    Acknowledged,
    AcknowledgedPart,
    ShareAcknowledge,
    ShareAcknowledged,
)
from trivium.core.faults import Fault
from trivium.messages.api import ApiKey
from trivium.messages.api.share_acknowledge import (
    LeaderIdAndEpoch,
    PartitionData,
    ShareAcknowledgeRequest,
    ShareAcknowledgeResponse,
    ShareAcknowledgeTopicResponse,
)
from trivium.protocols.kafka.api import Api, Call
from trivium.protocols.kafka.faults import code_of

_RENEWAL_SINCE: Final = 2
_AS_BEFORE: Final = LeaderIdAndEpoch(leader_id=0, leader_epoch=0)
_UNSAID: Final = LeaderIdAndEpoch(leader_id=-1, leader_epoch=-1)
"""As in answers to ShareFetch."""


def to_command(request: ShareAcknowledgeRequest, call: Call) -> ShareAcknowledge | ShareAcknowledgeResponse:
    if request.group_id is None or request.member_id is None:
        return to_response(ShareAcknowledged(Fault.INVALID_REQUEST, "A group and a member are needed."), call)
    return ShareAcknowledge(
        group_id=request.group_id,
        member_id=request.member_id,
        session_epoch=request.share_session_epoch,
        parts=[
            AcknowledgedPart(
                (topic.topic_id, part.partition_index),
                [
                    Acknowledged(each.first_offset, each.last_offset, each.acknowledge_types)
                    for each in part.acknowledgement_batches
                ],
            )
            for topic in request.topics
            for part in topic.partitions
        ],
        renews=request.is_renew_ack,
        can_renew=call.version >= _RENEWAL_SINCE,
    )


def to_response(result: ShareAcknowledged, call: Call) -> ShareAcknowledgeResponse:
    by_topic: dict[bytes, list[PartitionData]] = {}
    for outcome in result.parts:
        topic_id, number = outcome.part
        by_topic.setdefault(topic_id, []).append(
            PartitionData(
                partition_index=number,
                error_code=code_of(outcome.fault),
                error_message=outcome.message,
                current_leader=_AS_BEFORE if outcome.fault is None else _UNSAID,
            )
        )
    return ShareAcknowledgeResponse(
        throttle_time_ms=0,
        error_code=code_of(result.fault),
        error_message=result.message,
        acquisition_lock_timeout_ms=result.lock_timeout_ms,
        responses=[
            ShareAcknowledgeTopicResponse(topic_id=topic_id, partitions=parts)
            for topic_id, parts in by_topic.items()
        ],
        node_endpoints=[],
    )


API = Api(ApiKey.SHARE_ACKNOWLEDGE, 1, 2, to_command, to_response)
