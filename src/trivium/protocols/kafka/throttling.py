"""Telling a client that it will not be listened to for a while (KIP-219): the answer leaves at once."""

from trivium.messages.api import response_class
from trivium.messages.codec import decode
from trivium.messages.schema import Response
from trivium.protocols.kafka.api import Answer


def throttled(answer: Answer, key: int, version: int, wait_ms: int) -> Answer:
    """The same answer, saying so where its version has a word for it."""
    response = answer if isinstance(answer, Response) else decode(response_class(key), version, answer)[0]
    if hasattr(response, "throttle_time_ms"):
        response.throttle_time_ms = wait_ms
    return response
