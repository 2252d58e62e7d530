"""Entering topics into the registry when they come, by whatever door, and striking them out when they go.

While nobody uses streams (no ``__trivium``, and no door to them) nothing is entered: the day somebody does,
everything that is there is entered in the order in which it was made. A crash may come between the metadata
and the registry: a start compares the two, and the metadata is right.
"""

from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import replace

from trivium.core.cluster import INTERNAL_TOPICS, Cluster
from trivium.core.commands.streams import NO_OPTIONS, TopicOptions
from trivium.core.faults import Refused
from trivium.core.metadata_topics import Topic
from trivium.core.ports import Done
from trivium.core.streams.registry import (
    NO_ID,
    Registry,
    Stream,
    StreamTopic,
    stream_change,
    topic_change,
    topic_removed,
)
from trivium.core.trivium_log import Change, TriviumLog

_BATCH_TOPICS = 1_000
"""So many topics are entered by one write."""


def ignore(_fault: object) -> None:
    """For changes that nobody waits for: a start makes good what a crash has undone."""


class Enrolment:
    def __init__(self, cluster: Cluster, registry: Registry, log: TriviumLog) -> None:
        self._cluster = cluster
        self._registry = registry
        self._log = log
        self._is_awake = False
        self._expected: dict[str, tuple[StreamTopic, Done]] = {}
        """Topics that are about to be made, or made anew, by whoever knows where they belong."""
        self.struck_out: list[Callable[[StreamTopic], None]] = []
        """Who wants to be told of every topic that goes, while its groups are still known."""
        cluster.created.append(self._created)
        cluster.removed.append(self._removed)

    def now_us(self) -> int:
        return self._cluster.clock.wall_ms() * 1000

    # -- waking up -------------------------------------------------------------------------------

    def wake(self) -> None:
        """Streams are used from now on, or were before this start. ``Refused`` if ``__trivium`` cannot be
        read or written.
        """
        self._log.load()
        if self._is_awake:
            return
        changes = self._registry.default_added(self.now_us())
        if changes:
            self._log.commit(changes, ignore)
        self._reconcile()
        self._is_awake = True

    def _reconcile(self) -> None:
        topics = self._cluster.image.topics
        gone: list[Change] = []
        for known in self._registry.topics():
            if known.successor_id in topics.by_id:
                # Purged, and the registry did not hear of it.
                gone.append(topic_change(_succeeded(known, known.successor_id)))
            elif known.kafka_id not in topics.by_id:
                gone += topic_removed(known)
        if gone:
            self._log.commit(gone, ignore)
        self._enter(topic for topic in topics if self._registry.topic_with(topic.topic_id) is None)

    def _enter(self, topics: Iterable[Topic]) -> None:
        changes: list[Change] = []
        streams: dict[int, Stream] = {}
        for topic in topics:
            if topic.name in INTERNAL_TOPICS:
                continue
            stream_name, name = self._registry.names_of(topic.name)
            found = self._registry.stream(stream_name)
            assert found is not None, "the default stream is always there"
            stream = streams.setdefault(found.stream_id, replace(found, by_name=dict(found.by_name)))
            entry = self.new_entry(stream, _free_name(stream, name, topic.name), topic.name, topic.topic_id)
            stream.by_name[entry.name] = entry
            stream.next_topic_id += 1
            changes.append(topic_change(entry))
            if len(changes) >= _BATCH_TOPICS:
                self._log.commit([*map(stream_change, streams.values()), *changes], ignore)
                changes, streams = [], {}
        if changes:
            self._log.commit([*map(stream_change, streams.values()), *changes], ignore)

    def new_entry(
        self,
        stream: Stream,
        name: str,
        kafka_name: str,
        kafka_id: bytes,
        options: TopicOptions = NO_OPTIONS,
        topic_id: int | None = None,
    ) -> StreamTopic:
        number = stream.next_topic_id if topic_id is None else topic_id
        return StreamTopic(stream.stream_id, number, name, kafka_name, kafka_id, self.now_us(), options)

    def announce(self, topic: StreamTopic, successor_id: bytes, done: Done) -> StreamTopic:
        """The topic is about to be made anew under this id in Kafka, and stays the same topic here."""
        announced = replace(topic, successor_id=successor_id)
        self._log.commit([topic_change(announced)], done)
        return announced

    # -- topics come and go ----------------------------------------------------------------------

    def expect(self, entry: StreamTopic, done: Done) -> None:
        """The topic that is about to be made is this one; ``done`` when it is entered for good."""
        self._expected[entry.kafka_name] = (entry, done)

    def forget(self, entry: StreamTopic) -> None:
        """It was not made."""
        self._expected.pop(entry.kafka_name, None)

    def _created(self, topic: Topic) -> None:
        if not self._is_awake:
            return
        expected = self._expected.pop(topic.name, None)
        if expected is None:
            with suppress(Refused):  # The next start finds it in the metadata and enters it.
                self._enter([topic])
            return
        entry, done = expected
        try:
            self._enter_expected(_succeeded(entry, topic.topic_id), done)
        except Refused as refused:
            done(refused.fault)

    def _enter_expected(self, entry: StreamTopic, done: Done) -> None:
        stream = self._registry.streams[entry.stream_id]
        next_id = max(stream.next_topic_id, entry.topic_id + 1)
        self._log.commit([stream_change(replace(stream, next_topic_id=next_id)), topic_change(entry)], done)

    def _removed(self, topic: Topic) -> None:
        known = self._registry.topic_with(topic.topic_id)
        if not self._is_awake or known is None or topic.name in self._expected:
            return
        for told in self.struck_out:
            told(known)
        with suppress(Refused):
            self._log.commit(topic_removed(known), ignore)


def _succeeded(topic: StreamTopic, kafka_id: bytes) -> StreamTopic:
    """The same topic, which is this one in Kafka from now on."""
    return replace(topic, kafka_id=kafka_id, successor_id=NO_ID)


def _free_name(stream: Stream, name: str, kafka_name: str) -> str:
    """A topic that was given another name in its stream may have taken this one."""
    while name in stream.by_name:
        name, kafka_name = kafka_name, f"{kafka_name}~"
    return name
