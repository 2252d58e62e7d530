"""Headers in front of requests and responses, and which version of them a message has.

    request header    v0: api key, api version, correlation id   (ControlledShutdown v0 only)
                      v1: + client id                            (versions that are not flexible)
                      v2: + tagged fields                        (flexible versions)
    response header   v0: correlation id
                      v1: + tagged fields                        (flexible versions, except ApiVersions)

The answer to ApiVersions never has tagged fields in its header: a client must be able to read it before
it knows which versions the broker speaks (mission 000.16). The client id keeps its old length form even
in header v2, so that a broker can read it from a request of any version.
"""

from typing import Final

from trivium.messages.schema import Message, field
from trivium.messages.types import Int16, Int32, String

CONTROLLED_SHUTDOWN_KEY: Final = 7
API_VERSIONS_KEY: Final = 18


class RequestHeader(Message, versions="0-2", flexible="2+"):
    request_api_key: Int16
    request_api_version: Int16
    correlation_id: Int32
    client_id: String | None = field("1+", default=None, ignorable=True, compact=False)


class ResponseHeader(Message, versions="0-1", flexible="1+"):
    correlation_id: Int32


def request_header_version(request: type[Message], version: int) -> int:
    if version in request.FLEXIBLE:
        return 2
    return 0 if request.API_KEY == CONTROLLED_SHUTDOWN_KEY and version == 0 else 1


def response_header_version(response: type[Message], version: int) -> int:
    return 1 if version in response.FLEXIBLE and response.API_KEY != API_VERSIONS_KEY else 0
