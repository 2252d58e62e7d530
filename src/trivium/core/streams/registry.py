"""Which streams there are, which topics and groups are in them, and what number each has.

A table of ``__trivium``: it changes by records and in no other way. The functions at the end make them.

A topic is known by its id in Kafka, not by its name there: one that was deleted and made again under the same
name is another topic, with another number and without the rights that the first one's number had.
"""

from collections.abc import Callable, Container, Iterator
from dataclasses import dataclass, field
from typing import Final

from trivium.core.commands.streams import DEFAULT_STREAM, NO_OPTIONS, TopicOptions
from trivium.core.commands.topics import StreamPlace
from trivium.core.faults import Fault, Refused
from trivium.core.streams.names import kafka_name, names_of
from trivium.core.trivium_log import Change
from trivium.messages.schema import Message
from trivium.messages.stored.trivium_log import (
    COUNTS_STREAMS,
    CounterKey,
    CounterValue,
    StreamGroupKey,
    StreamGroupValue,
    StreamKey,
    StreamTopicKey,
    StreamTopicValue,
    StreamValue,
)

NO_ID: Final = bytes(16)
"""Kafka's id of no topic."""
ID_MAX: Final = (1 << 32) - 2
"""The highest number that a client which counts from 1 can be shown."""
CHOSEN_ID_MAX: Final = (1 << 31) - 1
"""The highest that a client may choose for a stream, topic or group. The broker counts on from the highest
that was ever given: behind the last there is none.
"""

GroupNumber = tuple[int, int, int]
"""Of the stream, of the topic in it, of the group on that."""


@dataclass(frozen=True, slots=True)
class StreamGroup:
    group_id: int
    name: str
    created_at_us: int


@dataclass(slots=True)
class StreamTopic:
    stream_id: int
    topic_id: int
    name: str
    kafka_name: str
    kafka_id: bytes
    """Changes when the topic is purged: to Kafka it is another topic then."""
    created_at_us: int
    options: TopicOptions = NO_OPTIONS
    """As they were asked for."""
    next_group_id: int = 0
    successor_id: bytes = NO_ID
    """The id in Kafka that a purge is about to give it: a crash may come before or after it has."""
    groups: dict[int, StreamGroup] = field(default_factory=dict)
    turns: int = 0
    """How many batches were given to whichever partition came next; begins anew with the broker."""

    def group(self, ref: int | str) -> StreamGroup | None:
        if isinstance(ref, int):
            return self.groups.get(ref)
        return next((group for group in self.groups.values() if group.name == ref), None)

    @property
    def key(self) -> StreamTopicKey:
        return StreamTopicKey(stream_id=self.stream_id, topic_id=self.topic_id)


@dataclass(slots=True)
class Stream:
    stream_id: int
    name: str
    created_at_us: int
    next_topic_id: int = 0
    topics: dict[int, StreamTopic] = field(default_factory=dict)
    by_name: dict[str, StreamTopic] = field(default_factory=dict)

    def topic(self, ref: int | str) -> StreamTopic | None:
        return self.topics.get(ref) if isinstance(ref, int) else self.by_name.get(ref)


def new_id(chosen: int | None, following: int, taken: Container[int], fault: Fault) -> int:
    """The number of something new: the one that was chosen, or the one that follows. ``Refused`` with this
    fault if it cannot have it.
    """
    number, highest = (following, ID_MAX) if chosen is None else (chosen, CHOSEN_ID_MAX)
    if number in taken or number > highest:
        raise Refused(fault)
    return number


