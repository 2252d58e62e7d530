"""SaslHandshake (key 17): choose a SASL mechanism.

0   first version
1   same bytes; what follows travels in SaslAuthenticate (KIP-152)
"""

from trivium.messages.schema import Request, Response
from trivium.messages.types import Int16, String


class SaslHandshakeRequest(Request, key=17, versions="0-1"):
    mechanism: String


class SaslHandshakeResponse(Response, key=17, versions="0-1"):
    error_code: Int16
    mechanisms: list[String]
