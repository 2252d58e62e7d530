"""DescribeGroups (key 15): state and members of classic groups.

Served: 0-6.
3   what the client may do with the group (KIP-430)
4   static members: group_instance_id (KIP-345)
5   flexible
6   a group that is not there is an error, with a message; before, it is dead (KIP-1043)
"""

from typing import Final

from trivium.core.commands.groups import DescribedGroup as Described
from trivium.core.commands.groups import DescribeGroups
from trivium.core.faults import Fault
from trivium.messages.api import ApiKey
from trivium.messages.api.describe_groups import (
    DescribedGroup,
    DescribedGroupMember,
    DescribeGroupsRequest,
    DescribeGroupsResponse,
)
from trivium.protocols.kafka.api import Api, Call
from trivium.protocols.kafka.faults import code_of
from trivium.protocols.kafka.operations import bits_of

_NOT_FOUND_SINCE: Final = 6


def to_command(request: DescribeGroupsRequest, call: Call) -> DescribeGroups:
    return DescribeGroups(request.groups, request.include_authorized_operations)


def to_response(results: list[Described], call: Call) -> DescribeGroupsResponse:
    return DescribeGroupsResponse(groups=[_group(result, call.version) for result in results])


def _group(group: Described, version: int) -> DescribedGroup:
    fault, message, operations = group.fault, group.message, group.operations
    if version < _NOT_FOUND_SINCE:
        message = None
        if fault is Fault.GROUP_ID_NOT_FOUND:
            fault = None
    elif fault is not None:
        operations = None
    return DescribedGroup(
        error_code=code_of(fault),
        error_message=message,
        group_id=group.group_id,
        group_state=group.state,
        protocol_type=group.protocol_type,
        protocol_data=group.protocol_name,
        members=[
            DescribedGroupMember(
                member_id=member.member_id,
                group_instance_id=member.instance_id,
                client_id=member.client_id,
                client_host=member.client_host,
                member_metadata=member.metadata,
                member_assignment=member.assignment,
            )
            for member in group.members
        ],
        authorized_operations=bits_of(operations),
    )


API = Api(ApiKey.DESCRIBE_GROUPS, 0, 6, to_command, to_response)