class Registry:
    """A table of the log (``trivium_log.Table``), and the ``Places`` that rights apply to."""

    def __init__(self, kafka_id_of: Callable[[str], bytes | None]) -> None:
        """``kafka_id_of``: the id of the topic that has this name in Kafka now."""
        self._kafka_id_of = kafka_id_of
        self.streams: dict[int, Stream] = {}
        self._by_name: dict[str, Stream] = {}
        self._by_kafka_id: dict[bytes, StreamTopic] = {}
        self.next_stream_id = 0

    # -- looking up ------------------------------------------------------------------------------

    def __iter__(self) -> Iterator[Stream]:
        return iter(sorted(self.streams.values(), key=lambda stream: stream.stream_id))

    def stream(self, ref: int | str) -> Stream | None:
        return self.streams.get(ref) if isinstance(ref, int) else self._by_name.get(ref)

    def stream_id(self, name: str) -> int | None:
        stream = self._by_name.get(name)
        return None if stream is None else stream.stream_id

    def topics(self) -> list[StreamTopic]:
        return [topic for stream in self.streams.values() for topic in stream.topics.values()]

    def topic_at(self, stream_id: int, topic_id: int) -> StreamTopic | None:
        stream = self.streams.get(stream_id)
        return None if stream is None else stream.topics.get(topic_id)

    def topic_with(self, kafka_id: bytes) -> StreamTopic | None:
        """Also while it is being purged: then it has one of two ids."""
        return self._by_kafka_id.get(kafka_id)

    def place_of(self, topic: str) -> tuple[int | None, int | None]:
        """Stream and topic of a Kafka topic; of one that is not there, the stream that it would be in. The
        empty name is of no topic and in no stream.
        """
        kafka_id = self._kafka_id_of(topic)
        found = None if kafka_id is None else self._by_kafka_id.get(kafka_id)
        if found is not None:
            return found.stream_id, found.topic_id
        if not topic:
            return None, None
        return self.stream_id(self.names_of(topic)[0]), None

    def place_with(self, kafka_id: bytes) -> StreamPlace | None:
        """The same with names, for people."""
        topic = self._by_kafka_id.get(kafka_id)
        if topic is None:
            return None
        stream = self.streams[topic.stream_id]
        return StreamPlace(stream.stream_id, stream.name, topic.topic_id, topic.name)

    def name_in_kafka(self, stream_ref: int | str, topic_ref: int | str) -> str | None:
        """What a topic of a stream is called in Kafka, or would be if it were made; None if none can be."""
        stream = self.stream(stream_ref)
        topic = None if stream is None else stream.topic(topic_ref)
        if topic is not None:
            return topic.kafka_name
        if stream is None or isinstance(topic_ref, int):
            return None
        try:
            return kafka_name(stream.name, topic_ref)
        except Refused:
            return None

    def names_of(self, topic: str) -> tuple[str, str]:
        return names_of(topic, self._by_name.__contains__)

    # -- replaying -------------------------------------------------------------------------------

    def clear(self) -> None:
        self.streams.clear()
        self._by_name.clear()
        self._by_kafka_id.clear()
        self.next_stream_id = 0

    def replay(self, key: Message, value: Message | None) -> None:
        if isinstance(key, StreamKey):
            self._replay_stream(key.stream_id, value)
        elif isinstance(key, StreamTopicKey):
            self._replay_topic(key, value)
        elif isinstance(key, StreamGroupKey):
            self._replay_group(key, value)
        elif isinstance(key, CounterKey) and key.counts == COUNTS_STREAMS and isinstance(value, CounterValue):
            self.next_stream_id = value.next_id

    def _replay_stream(self, stream_id: int, value: Message | None) -> None:
        stream = self.streams.get(stream_id)
        if stream is not None:
            del self._by_name[stream.name]
        if not isinstance(value, StreamValue):
            if stream is not None:
                del self.streams[stream_id]
                for topic in stream.topics.values():
                    self._forget_ids(topic)
            return
        if stream is None:
            self.streams[stream_id] = stream = Stream(stream_id, value.name, value.created_at_us)
        stream.name, stream.next_topic_id = value.name, value.next_topic_id
        self._by_name[value.name] = stream

    def _replay_topic(self, key: StreamTopicKey, value: Message | None) -> None:
        stream = self.streams.get(key.stream_id)
        if stream is None:
            # Compaction keeps tombstones for a while: this one is of a stream that is gone.
            return
        before = stream.topics.pop(key.topic_id, None)
        if before is not None:
            del stream.by_name[before.name]
            self._forget_ids(before)
        if isinstance(value, StreamTopicValue):
            topic = _topic(key, value)
            if before is not None:
                topic.groups, topic.turns = before.groups, before.turns
            stream.topics[key.topic_id] = stream.by_name[topic.name] = topic
            for kafka_id in (topic.kafka_id, topic.successor_id):
                if kafka_id != NO_ID:
                    self._by_kafka_id[kafka_id] = topic

    def _forget_ids(self, topic: StreamTopic) -> None:
        for kafka_id in (topic.kafka_id, topic.successor_id):
            self._by_kafka_id.pop(kafka_id, None)

    def _replay_group(self, key: StreamGroupKey, value: Message | None) -> None:
        topic = self.topic_at(key.stream_id, key.topic_id)
        if topic is None:
            return
        if isinstance(value, StreamGroupValue):
            topic.groups[key.group_id] = StreamGroup(key.group_id, value.name, value.created_at_us)
        else:
            topic.groups.pop(key.group_id, None)

    # -- changes ---------------------------------------------------------------------------------

    def stream_added(self, name: str, stream_id: int, now_us: int) -> list[Change]:
        next_id = max(self.next_stream_id, stream_id + 1)
        return [
            (CounterKey(counts=COUNTS_STREAMS), CounterValue(next_id=next_id)),
            stream_change(Stream(stream_id, name, now_us)),
        ]

    def default_added(self, now_us: int) -> list[Change]:
        """Nothing if it is there, as it is from the first day."""
        if DEFAULT_STREAM in self._by_name:
            return []
        return self.stream_added(DEFAULT_STREAM, self.next_stream_id, now_us)


