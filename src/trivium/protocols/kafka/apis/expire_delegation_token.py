"""ExpireDelegationToken (key 40): end a delegation token early, or change when it ends.

Served: 1-2.
"""

from trivium.core.commands.delegation import ExpireDelegationToken, ProlongedDelegation
from trivium.messages.api import ApiKey
from trivium.messages.api.expire_delegation_token import (
    ExpireDelegationTokenRequest,
    ExpireDelegationTokenResponse,
)
from trivium.protocols.kafka.api import Api, Call
from trivium.protocols.kafka.faults import code_of


def to_command(request: ExpireDelegationTokenRequest, call: Call) -> ExpireDelegationToken:
    return ExpireDelegationToken(bytes(request.hmac), request.expiry_time_period_ms)


def to_response(result: ProlongedDelegation, call: Call) -> ExpireDelegationTokenResponse:
    return ExpireDelegationTokenResponse(
        error_code=code_of(result.fault), expiry_timestamp_ms=result.expires_at_ms, throttle_time_ms=0
    )


API = Api(ApiKey.EXPIRE_DELEGATION_TOKEN, 1, 2, to_command, to_response)
