"""SaslAuthenticate (key 36): one message of a SASL mechanism, and the answer to it.

Served: 0-2.
1   the answer says how long the login counts (KIP-368)
2   flexible
"""

from trivium.core.commands.sasl import Authenticate, SaslStep
from trivium.messages.api import ApiKey
from trivium.messages.api.sasl_authenticate import SaslAuthenticateRequest, SaslAuthenticateResponse
from trivium.messages.errors import ErrorCode
from trivium.protocols.kafka.api import Api, Call, NoAnswer
from trivium.protocols.kafka.login import NOT_NOW

_LIFETIME_SINCE = 1
_NOTHING_BEGUN = "There is nothing to authenticate: send SaslHandshake first."


def to_command(request: SaslAuthenticateRequest, call: Call) -> Authenticate | SaslAuthenticateResponse:
    command = None if call.login is None else call.login.judge(bytes(request.auth_bytes))
    if command is None:
        return SaslAuthenticateResponse(
            error_code=ErrorCode.ILLEGAL_SASL_STATE, error_message=_NOTHING_BEGUN, auth_bytes=b""
        )
    call.wait_for_login()
    return command


def to_response(step: SaslStep, call: Call) -> SaslAuthenticateResponse | NoAnswer:
    assert call.login is not None
    reason = call.login.judged(step)
    call.login_judged(step, reason)
    if reason == NOT_NOW:
        return NoAnswer.SILENCE  # and the connection ends
    if reason is not None:
        return SaslAuthenticateResponse(
            error_code=ErrorCode.SASL_AUTHENTICATION_FAILED, error_message=reason, auth_bytes=b""
        )
    lifetime_ms = call.login.lifetime_ms(step, is_known=call.version >= _LIFETIME_SINCE)
    return SaslAuthenticateResponse(
        error_code=ErrorCode.NONE, error_message=None, auth_bytes=step.answer, session_lifetime_ms=lifetime_ms
    )


API = Api(ApiKey.SASL_AUTHENTICATE, 0, 2, to_command, to_response)