def _topic(key: StreamTopicKey, value: StreamTopicValue) -> StreamTopic:
    return StreamTopic(
        key.stream_id,
        key.topic_id,
        value.name,
        value.kafka_name,
        value.kafka_id,
        value.created_at_us,
        TopicOptions(
            value.compression,
            _unsigned(value.message_expiry_us),
            _unsigned(value.size_bytes_max),
            value.replication_factor,
        ),
        value.next_group_id,
        value.successor_id,
    )


def stream_change(stream: Stream) -> Change:
    return StreamKey(stream_id=stream.stream_id), StreamValue(
        name=stream.name, created_at_us=stream.created_at_us, next_topic_id=stream.next_topic_id
    )


def stream_removed(stream: Stream) -> list[Change]:
    changes: list[Change] = []
    for topic in stream.topics.values():
        changes += topic_removed(topic)
    return [*changes, (StreamKey(stream_id=stream.stream_id), None)]


def topic_change(topic: StreamTopic) -> Change:
    return topic.key, StreamTopicValue(
        name=topic.name,
        kafka_name=topic.kafka_name,
        kafka_id=topic.kafka_id,
        created_at_us=topic.created_at_us,
        compression=topic.options.compression,
        message_expiry_us=_signed(topic.options.message_expiry_us),
        size_bytes_max=_signed(topic.options.size_bytes_max),
        replication_factor=topic.options.replication_factor,
        next_group_id=topic.next_group_id,
        successor_id=topic.successor_id,
    )


def topic_removed(topic: StreamTopic) -> list[Change]:
    return [*(group_removed(topic, group) for group in topic.groups.values()), (topic.key, None)]


def group_change(topic: StreamTopic, group: StreamGroup) -> Change:
    return _group_key(topic, group), StreamGroupValue(name=group.name, created_at_us=group.created_at_us)


def group_removed(topic: StreamTopic, group: StreamGroup) -> Change:
    return _group_key(topic, group), None


def _group_key(topic: StreamTopic, group: StreamGroup) -> StreamGroupKey:
    return StreamGroupKey(stream_id=topic.stream_id, topic_id=topic.topic_id, group_id=group.group_id)


def _signed(value: int) -> int:
    """Times and sizes from 2**63 on are longer and larger than anything: they are written as "unlimited"."""
    return value if value < 1 << 63 else -1


def _unsigned(value: int) -> int:
    return value if value >= 0 else (1 << 64) - 1
