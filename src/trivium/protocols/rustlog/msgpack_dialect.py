"""The document's objects in MessagePack: payloads are bytes as they are, instead of arrays of numbers.

A request may also have them as arrays. Told from the other dialects by its first byte, that of a map.
"""

from typing import Final

from trivium.protocols.rustlog.messages import (
    FetchResponse,
    ProduceRequest,
    Request,
    Response,
    Unreadable,
)
from trivium.protocols.rustlog.msgpack import pack, unpack
from trivium.protocols.rustlog.objects import object_of, refuse_booleans, request_of
from trivium.wire.errors import DecodeError

name: Final = "msgpack"
tells_offsets: Final = True

record_bytes_max: Final = 32
"""A map of two, its two names, an offset of nine bytes and a length of five."""
byte_bytes_max: Final = 1


def read(body: memoryview) -> Request:
    try:
        thing = unpack(body)
    except DecodeError as error:
        raise Unreadable(f"this is no MessagePack: {error}") from None
    request = request_of(thing)
    if isinstance(request, ProduceRequest):
        refuse_booleans(thing)
    return request


def write(response: Response) -> bytes:
    if isinstance(response, FetchResponse):
        records = [{"offset": offset, "payload": payload} for offset, payload in response.records]
        return pack({"Fetch": {"records": records, "next_offset": response.next_offset}})
    return pack(object_of(response))
