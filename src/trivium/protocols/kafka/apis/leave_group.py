"""LeaveGroup (key 13): members leave a classic group.

Served: 0-5.
3   several members in one request, each with its own error; static ones by instance id alone (KIP-345)
4   flexible
5   a reason, for people (KIP-800)
"""

from typing import Final

from trivium.core.commands.groups import LeaveGroup, Leaver, Left
from trivium.messages.api import ApiKey
from trivium.messages.api.leave_group import LeaveGroupRequest, LeaveGroupResponse, MemberResponse
from trivium.protocols.kafka.api import Api, Call
from trivium.protocols.kafka.faults import code_of

_SEVERAL_SINCE: Final = 3


def to_command(request: LeaveGroupRequest, call: Call) -> LeaveGroup:
    if call.version < _SEVERAL_SINCE:
        return LeaveGroup(request.group_id, [Leaver(request.member_id)])
    return LeaveGroup(
        request.group_id,
        [Leaver(member.member_id, member.group_instance_id) for member in request.members],
    )


def to_response(result: Left, call: Call) -> LeaveGroupResponse:
    if call.version < _SEVERAL_SINCE:
        fault = result.fault or result.members[0].fault
        return LeaveGroupResponse(error_code=code_of(fault))
    return LeaveGroupResponse(
        error_code=code_of(result.fault),
        members=[
            MemberResponse(
                member_id=member.member_id,
                group_instance_id=member.instance_id,
                error_code=code_of(member.fault),
            )
            for member in result.members
        ],
    )


API = Api(ApiKey.LEAVE_GROUP, 0, 5, to_command, to_response)
