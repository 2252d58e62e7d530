"""Where a topic is in Iggy's streams: our addition to the answer of DescribeTopicPartitions.

It is a tagged field of each topic there, with a tag far above those that Kafka gives away. Whoever does not
know it passes it over (KIP-482), and it is left out while nobody uses streams.
"""

from typing import Final

from trivium.messages.codec import decode, encode
from trivium.messages.schema import Message
from trivium.messages.types import String, UInt32
from trivium.wire.errors import DecodeError
from trivium.wire.tagged_fields import TaggedFields

TAG: Final = 29_810
"""``tr`` in ASCII."""
_VERSION: Final = 0


class TopicInStream(Message, versions="0", flexible="0+"):
    """Numbers begin at 0, as Iggy's clients count them from 0.6 on."""

    stream_id: UInt32
    stream: String
    topic_id: UInt32
    topic: String


def to_tags(place: TopicInStream) -> TaggedFields:
    return {TAG: encode(place, _VERSION)}


def from_tags(tags: TaggedFields) -> TopicInStream | None:
    """None as well if another broker means something else by the tag."""
    try:
        return decode(TopicInStream, _VERSION, tags[TAG])[0]
    except (KeyError, DecodeError):
        return None
