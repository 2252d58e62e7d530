"""RenewDelegationToken (key 39): prolong a delegation token.

Served: 1-2.
"""

from trivium.core.commands.delegation import ProlongedDelegation, RenewDelegationToken
from trivium.messages.api import ApiKey
from trivium.messages.api.renew_delegation_token import (
    RenewDelegationTokenRequest,
    RenewDelegationTokenResponse,
)
from trivium.protocols.kafka.api import Api, Call
from trivium.protocols.kafka.faults import code_of


def to_command(request: RenewDelegationTokenRequest, call: Call) -> RenewDelegationToken:
    return RenewDelegationToken(bytes(request.hmac), request.renew_period_ms)


def to_response(result: ProlongedDelegation, call: Call) -> RenewDelegationTokenResponse:
    return RenewDelegationTokenResponse(
        error_code=code_of(result.fault), expiry_timestamp_ms=result.expires_at_ms, throttle_time_ms=0
    )


API = Api(ApiKey.RENEW_DELEGATION_TOKEN, 1, 2, to_command, to_response)
