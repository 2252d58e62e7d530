"""SaslHandshake (key 17): choose a SASL mechanism.

Served: 0-1.
0   what follows are bare messages of the mechanism, without a header
1   what follows travels in SaslAuthenticate (KIP-152)
"""

from typing import Any

from trivium.messages.api import ApiKey
from trivium.messages.api.sasl_handshake import SaslHandshakeRequest, SaslHandshakeResponse
from trivium.messages.errors import ErrorCode
from trivium.protocols.kafka.api import Api, Call


def to_command(request: SaslHandshakeRequest, call: Call) -> SaslHandshakeResponse:
    login = call.login
    if login is None:
        return SaslHandshakeResponse(error_code=ErrorCode.ILLEGAL_SASL_STATE, mechanisms=[])
    mechanisms = list(login.sasl.mechanisms)
    if request.mechanism not in mechanisms:
        return SaslHandshakeResponse(error_code=ErrorCode.UNSUPPORTED_SASL_MECHANISM, mechanisms=mechanisms)
    is_chosen = login.choose(request.mechanism, call.version)
    error_code = ErrorCode.NONE if is_chosen else ErrorCode.ILLEGAL_SASL_STATE
    return SaslHandshakeResponse(error_code=error_code, mechanisms=mechanisms)


def to_response(result: Any, call: Call) -> SaslHandshakeResponse:
    raise AssertionError("SaslHandshake is answered by the session alone")


API = Api(ApiKey.SASL_HANDSHAKE, 0, 1, to_command, to_response)
