"""DeleteAcls (key 31): remove access control entries, and tell which they were.

Served: 0-3. Version 0 knows literal patterns only.
"""

from trivium.core.acls.filter import AclFilter
from trivium.core.commands.acls import DeleteAcls, DeletedAcls
from trivium.messages.api import ApiKey
from trivium.messages.api.delete_acls import (
    DeleteAclsFilterResult,
    DeleteAclsMatchingAcl,
    DeleteAclsRequest,
    DeleteAclsResponse,
)
from trivium.messages.errors import ErrorCode
from trivium.protocols.kafka.api import Api, Call
from trivium.protocols.kafka.faults import code_of


def to_command(request: DeleteAclsRequest, call: Call) -> DeleteAcls:
    return DeleteAcls(
        [
            AclFilter(
                each.resource_type_filter,
                each.resource_name_filter,
                each.pattern_type_filter,
                each.principal_filter,
                each.host_filter,
                each.operation,
                each.permission_type,
            )
            for each in request.filters
        ]
    )


def to_response(results: list[DeletedAcls], call: Call) -> DeleteAclsResponse:
    return DeleteAclsResponse(
        throttle_time_ms=0,
        filter_results=[
            DeleteAclsFilterResult(
                error_code=code_of(result.fault),
                error_message=result.message,
                matching_acls=[
                    DeleteAclsMatchingAcl(
                        error_code=ErrorCode.NONE,
                        error_message=None,
                        resource_type=entry.resource_type,
                        resource_name=entry.resource_name,
                        pattern_type=entry.pattern_type,
                        principal=entry.principal,
                        host=entry.host,
                        operation=entry.operation,
                        permission_type=entry.permission,
                    )
                    for entry in result.entries
                ],
            )
            for result in results
        ],
    )


API = Api(ApiKey.DELETE_ACLS, 0, 3, to_command, to_response)
