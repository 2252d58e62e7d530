"""Whole frames: header and body together, as they stand behind the four bytes of length.

A broker uses ``decode_request`` and ``encode_response``; a client the other two. Bytes after the body of
a request are ignored, as Kafka ignores them: librdkafka 2.16 sends some.
"""

import struct
from typing import Final

from trivium.messages.api import ApiKey, request_class, response_class
from trivium.messages.codec import decode, encode_onto
from trivium.messages.header import (
    RequestHeader,
    ResponseHeader,
    request_header_version,
    response_header_version,
)
from trivium.messages.schema import Request, Response
from trivium.wire.buffer import Buffer
from trivium.wire.errors import DecodeError

_KEY_AND_VERSION: Final = struct.Struct(">hh")


class UnsupportedRequestError(DecodeError):
    """A request whose key or version nobody here knows.

    Its header could be read all the same, for whoever wants to answer it: ApiVersions promises an answer
    in version 0 to a request of any version (KIP-511).
    """

    def __init__(self, header: RequestHeader) -> None:
        super().__init__(f"API key {header.request_api_key} version {header.request_api_version} is unknown")
        self.header = header


def decode_request_header(frame: Buffer) -> tuple[RequestHeader, int]:
    """The header of a request, and where its body begins. A key that is unknown has no header either."""
    if len(frame) < _KEY_AND_VERSION.size:
        raise DecodeError(f"a request of {len(frame)} bytes")
    key, version = _KEY_AND_VERSION.unpack_from(frame)
    try:
        request = request_class(key)
    except ValueError as error:
        raise DecodeError(f"API key {key} is unknown") from error
    return decode(RequestHeader, request_header_version(request, version), frame)


def decode_request(frame: Buffer) -> tuple[RequestHeader, Request]:
    """The header and the body of a request."""
    header, pos = decode_request_header(frame)
    request = request_class(header.request_api_key)
    if header.request_api_version not in request.VERSIONS:
        raise UnsupportedRequestError(header)
    message, _ = decode(request, header.request_api_version, frame, pos)
    return header, message


def decode_response(key: ApiKey | int, version: int, frame: Buffer) -> tuple[ResponseHeader, Response]:
    """The header and the body of the answer to a request of this key and version."""
    response = response_class(key)
    header, pos = decode(ResponseHeader, response_header_version(response, version), frame)
    message, _ = decode(response, version, frame, pos)
    return header, message


def encode_request(
    message: Request, version: int, correlation_id: int, client_id: str | None = None
) -> bytes:
    """A request with its header."""
    return b"".join(request_parts(message, version, correlation_id, client_id))


def request_parts(
    message: Request, version: int, correlation_id: int, client_id: str | None = None
) -> list[Buffer]:
    """The same in pieces, records not copied."""
    header = RequestHeader(
        request_api_key=message.API_KEY,
        request_api_version=version,
        correlation_id=correlation_id,
        client_id=client_id,
    )
    parts: list[Buffer] = []
    encode_onto(parts, header, request_header_version(type(message), version))
    encode_onto(parts, message, version)
    return parts


def encode_response(message: Response, version: int, correlation_id: int) -> bytes:
    """A response with its header."""
    return b"".join(response_parts(message, version, correlation_id))


_HEADERS: Final = (struct.Struct(">i"), struct.Struct(">ix"))


def response_parts(message: Response, version: int, correlation_id: int) -> list[Buffer]:
    """The same in pieces, records not copied."""
    header = _HEADERS[response_header_version(type(message), version)]
    parts: list[Buffer] = [header.pack(correlation_id)]
    encode_onto(parts, message, version)
    return parts
