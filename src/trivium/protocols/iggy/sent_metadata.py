"""What stands before the messages of a SEND_MESSAGES: where they go, and how many they are.

    metadata length u32 | stream | topic | partitioning | count u32 | index and messages

The parts are those of ``body``; index and messages are drawn in ``records.message``.
"""

from functools import lru_cache
from typing import Final, NamedTuple

from trivium.protocols.iggy.body import Body, Identifier, Partitioning
from trivium.protocols.iggy.status import Rejected, Status
from trivium.wire.errors import DecodeError

METADATA_BYTES_MAX: Final = 3 * (2 + 255) + 4
"""A stream, a topic, a partitioning and a count take no more; what follows is no part of them."""
METADATA_MAX: Final = 1_024
"""So many are kept, each as it was read."""


class SentMetadata(NamedTuple):
    stream: Identifier
    topic: Identifier
    partitioning: Partitioning
    messages_count: int


def metadata_of(body: Body) -> SentMetadata:
    """Where the messages of a request go, and how many they are; ``body`` is at them then."""
    return _metadata(bytes(body.take(body.u32())[:METADATA_BYTES_MAX]))


@lru_cache(maxsize=METADATA_MAX)
def _metadata(metadata: bytes) -> SentMetadata:
    """Most sends of a client differ in their messages only: what stands before them is read once."""
    body = Body(metadata)
    try:
        stream, topic = body.identifier(), body.identifier()
    except (DecodeError, Rejected):
        # Whatever is wrong with them is one error here, and two others in every other request.
        raise Rejected(Status.INVALID_IDENTIFIER) from None
    return SentMetadata(stream, topic, body.partitioning(), body.u32())
