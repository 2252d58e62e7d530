"""ListGroups (key 16): what groups there are.

Served: 0-5.
3   flexible
4   states: asked for and answered (KIP-518)
5   types: asked for and answered (KIP-848)
"""

from trivium.core.commands.groups import ListedGroups, ListGroups
from trivium.messages.api import ApiKey
from trivium.messages.api.list_groups import ListedGroup, ListGroupsRequest, ListGroupsResponse
from trivium.protocols.kafka.api import Api, Call
from trivium.protocols.kafka.faults import code_of


def to_command(request: ListGroupsRequest, call: Call) -> ListGroups:
    return ListGroups(request.states_filter, request.types_filter)


def to_response(result: ListedGroups, call: Call) -> ListGroupsResponse:
    return ListGroupsResponse(
        error_code=code_of(result.fault),
        groups=[
            ListedGroup(
                group_id=group.group_id,
                protocol_type=group.protocol_type,
                group_state=group.state,
                group_type=group.type,
            )
            for group in result.groups
        ],
    )


API = Api(ApiKey.LIST_GROUPS, 0, 5, to_command, to_response)
