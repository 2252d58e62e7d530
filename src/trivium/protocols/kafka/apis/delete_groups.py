"""DeleteGroups (key 42): forget groups without members, and all their offsets.

Served: 0-2.
2   flexible
"""

from trivium.core.commands.groups import DeletedGroup, DeleteGroups
from trivium.messages.api import ApiKey
from trivium.messages.api.delete_groups import (
    DeletableGroupResult,
    DeleteGroupsRequest,
    DeleteGroupsResponse,
)
from trivium.protocols.kafka.api import Api, Call
from trivium.protocols.kafka.faults import code_of


def to_command(request: DeleteGroupsRequest, call: Call) -> DeleteGroups:
    return DeleteGroups(request.groups_names)


def to_response(results: list[DeletedGroup], call: Call) -> DeleteGroupsResponse:
    return DeleteGroupsResponse(
        throttle_time_ms=0,
        results=[
            DeletableGroupResult(group_id=result.group_id, error_code=code_of(result.fault))
            for result in results
        ],
    )


API = Api(ApiKey.DELETE_GROUPS, 0, 2, to_command, to_response)
