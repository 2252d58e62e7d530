"""Envelope (key 58): a broker passes a request on to the controller in the name of its client.

0   first version, flexible
"""

from trivium.messages.schema import Request, Response
from trivium.messages.types import Bytes, Int16


class EnvelopeRequest(Request, key=58, versions="0", flexible="0+"):
    request_data: Bytes
    request_principal: Bytes | None
    client_host_address: Bytes


class EnvelopeResponse(Response, key=58, versions="0", flexible="0+"):
    response_data: Bytes | None = None
    error_code: Int16
