"""Heartbeat (key 12): a member of a classic group says that it lives.

Served: 0-4.
3   static members: group_instance_id (KIP-345)
4   flexible
"""

from trivium.core.commands.groups import Heartbeat
from trivium.core.faults import Fault
from trivium.messages.api import ApiKey
from trivium.messages.api.heartbeat import HeartbeatRequest, HeartbeatResponse
from trivium.protocols.kafka.api import Api, Call
from trivium.protocols.kafka.faults import code_of


def to_command(request: HeartbeatRequest, call: Call) -> Heartbeat:
    return Heartbeat(
        group_id=request.group_id,
        member_id=request.member_id,
        instance_id=request.group_instance_id,
        generation=request.generation_id,
    )


def to_response(fault: Fault | None, call: Call) -> HeartbeatResponse:
    return HeartbeatResponse(error_code=code_of(fault))


API = Api(ApiKey.HEARTBEAT, 0, 4, to_command, to_response)
