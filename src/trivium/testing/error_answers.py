"""Answers with an error code of a test's choice, whatever API they belong to.

The core refuses with faults of its own, and has none for many of Kafka's codes. So an answer is made with the
code for "something went wrong", which is then exchanged for the wanted one wherever it stands.
"""

from trivium.messages.api import response_class
from trivium.messages.codec import decode
from trivium.messages.errors import ErrorCode
from trivium.messages.schema import Response, Struct
from trivium.protocols.kafka.api import Answer, Call


def recoded(answer: Answer, call: Call, code: ErrorCode) -> Response:
    """The answer with ``code`` wherever it said ``UNKNOWN_SERVER_ERROR``."""
    response = _readable(answer, call)
    _exchange(response, code)
    return response


def with_code(answer: Answer, call: Call, code: ErrorCode) -> Response:
    """The answer with ``code`` as the outcome of the whole request, if its API has a place for that."""
    response = _readable(answer, call)
    if hasattr(response, "error_code"):
        response.error_code = code
    return response


def _readable(answer: Answer, call: Call) -> Response:
    """An answer that came as bytes, decoded."""
    if isinstance(answer, Response):
        return answer
    response, _ = decode(response_class(type(call.request).API_KEY), call.version, answer)
    return response


def _exchange(struct: Struct, code: ErrorCode) -> None:
    for field in type(struct).fields:
        value = getattr(struct, field.name)
        if field.name == "error_code":
            if value == ErrorCode.UNKNOWN_SERVER_ERROR:
                struct.error_code = code  # type: ignore[attr-defined]
        elif isinstance(value, Struct):
            _exchange(value, code)
        elif isinstance(value, list):
            for each in value:
                if isinstance(each, Struct):
                    _exchange(each, code)
