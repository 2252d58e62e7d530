"""Sending records: gathered into batches, sent as batches fill, certain after ``flush``.

There is no thread and no timer: a batch goes out when it is full or when ``flush`` is called. Idempotent
unless told otherwise, so a retry writes nothing twice and keeps the order of each partition (mission 003.32).
What could not be written is raised by the next ``send`` or ``flush``; ``on_delivery`` hears of every batch.
"""

import time
from collections.abc import Callable, Iterable
from types import TracebackType
from typing import Final, Self

from trivium.client.cluster import Cluster
from trivium.client.deadline import Deadline
from trivium.client.delivery import ACKS_ALL, Delivery, ProducerIdentity
from trivium.client.errors import ClientError, ProducerClosed, Refused
from trivium.client.lane import Lane, record_bytes
from trivium.client.partitioner import StickyPartition, partition_for
from trivium.client.shipping import IN_FLIGHT_MAX, Shipper
from trivium.client.topology import Topic, TopicPartition
from trivium.client.waiting import Waiting
from trivium.messages.api.init_producer_id import InitProducerIdRequest, InitProducerIdResponse
from trivium.messages.errors import ErrorCode
from trivium.records.compression import Compression
from trivium.records.record import Header, Record
from trivium.wire.limits import FRAME_BYTES_MAX

BATCH_BYTES: Final = 256 * 1024
"""A batch goes out at this size: large enough to cost little per record, well below ``max.message.bytes``."""

BUFFER_BYTES_MAX: Final = 32 * 1024 * 1024
"""What may gather before sending waits for answers: Kafka's ``buffer.memory``."""

RECORD_BYTES_MAX: Final = FRAME_BYTES_MAX - 65_536
"""One record: what no broker would take in a request is refused before it is sent."""

DELIVERY_TIMEOUT_S: Final = 120.0
"""From a full batch to its acknowledgement, with all attempts: Kafka's ``delivery.timeout.ms``."""

_WAIT_S: Final = 1.0
"""How long to wait for answers at once, between looks at deadlines."""


class _TopicLanes:
    """A topic as this producer sees it: a lane for each partition that it has sent to."""

    __slots__ = ("by_partition", "partitions_count", "sticky", "topic")

    def __init__(self, topic: Topic) -> None:
        self.topic = topic
        self.partitions_count = len(topic.partitions)
        self.sticky = StickyPartition(self.partitions_count)
        self.by_partition: dict[int, Lane] = {}

    def learn(self, topic: Topic) -> None:
        """The topic was looked up again, and may have grown, or may be another of the same name."""
        self.topic = topic
        self.partitions_count = len(topic.partitions)
        if self.sticky.index >= self.partitions_count:
            self.sticky = StickyPartition(self.partitions_count)


