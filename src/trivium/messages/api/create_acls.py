"""CreateAcls (key 30): add access rules.

0   first version
1   request gains resource_pattern_type (KIP-290)
2   flexible
3   same bytes; rules may be about users (KIP-373)
"""

from trivium.messages.schema import Request, Response, Struct, field
from trivium.messages.types import Int8, Int16, Int32, String


class AclCreation(Struct):
    resource_type: Int8
    resource_name: String
    resource_pattern_type: Int8 = field("1+", default=3)
    principal: String
    host: String
    operation: Int8
    permission_type: Int8


class CreateAclsRequest(Request, key=30, versions="0-3", flexible="2+"):
    creations: list[AclCreation]


class AclCreationResult(Struct):
    error_code: Int16
    error_message: String | None


class CreateAclsResponse(Response, key=30, versions="0-3", flexible="2+"):
    throttle_time_ms: Int32
    results: list[AclCreationResult]
