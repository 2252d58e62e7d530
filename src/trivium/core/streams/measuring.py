"""How large streams, topics and partitions are. Sizes are bytes on disk, as every other door reports them.

Messages are counted by offsets: what compaction or a transaction has taken out in between counts still.
"""

from collections.abc import Iterable

from trivium.core.cluster import Cluster
from trivium.core.commands.streams import PartitionFacts, StreamFacts, StreamTopicFacts
from trivium.core.faults import Refused
from trivium.core.settings import Settings
from trivium.core.streams.options import OptionsInForce
from trivium.core.streams.registry import Stream, StreamTopic

REPLICATION_FACTOR = 1


class Measuring:
    def __init__(self, cluster: Cluster, settings: Settings) -> None:
        self._cluster = cluster
        self._options = OptionsInForce(settings)

    def stream(self, stream: Stream, topics: Iterable[StreamTopicFacts] | None = None) -> StreamFacts:
        measured = self.topics(stream) if topics is None else list(topics)
        return StreamFacts(
            stream.stream_id,
            stream.name,
            stream.created_at_us,
            len(measured),
            sum(topic.size_bytes for topic in measured),
            sum(topic.messages_count for topic in measured),
        )

    def topics(self, stream: Stream) -> list[StreamTopicFacts]:
        return [self.topic(topic) for _, topic in sorted(stream.topics.items())]

    def topic(self, topic: StreamTopic, parts: Iterable[PartitionFacts] | None = None) -> StreamTopicFacts:
        measured = self.partitions(topic) if parts is None else list(parts)
        name, asked, count = topic.kafka_name, topic.options, len(measured)
        return StreamTopicFacts(
            topic.topic_id,
            topic.name,
            name,
            topic.created_at_us,
            count,
            self._options.message_expiry_us(name, asked),
            asked.compression,
            self._options.size_bytes_max(name, asked, count),
            asked.replication_factor or REPLICATION_FACTOR,
            sum(part.size_bytes for part in measured),
            sum(part.messages_count for part in measured),
        )

    def partitions(self, topic: StreamTopic) -> list[PartitionFacts]:
        found = self._cluster.image.topics.by_name.get(topic.kafka_name)
        indexes = [] if found is None else sorted(found.partitions)
        return [self._partition(topic, index) for index in indexes]

    def _partition(self, topic: StreamTopic, index: int) -> PartitionFacts:
        try:
            log = self._cluster.partition(topic.kafka_name, index).log
        except Refused:
            # Its directory is offline: it is there, and nobody knows what is in it.
            return PartitionFacts(index, topic.created_at_us, 0, 0, 0, 0)
        return PartitionFacts(
            index,
            topic.created_at_us,
            len(log.segment_offsets),
            max(0, log.high_watermark - 1),
            log.size_bytes,
            log.high_watermark - log.log_start_offset,
        )
