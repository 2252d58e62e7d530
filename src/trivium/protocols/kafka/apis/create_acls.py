"""CreateAcls (key 30): add access control entries.

Served: 0-3. Version 0 knows literal patterns only.
"""

from trivium.core.commands.acls import CreateAcls, CreatedAcl, NewAcl
from trivium.messages.api import ApiKey
from trivium.messages.api.create_acls import AclCreationResult, CreateAclsRequest, CreateAclsResponse
from trivium.protocols.kafka.api import Api, Call
from trivium.protocols.kafka.faults import code_of


def to_command(request: CreateAclsRequest, call: Call) -> CreateAcls:
    return CreateAcls(
        [
            NewAcl(
                each.resource_type,
                each.resource_name,
                each.resource_pattern_type,
                each.principal,
                each.host,
                each.operation,
                each.permission_type,
            )
            for each in request.creations
        ]
    )


def to_response(results: list[CreatedAcl], call: Call) -> CreateAclsResponse:
    return CreateAclsResponse(
        throttle_time_ms=0,
        results=[
            AclCreationResult(error_code=code_of(result.fault), error_message=result.message)
            for result in results
        ],
    )


API = Api(ApiKey.CREATE_ACLS, 0, 3, to_command, to_response)
