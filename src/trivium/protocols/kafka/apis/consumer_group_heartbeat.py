"""ConsumerGroupHeartbeat (key 68): join, live in and leave a consumer group (KIP-848).

Served: 0-1.
1   subscriptions by regular expression; members choose their own id (KIP-1082)
"""

from typing import Final

from trivium.core.commands.consumer_groups import ConsumerBeat, ConsumerHeartbeat, Partitions
from trivium.messages.api import ApiKey
from trivium.messages.api.consumer_group_heartbeat import (
    Assignment,
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
    TopicPartitions,
)
from trivium.protocols.kafka.api import Api, Call
from trivium.protocols.kafka.faults import code_of

_OWN_ID_SINCE: Final = 1
_NOT_GIVEN: Final = -1


def to_command(request: ConsumerGroupHeartbeatRequest, call: Call) -> ConsumerHeartbeat:
    timeout_ms = request.rebalance_timeout_ms
    return ConsumerHeartbeat(
        group_id=request.group_id,
        member_id=request.member_id,
        member_epoch=request.member_epoch,
        instance_id=request.instance_id,
        rack_id=request.rack_id,
        rebalance_timeout_ms=None if timeout_ms == _NOT_GIVEN else timeout_ms,
        topic_names=request.subscribed_topic_names,
        topic_regex=request.subscribed_topic_regex,
        assignor=request.server_assignor,
        owned=None if request.topic_partitions is None else _owned(request.topic_partitions),
        names_itself=call.version >= _OWN_ID_SINCE,
    )


def _owned(topics: list[TopicPartitions]) -> Partitions:
    """A topic that is named twice counts with both."""
    owned: dict[bytes, list[int]] = {}
    for topic in topics:
        owned.setdefault(topic.topic_id, []).extend(topic.partitions)
    return owned


def to_response(beat: ConsumerBeat, call: Call) -> ConsumerGroupHeartbeatResponse:
    return ConsumerGroupHeartbeatResponse(
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


API = Api(ApiKey.CONSUMER_GROUP_HEARTBEAT, 0, 1, to_command, to_response)
