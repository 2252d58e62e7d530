"""CreateDelegationToken (key 38): a token by which others log in as its owner.

Served: 1-3.
3   for another owner than oneself (KIP-373)
"""

from trivium.core.commands.delegation import CreatedDelegation, CreateDelegationToken
from trivium.messages.api import ApiKey
from trivium.messages.api.create_delegation_token import (
    CreateDelegationTokenRequest,
    CreateDelegationTokenResponse,
)
from trivium.protocols.kafka.api import Api, Call
from trivium.protocols.kafka.faults import code_of
from trivium.protocols.kafka.principals import joined, parts_of


def to_command(request: CreateDelegationTokenRequest, call: Call) -> CreateDelegationToken:
    owner = _owner(request)
    renewers = [joined(each.principal_type, each.principal_name) for each in request.renewers]
    return CreateDelegationToken(owner, renewers, request.max_lifetime_ms)


def _owner(request: CreateDelegationTokenRequest) -> str | None:
    if not request.owner_principal_name:
        return None
    return joined(request.owner_principal_type or "", request.owner_principal_name)


def to_response(result: CreatedDelegation, call: Call) -> CreateDelegationTokenResponse:
    token = result.token
    owner = parts_of((_owner(call.request) or call.caller.principal) if token is None else token.owner)
    requester = parts_of(call.caller.principal if token is None else token.requester)
    return CreateDelegationTokenResponse(
        error_code=code_of(result.fault),
        principal_type=owner.principal_type,
        principal_name=owner.principal_name,
        token_requester_principal_type=requester.principal_type if call.version >= 3 else "",
        token_requester_principal_name=requester.principal_name if call.version >= 3 else "",
        issue_timestamp_ms=-1 if token is None else token.issued_at_ms,
        expiry_timestamp_ms=-1 if token is None else token.expires_at_ms,
        max_timestamp_ms=-1 if token is None else token.ends_at_ms,
        token_id="" if token is None else token.token_id,
        hmac=b"" if token is None else token.hmac,
        throttle_time_ms=0,
    )


API = Api(ApiKey.CREATE_DELEGATION_TOKEN, 1, 3, to_command, to_response)
