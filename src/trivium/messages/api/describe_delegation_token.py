"""DescribeDelegationToken (key 41): list delegation tokens.

0   first version
1   same bytes; a throttled answer is sent at once, and the client waits
2   flexible
3   response gains token_requester_principal_type, token_requester_principal_name
"""

from trivium.messages.schema import Request, Response, Struct, field
from trivium.messages.types import Bytes, Int16, Int32, Int64, String


class DescribeDelegationTokenOwner(Struct):
    principal_type: String
    principal_name: String


class DescribeDelegationTokenRequest(Request, key=41, versions="0-3", flexible="2+"):
    owners: list[DescribeDelegationTokenOwner] | None


class DescribedDelegationTokenRenewer(Struct):
    principal_type: String
    principal_name: String


class DescribedDelegationToken(Struct):
    principal_type: String
    principal_name: String
    token_requester_principal_type: String = field("3+", default="")
    token_requester_principal_name: String = field("3+", default="")
    issue_timestamp: Int64
    expiry_timestamp: Int64
    max_timestamp: Int64
    token_id: String
    hmac: Bytes
    renewers: list[DescribedDelegationTokenRenewer]


class DescribeDelegationTokenResponse(Response, key=41, versions="0-3", flexible="2+"):
    error_code: Int16
    tokens: list[DescribedDelegationToken]
    throttle_time_ms: Int32
