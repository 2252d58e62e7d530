"""ShareGroupHeartbeat (key 76): join, live in and leave a share group (KIP-932).

Served: 1.
"""

from trivium.core.commands.share_groups import ShareBeat, ShareHeartbeat
from trivium.messages.api import ApiKey
from trivium.messages.api.share_group_heartbeat import (
    Assignment,
    ShareGroupHeartbeatRequest,
    ShareGroupHeartbeatResponse,
    TopicPartitions,
)
from trivium.protocols.kafka.api import Api, Call
from trivium.protocols.kafka.faults import code_of


def to_command(request: ShareGroupHeartbeatRequest, call: Call) -> ShareHeartbeat:
    return ShareHeartbeat(
        group_id=request.group_id,
        member_id=request.member_id,
        member_epoch=request.member_epoch,
        rack_id=request.rack_id,
        topic_names=request.subscribed_topic_names,
    )


def to_response(beat: ShareBeat, call: Call) -> ShareGroupHeartbeatResponse:
    return ShareGroupHeartbeatResponse(
        throttle_time_ms=0,
        error_code=code_of(beat.fault),
        error_message=beat.message,
        member_id=beat.member_id,
        member_epoch=beat.member_epoch,
        heartbeat_interval_ms=beat.heartbeat_interval_ms,
        assignment=None
        if beat.assignment is None
        else Assignment(
            topic_partitions=[
                TopicPartitions(topic_id=topic_id, partitions=list(numbers))
                for topic_id, numbers in beat.assignment.items()
            ]
        ),
    )


API = Api(ApiKey.SHARE_GROUP_HEARTBEAT, 1, 1, to_command, to_response)
