"""DescribeAcls (key 29): access control entries, by what they are about.

Served: 0-3. Version 0 knows literal patterns only, and is told of no others.
"""

from itertools import groupby

from trivium.core.acls.entry import AccessControlEntry, PatternType, ResourceType
from trivium.core.acls.filter import AclFilter
from trivium.core.commands.acls import DescribeAcls, DescribedAcls
from trivium.messages.api import ApiKey
from trivium.messages.api.describe_acls import (
    AclDescription,
    DescribeAclsRequest,
    DescribeAclsResource,
    DescribeAclsResponse,
)
from trivium.protocols.kafka.api import Api, Call
from trivium.protocols.kafka.faults import code_of


def to_command(request: DescribeAclsRequest, call: Call) -> DescribeAcls:
    return DescribeAcls(
        AclFilter(
            request.resource_type_filter,
            request.resource_name_filter,
            request.pattern_type_filter,
            request.principal_filter,
            request.host_filter,
            request.operation,
            request.permission_type,
        )
    )


def to_response(result: DescribedAcls, call: Call) -> DescribeAclsResponse:
    return DescribeAclsResponse(
        throttle_time_ms=0,
        error_code=code_of(result.fault),
        error_message=result.message,
        resources=[
            DescribeAclsResource(
                resource_type=kind,
                resource_name=name,
                pattern_type=pattern,
                acls=[
                    AclDescription(
                        principal=entry.principal,
                        host=entry.host,
                        operation=entry.operation,
                        permission_type=entry.permission,
                    )
                    for entry in entries
                ],
            )
            for (kind, name, pattern), entries in groupby(result.entries, _resource)
        ],
    )


def _resource(entry: AccessControlEntry) -> tuple[ResourceType, str, PatternType]:
    return entry.resource_type, entry.resource_name, entry.pattern_type


API = Api(ApiKey.DESCRIBE_ACLS, 0, 3, to_command, to_response)
