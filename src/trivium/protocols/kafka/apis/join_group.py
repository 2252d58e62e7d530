"""JoinGroup (key 11): become a member of a classic group, or stay one (mission 003.27).

Served: 0-9.
0   the session timeout is also the time that a rebalance may take
1   rebalance_timeout_ms
4   a newcomer is told its id and joins again with it (KIP-394)
5   static members: group_instance_id (KIP-345)
6   flexible
7   the answer names the protocol type; the protocol may be null (KIP-559)
8   a reason, for people (KIP-800)
9   a returning leader may be told that nothing is to be assigned (KIP-814)
"""

from typing import Final

from trivium.core.commands.groups import Joined, JoinGroup, Protocol
from trivium.messages.api import ApiKey
from trivium.messages.api.join_group import JoinGroupRequest, JoinGroupResponse, JoinGroupResponseMember
from trivium.protocols.kafka.api import Api, Call
from trivium.protocols.kafka.faults import code_of

_REBALANCE_TIMEOUT_SINCE: Final = 1
_MEMBER_ID_SINCE: Final = 4
_NULL_PROTOCOL_SINCE: Final = 7
_SKIP_ASSIGNMENT_SINCE: Final = 9


def to_command(request: JoinGroupRequest, call: Call) -> JoinGroup:
    return JoinGroup(
        group_id=request.group_id,
        member_id=request.member_id,
        instance_id=request.group_instance_id,
        session_timeout_ms=request.session_timeout_ms,
        rebalance_timeout_ms=request.rebalance_timeout_ms
        if call.version >= _REBALANCE_TIMEOUT_SINCE
        else request.session_timeout_ms,
        protocol_type=request.protocol_type,
        protocols=[Protocol(protocol.name, protocol.metadata) for protocol in request.protocols],
        wants_member_id=call.version >= _MEMBER_ID_SINCE,
        can_skip_assignment=call.version >= _SKIP_ASSIGNMENT_SINCE,
    )


def to_response(result: Joined, call: Call) -> JoinGroupResponse:
    name = result.protocol_name
    return JoinGroupResponse(
        error_code=code_of(result.fault),
        generation_id=result.generation,
        protocol_type=result.protocol_type,
        protocol_name="" if name is None and call.version < _NULL_PROTOCOL_SINCE else name,
        leader=result.leader,
        skip_assignment=result.skip_assignment,
        member_id=result.member_id,
        members=[
            JoinGroupResponseMember(
                member_id=member.member_id, group_instance_id=member.instance_id, metadata=member.metadata
            )
            for member in result.members
        ],
    )


API = Api(ApiKey.JOIN_GROUP, 0, 9, to_command, to_response)
