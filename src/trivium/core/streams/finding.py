"""What a caller means by a number or a name, if it may do there what it wants to.

Whether something exists is told to those only who may use it (promise S11): for all others what is missing
and what is forbidden is the same answer. Whoever may use it everywhere learns that it is not there.
"""

from trivium.core.access import Access, Operation, Resource
from trivium.core.caller import Caller
from trivium.core.cluster import Cluster
from trivium.core.commands.streams import DEFAULT_STREAM, StreamRef, StreamTopicRef
from trivium.core.faults import Fault, Refused
from trivium.core.metadata_topics import Topic
from trivium.core.partition import LivePartition
from trivium.core.streams.enrolment import Enrolment
from trivium.core.streams.names import spell_stream
from trivium.core.streams.registry import Registry, Stream, StreamTopic

_ANY_TOPIC = "-"


class Finding:
    def __init__(self, cluster: Cluster, registry: Registry, enrolment: Enrolment, access: Access) -> None:
        self._cluster = cluster
        self._registry = registry
        self._enrolment = enrolment
        self._access = access

    def streams(self) -> list[Stream]:
        self._enrolment.wake()
        return list(self._registry)

    def stream(self, ref: StreamRef, caller: Caller, operation: Operation) -> Stream:
        """A stream to which the caller may do this."""
        self._enrolment.wake()
        stream = self._registry.stream(ref)
        name = "" if stream is None else stream.name
        if not self._access.allows(caller, operation, Resource.STREAM, name):
            raise Refused(Fault.NOT_AUTHORIZED_STREAM)
        if stream is None:
            raise Refused(Fault.UNKNOWN_STREAM)
        return stream

    def stream_for(self, ref: StreamRef, caller: Caller, operation: Operation) -> Stream:
        """A stream to whose topics, whichever, the caller may do this."""
        self._enrolment.wake()
        stream = self._registry.stream(ref)
        name = "" if stream is None else _any_topic_of(stream)
        if not self._access.allows(caller, operation, Resource.TOPIC, name):
            raise Refused(Fault.NOT_AUTHORIZED_TOPIC)
        if stream is None:
            raise Refused(Fault.UNKNOWN_STREAM)
        return stream

    def topic(
        self, stream_ref: StreamRef, ref: StreamTopicRef, caller: Caller, operation: Operation
    ) -> StreamTopic:
        """A topic to which the caller may do this."""
        self._enrolment.wake()
        stream = self._registry.stream(stream_ref)
        topic = None if stream is None else stream.topic(ref)
        if topic is None:
            self.stream_for(stream_ref, caller, operation)
            raise Refused(Fault.UNKNOWN_STREAM_TOPIC)
        if not self._access.allows(caller, operation, Resource.TOPIC, topic.kafka_name):
            raise Refused(Fault.NOT_AUTHORIZED_TOPIC)
        return topic

    def kafka_topic(self, topic: StreamTopic) -> Topic:
        return self._cluster.topic(topic.kafka_name)

    def partitions_count(self, topic: StreamTopic) -> int:
        found = self._cluster.image.topics.by_name.get(topic.kafka_name)
        return 0 if found is None else len(found.partitions)

    def partition(self, topic: StreamTopic, index: int) -> LivePartition:
        try:
            return self._cluster.partition(topic.kafka_name, index)
        except Refused as refused:
            if refused.fault is Fault.UNKNOWN_TOPIC:
                raise Refused(Fault.UNKNOWN_PARTITION) from refused
            raise


def _any_topic_of(stream: Stream) -> str:
    """A name that stands for the topics of a stream which rights do not speak of one by one."""
    return _ANY_TOPIC if stream.name == DEFAULT_STREAM else f"{spell_stream(stream.name)}.{_ANY_TOPIC}"
