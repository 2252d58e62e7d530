"""RustLog's JSON, as its document has it: bytes are arrays of numbers.

A byte takes up to four bytes like that, so a frame of 10 MB holds about 2.8 MB of payload (mission 004.24).
Nearly all of a request or answer with records are those arrays, and one of Python's numbers for each of their
bytes would cost more than everything else. So they go through the kernel, if it is compiled, and the rest is
left to orjson. What the kernel does not take may be a mistake, or only an unusual spelling: orjson decides.
"""

from typing import Any, Final

import orjson

from trivium.protocols.rustlog.messages import (
    FetchResponse,
    ProduceRequest,
    Request,
    Response,
    Unreadable,
)
from trivium.protocols.rustlog.objects import object_of, refuse_booleans, request_of
from trivium.records import kernel
from trivium.wire.buffer import Buffer
from trivium.wire.errors import DecodeError
from trivium.wire.limits import MESSAGE_ELEMENTS_MAX

name: Final = "json"
tells_offsets: Final = True

record_bytes_max: Final = len('{"offset":9223372036854775807,"payload":[]},')
byte_bytes_max: Final = len("255,")

_RECORDS: Final = b'"records":'


# -- reading -------------------------------------------------------------------------------------


def read(body: memoryview) -> Request:
    text = bytes(body)
    request = _read_by_kernel(text) if kernel.compiled else None
    if request is not None:
        return request
    thing = _loads(text)
    request = request_of(thing)
    if isinstance(request, ProduceRequest) and (b"true" in text or b"false" in text):
        refuse_booleans(thing)
    return request


def _read_by_kernel(text: bytes) -> Request | None:
    """A Produce whose records are spelled as nearly everybody spells them; None for all others."""
    at = text.find(_RECORDS)
    if at < 0:
        return None
    begin = at + len(_RECORDS)
    try:
        records, end = kernel.bytes_from_json(text, begin, MESSAGE_ELEMENTS_MAX)
    except DecodeError:
        return None
    rest = text[:begin] + b"null" + text[end:]
    # With a name twice, or spelled in escapes, it is not certain whose array that was.
    if rest.count(b"records") > 1 or b"\\" in rest:
        return None
    try:
        thing = _loads(rest)
    except Unreadable:
        return None
    fields = thing.get("Produce") if isinstance(thing, dict) else None
    if not isinstance(fields, dict) or "records" not in fields:
        return None
    fields["records"] = records
    return request_of(thing)


def _loads(text: bytes) -> Any:
    # Two bytes on the wire become an object of sixty: a frame of brackets would take a lot (promise S1).
    if text.count(b"[") + text.count(b"{") + text.count(b'"') > MESSAGE_ELEMENTS_MAX:
        raise Unreadable(f"at most {MESSAGE_ELEMENTS_MAX} arrays, objects and strings fit into a request")
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise Unreadable(f"this is no JSON: {error}") from None


# -- writing -------------------------------------------------------------------------------------


def write(response: Response) -> Buffer:
    if not isinstance(response, FetchResponse):
        return orjson.dumps(object_of(response))
    if kernel.compiled:
        end = b'],"next_offset":%d}}' % response.next_offset
        return kernel.json_from_bytes(response.records, b'{"Fetch":{"records":[', end)
    return orjson.dumps({"Fetch": {"records": _listed(response), "next_offset": response.next_offset}})


def _listed(response: FetchResponse) -> list[dict[str, Any]]:
    return [{"offset": offset, "payload": list(payload)} for offset, payload in response.records]
