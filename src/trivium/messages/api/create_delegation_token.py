"""CreateDelegationToken (key 38): create a delegation token.

0   first version
1   same bytes; a throttled answer is sent at once, and the client waits
2   flexible
3   request gains owner_principal_type, owner_principal_name; response gains
    token_requester_principal_type, token_requester_principal_name
"""

from trivium.messages.schema import Request, Response, Struct, field
from trivium.messages.types import Bytes, Int16, Int32, Int64, String


class CreatableRenewers(Struct):
    principal_type: String
    principal_name: String


class CreateDelegationTokenRequest(Request, key=38, versions="0-3", flexible="2+"):
    owner_principal_type: String | None = field("3+", default="")
    owner_principal_name: String | None = field("3+", default="")
    renewers: list[CreatableRenewers]
    max_lifetime_ms: Int64


class CreateDelegationTokenResponse(Response, key=38, versions="0-3", flexible="2+"):
    error_code: Int16
    principal_type: String
    principal_name: String
    token_requester_principal_type: String = field("3+", default="")
    token_requester_principal_name: String = field("3+", default="")
    issue_timestamp_ms: Int64
    expiry_timestamp_ms: Int64
    max_timestamp_ms: Int64
    token_id: String
    hmac: Bytes
    throttle_time_ms: Int32
