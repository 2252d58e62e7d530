"""SyncGroup (key 14): the leader hands out assignments, everybody fetches its own.

Served: 0-5.
3   static members: group_instance_id (KIP-345)
4   flexible
5   both sides name the protocol; saying nothing or something else is an error (KIP-559)
"""

from typing import Final

from trivium.core.commands.groups import Synced, SyncGroup
from trivium.core.faults import Fault
from trivium.messages.api import ApiKey
from trivium.messages.api.sync_group import SyncGroupRequest, SyncGroupResponse
from trivium.protocols.kafka.api import Api, Call
from trivium.protocols.kafka.faults import code_of

_PROTOCOL_SINCE: Final = 5


def to_command(request: SyncGroupRequest, call: Call) -> SyncGroup | SyncGroupResponse:
    if call.version >= _PROTOCOL_SINCE and None in (request.protocol_type, request.protocol_name):
        return to_response(Synced(Fault.INCONSISTENT_GROUP_PROTOCOL), call)
    return SyncGroup(
        group_id=request.group_id,
        member_id=request.member_id,
        instance_id=request.group_instance_id,
        generation=request.generation_id,
        protocol_type=request.protocol_type,
        protocol_name=request.protocol_name,
        assignments=[(each.member_id, each.assignment) for each in request.assignments],
    )


def to_response(result: Synced, call: Call) -> SyncGroupResponse:
    return SyncGroupResponse(
        error_code=code_of(result.fault),
        protocol_type=result.protocol_type,
        protocol_name=result.protocol_name,
        assignment=result.assignment,
    )


API = Api(ApiKey.SYNC_GROUP, 0, 5, to_command, to_response)
