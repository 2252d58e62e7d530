"""DescribeDelegationToken (key 41): the tokens that the caller may see, with their secrets.

Served: 1-3.
3   says who has asked for each
"""

from trivium.core.commands.delegation import (
    DelegatedToken,
    DescribedDelegations,
    DescribeDelegationTokens,
)
from trivium.messages.api import ApiKey
from trivium.messages.api.describe_delegation_token import (
    DescribedDelegationToken,
    DescribedDelegationTokenRenewer,
    DescribeDelegationTokenRequest,
    DescribeDelegationTokenResponse,
)
from trivium.protocols.kafka.api import Api, Call
from trivium.protocols.kafka.faults import code_of
from trivium.protocols.kafka.principals import joined, parts_of


def to_command(request: DescribeDelegationTokenRequest, call: Call) -> DescribeDelegationTokens:
    if request.owners is None:
        return DescribeDelegationTokens()
    return DescribeDelegationTokens(
        [joined(owner.principal_type, owner.principal_name) for owner in request.owners]
    )


def to_response(result: DescribedDelegations, call: Call) -> DescribeDelegationTokenResponse:
    return DescribeDelegationTokenResponse(
        error_code=code_of(result.fault),
        tokens=[_described(token, call.version) for token in result.tokens],
        throttle_time_ms=0,
    )


def _described(token: DelegatedToken, version: int) -> DescribedDelegationToken:
    owner, requester = parts_of(token.owner), parts_of(token.requester)
    return DescribedDelegationToken(
        principal_type=owner.principal_type,
        principal_name=owner.principal_name,
        token_requester_principal_type=requester.principal_type if version >= 3 else "",
        token_requester_principal_name=requester.principal_name if version >= 3 else "",
        issue_timestamp=token.issued_at_ms,
        expiry_timestamp=token.expires_at_ms,
        max_timestamp=token.ends_at_ms,
        token_id=token.token_id,
        hmac=token.hmac,
        renewers=[DescribedDelegationTokenRenewer(**parts_of(each)._asdict()) for each in token.renewers],
    )


API = Api(ApiKey.DESCRIBE_DELEGATION_TOKEN, 1, 3, to_command, to_response)