class Producer:
    def __init__(
        self,
        cluster: Cluster,
        *,
        acks: int = ACKS_ALL,
        compression: Compression = Compression.NONE,
        idempotent: bool = True,
        batch_bytes: int = BATCH_BYTES,
        in_flight_max: int = IN_FLIGHT_MAX,
        delivery_timeout_s: float = DELIVERY_TIMEOUT_S,
        on_delivery: Callable[[Delivery], None] | None = None,
    ) -> None:
        self._cluster = cluster
        self._batch_bytes = batch_bytes
        self._delivery_timeout_s = delivery_timeout_s
        self._on_delivery = on_delivery
        self._wants_identity = idempotent and acks == ACKS_ALL
        self._topics: dict[str, _TopicLanes] = {}
        self._unsettled_bytes = 0
        self._failure: ClientError | None = None
        self._has_trouble = False
        self._is_closed = False
        self._shipper = Shipper(
            cluster,
            acks=acks,
            compression=compression,
            in_flight_max=in_flight_max,
            report=self._settled,
            waiting=Waiting(delivery_timeout_s),
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Everything is flushed, unless something went wrong already."""
        try:
            if kind is None:
                self.flush()
        finally:
            self.close()

    def send(
        self,
        topic: str,
        value: bytes | None,
        *,
        key: bytes | None = None,
        headers: Iterable[Header] = (),
        timestamp_ms: int | None = None,
        partition: int | None = None,
    ) -> int:
        """Take a record; the partition it goes to. Chosen by the key, as Java does, unless it is given.

        A topic that does not exist is created if the broker is set up to do so.
        """
        if self._has_trouble:
            self._raise_trouble()
        lanes = self._topics.get(topic)
        if lanes is None or lanes.topic is not self._cluster.topology.topics.get(topic):
            lanes = self._look_up(topic)
        if partition is None:
            partition = lanes.sticky.index if key is None else partition_for(key, lanes.partitions_count)
        lane = lanes.by_partition.get(partition) or self._new_lane(lanes, partition)
        timestamp = int(time.time() * 1000) if timestamp_ms is None else timestamp_ms
        record = Record(0, timestamp, key, value, tuple(headers))
        size_bytes = record_bytes(record)
        if size_bytes > RECORD_BYTES_MAX:
            raise ClientError(
                f"A record of {size_bytes} bytes is larger than a request may be; send it in parts."
            )
        if lane.open_bytes + size_bytes > self._batch_bytes:
            self._complete(lanes, lane)
        lane.add(record, size_bytes)
        self._unsettled_bytes += size_bytes
        if lane.open_bytes >= self._batch_bytes:
            self._complete(lanes, lane)
        if self._unsettled_bytes > BUFFER_BYTES_MAX:
            self._send_all_until(BUFFER_BYTES_MAX // 2)
        return partition

    def send_batch(
        self, topic: str, partition: int, records: list[Record], size_bytes: int | None = None
    ) -> None:
        """Take records as one batch, as they are: for whoever has many at once.

        Their offsets do not count. ``size_bytes`` saves adding up what the caller knows. How large a batch
        may be is for the topic to say (``max.message.bytes``).
        """
        if self._has_trouble:
            self._raise_trouble()
        lanes = self._look_up(topic)
        lane = lanes.by_partition.get(partition) or self._new_lane(lanes, partition)
        if size_bytes is None:
            size_bytes = sum(map(record_bytes, records))
        lane.add_batch(records, size_bytes, Deadline(self._delivery_timeout_s))
        self._ship(lane, size_bytes)

    def send_encoded(self, topic: str, partition: int, batch: bytes) -> None:
        """Take a batch that is bytes already, in format 2 and in a compression of its own; who sends it is
        written into its header here.
        """
        if self._has_trouble:
            self._raise_trouble()
        lanes = self._look_up(topic)
        lane = lanes.by_partition.get(partition) or self._new_lane(lanes, partition)
        lane.add_encoded(batch, Deadline(self._delivery_timeout_s))
        self._ship(lane, len(batch))

    def _ship(self, lane: Lane, size_bytes: int) -> None:
        self._unsettled_bytes += size_bytes
        self._shipper.watch(lane)
        self._identify()
        self._shipper.work(0)
        if self._unsettled_bytes > BUFFER_BYTES_MAX:
            self._send_all_until(BUFFER_BYTES_MAX // 2)

    def poll(self, wait_s: float) -> None:
        """Send what is full, and take the answers that are there or come within ``wait_s``."""
        self._shipper.work(wait_s)
        if self._has_trouble:
            self._raise_trouble()

    def flush(self) -> None:
        """Send everything, and wait until it is acknowledged. Raises why something could not be written."""
        self._send_all_until(0)
        if self._has_trouble:
            self._raise_trouble()

    def close(self) -> None:
        """Release the connections. What was not flushed is not sent."""
        self._is_closed = self._has_trouble = True
        self._shipper.close()

    # -- inside ------------------------------------------------------------------------------------

    def _look_up(self, name: str) -> _TopicLanes:
        topic = self._cluster.topic(name, create=True)
        lanes = self._topics.get(name)
        if lanes is None:
            lanes = self._topics[name] = _TopicLanes(topic)
        else:
            lanes.learn(topic)
        return lanes

    def _new_lane(self, lanes: _TopicLanes, partition: int) -> Lane:
        if not 0 <= partition < lanes.partitions_count:
            raise ClientError(
                f"There is no partition {partition} in topic {lanes.topic.name}: "
                f"it has {lanes.partitions_count}, numbered from 0; give it more, or name no partition."
            )
        lane = lanes.by_partition[partition] = Lane(TopicPartition(lanes.topic.name, partition))
        return lane

    def _complete(self, lanes: _TopicLanes, lane: Lane) -> None:
        """A batch is full, and goes out as soon as fewer than so many are under way."""
        if not lane.complete(Deadline(self._delivery_timeout_s)):
            return
        self._shipper.watch(lane)
        if lane.key.partition == lanes.sticky.index:
            lanes.sticky.move_on(lanes.partitions_count)
        self._identify()
        self._shipper.work(0)

    def _send_all_until(self, unsettled_bytes: int) -> None:
        """Send what has gathered, and wait until no more than this is without an answer."""
        for lanes in self._topics.values():
            for lane in lanes.by_partition.values():
                if lane.complete(Deadline(self._delivery_timeout_s)):
                    self._shipper.watch(lane)
            lanes.sticky.move_on(lanes.partitions_count)
        self._identify()
        while self._unsettled_bytes > unsettled_bytes:
            self._shipper.work(_WAIT_S)

    def _settled(self, delivery: Delivery) -> None:
        self._unsettled_bytes -= delivery.size_bytes
        if delivery.error is not None:
            self._failure = self._failure or delivery.error
            self._has_trouble = True
        if self._on_delivery is not None:
            self._on_delivery(delivery)

    def _raise_trouble(self) -> None:
        """Each failure once; what makes the producer unusable, every time."""
        self._has_trouble = self._is_closed or self._shipper.is_broken
        if self._failure is not None:
            failure, self._failure = self._failure, None
            raise failure
        if self._is_closed:
            raise ProducerClosed("The producer is closed; open another.")
        if self._shipper.is_broken:
            raise ProducerClosed(
                "The producer gave up records that the cluster may have, and cannot go on; open another, and "
                "compare what was written."
            )

    def _identify(self) -> None:
        """Get an identity before the first batch goes out, where the broker gives them."""
        if not self._wants_identity:
            return
        self._wants_identity = False
        if not self._cluster.anyone(Deadline(self._cluster.timeout_s)).versions.offers(InitProducerIdRequest):
            return
        request = InitProducerIdRequest(transactional_id=None, transaction_timeout_ms=60_000)
        answer = self._cluster.call(
            self._cluster.anyone,
            request,
            InitProducerIdResponse,
            codes=lambda response: [response.error_code],
        )
        code = ErrorCode.of(answer.error_code)
        if code is not ErrorCode.NONE:
            raise Refused(code, "an idempotent producer")
        self._shipper.identity = ProducerIdentity(answer.producer_id, answer.producer_epoch)
