"""The tree of rights that a user carries: on everything, on streams, on topics. Higher imply lower ones, as
with Iggy from 0.7 on: who manages streams manages their topics, who manages topics sends to them, and who
sees a topic reads it. (Before, some of that was missing.)

``Tree`` says what a set of rights means at one place. Which of the broker's operations needs which of them is
``access``'s to say. Streams and topics are numbers here.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple


class TopicPermissions(NamedTuple):
    manage_topic: bool = False
    read_topic: bool = False
    poll_messages: bool = False
    send_messages: bool = False


class StreamPermissions(NamedTuple):
    manage_stream: bool = False
    read_stream: bool = False
    manage_topics: bool = False
    read_topics: bool = False
    poll_messages: bool = False
    send_messages: bool = False
    topics: Mapping[int, TopicPermissions] = MappingProxyType({})
    """By the number of the topic in its stream."""


class GlobalPermissions(NamedTuple):
    manage_servers: bool = False
    read_servers: bool = False
    manage_users: bool = False
    read_users: bool = False
    manage_streams: bool = False
    read_streams: bool = False
    manage_topics: bool = False
    read_topics: bool = False
    poll_messages: bool = False
    send_messages: bool = False


class Permissions(NamedTuple):
    everywhere: GlobalPermissions = GlobalPermissions()
    streams: Mapping[int, StreamPermissions] = MappingProxyType({})
    """By the number of the stream."""


EVERYTHING = Permissions(GlobalPermissions(*([True] * len(GlobalPermissions._fields))))
"""What the first user of a node has, for ever."""

NO_STREAM = StreamPermissions()
NO_TOPIC = TopicPermissions()


class Tree(NamedTuple):
    """The rights that count at one place: everywhere, in a stream, on a topic of it. Where the place has no
    stream or no topic, nothing is granted at that level.
    """

    everywhere: GlobalPermissions
    stream: StreamPermissions = NO_STREAM
    topic: TopicPermissions = NO_TOPIC

    @property
    def sees_stream(self) -> bool:
        at, in_stream = self.everywhere, self.stream
        return at.manage_streams or at.read_streams or in_stream.manage_stream or in_stream.read_stream

    @property
    def manages_stream(self) -> bool:
        return self.everywhere.manage_streams or self.stream.manage_stream

    @property
    def sees_topic(self) -> bool:
        at, in_stream, on = self.everywhere, self.stream, self.topic
        return (
            self.sees_stream
            or (at.manage_topics or at.read_topics)
            or (in_stream.manage_topics or in_stream.read_topics)
            or (on.manage_topic or on.read_topic)
        )

    @property
    def creates_topics(self) -> bool:
        return self.manages_stream or self.everywhere.manage_topics or self.stream.manage_topics

    @property
    def manages_topic(self) -> bool:
        return self.creates_topics or self.topic.manage_topic

    @property
    def polls(self) -> bool:
        levels = (self.everywhere, self.stream, self.topic)
        return self.sees_topic or any(level.poll_messages for level in levels)

    @property
    def sends(self) -> bool:
        levels = (self.everywhere, self.stream, self.topic)
        return self.manages_topic or any(level.send_messages for level in levels)


def tree_at(permissions: Permissions, stream_id: int | None = None, topic_id: int | None = None) -> Tree:
    stream = NO_STREAM if stream_id is None else permissions.streams.get(stream_id, NO_STREAM)
    topic = NO_TOPIC if topic_id is None else stream.topics.get(topic_id, NO_TOPIC)
    return Tree(permissions.everywhere, stream, topic)


def anywhere(permissions: Permissions) -> list[Tree]:
    """Every place that the rights speak of."""
    trees = [tree_at(permissions)]
    for stream_id, stream in permissions.streams.items():
        trees.append(tree_at(permissions, stream_id))
        trees += [tree_at(permissions, stream_id, topic_id) for topic_id in stream.topics]
    return trees
