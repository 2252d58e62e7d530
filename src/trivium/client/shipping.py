"""Batches over the wire: which go to which broker, several requests under way, and what the answers mean.

One connection to each broker that leads something, up to ``in_flight_max`` requests on it, each with at most
one batch of a partition. A ``Shipper`` moves batches through their lanes and reports each one once:
acknowledged, or given up with the reason. Which records are in a batch is the producer's business.
"""

import time
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Final, cast

from trivium.client.cluster import Cluster
from trivium.client.connection import Connection, arrived
from trivium.client.deadline import Deadline
from trivium.client.delivery import ACKS_NONE, UNKNOWN_OFFSET, Delivery, ProducerIdentity
from trivium.client.errors import ClientError, ConnectionLost, Refused, TimedOut, Unreachable
from trivium.client.lane import Batch, Lane
from trivium.client.topology import TopicPartition
from trivium.client.waiting import Waiting
from trivium.messages.api.produce import (
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
)
from trivium.messages.errors import ErrorCode
from trivium.records.batch import NO_SEQUENCE, build_batch, stamp_producer
from trivium.records.compression import Compression

IN_FLIGHT_MAX: Final = 5
"""Requests under way to one broker. Brokers remember the last five batches of a producer, no more."""

REQUEST_BYTES_MAX: Final = 1 << 20
"""Batches of several partitions share a request up to this size, as Kafka's ``max.request.size`` has it."""


@dataclass(slots=True)
class _Shipment:
    """One request: a batch of each partition in it, and the ids under which it names their topics."""

    batches: dict[TopicPartition, Batch]
    topic_ids: dict[str, bytes]
    deadline: Deadline


@dataclass(slots=True)
class _Line:
    """A connection, and what is under way on it."""

    connection: Connection
    shipments: deque[_Shipment] = field(default_factory=deque)


class Shipper:
    def __init__(
        self,
        cluster: Cluster,
        *,
        acks: int,
        compression: Compression,
        in_flight_max: int,
        report: Callable[[Delivery], None],
        waiting: Waiting,
    ) -> None:
        self.identity = ProducerIdentity()
        self.transactional_id: str | None = None
        """Of the transaction that everything sent from now on is a part of."""
        self.has_sent = False
        """Whether a broker may have something from here."""
        self.is_broken = False
        """Whether track of the numbers is lost: nothing more can be sent under this identity."""

        self._cluster = cluster
        self._acks = acks
        self._compression = compression
        self._in_flight_max = in_flight_max
        self._report = report
        self._waiting = waiting
        self._lanes: dict[TopicPartition, Lane] = {}
        self._lines: dict[int, _Line] = {}
        self._topic_ids: dict[str, bytes] = {}

    def watch(self, lane: Lane) -> None:
        """The lane has a complete batch."""
        self._lanes[lane.key] = lane

    def close(self) -> None:
        for line in self._lines.values():
            self._cluster.give_back(line.connection)
        self._lines.clear()

    def work(self, wait_s: float) -> None:
        """Send what can be sent, and take the answers that are there, or come within ``wait_s``."""
        self._send_all()
        waiting_for_answers = self._receive_all(wait_s)
        if not waiting_for_answers and self._lanes:
            # Nothing is under way, so whatever is left pauses after a failure.
            time.sleep(min(wait_s, min(lane.pause_left_s() for lane in self._lanes.values())))
        self._expire()

    # -- out ---------------------------------------------------------------------------------------

    def _send_all(self) -> None:
        for node_id, lanes in self._ready_by_node().items():
            try:
                self._send_to(node_id, lanes)
            except (ConnectionLost, Unreachable, TimedOut) as error:
                self._waiting.failed(error)
                self._drop(node_id)
                self._cluster.forget_leaders({lane.key.topic for lane in lanes})
                for lane in lanes:
                    lane.pause()

    def _ready_by_node(self) -> dict[int, list[Lane]]:
        ready: dict[int, list[Lane]] = {}
        for lane in [lane for lane in self._lanes.values() if lane.can_send()]:
            try:
                leader_id = self._cluster.leader(lane.key)
                self._topic_ids[lane.key.topic] = self._cluster.topic(lane.key.topic).topic_id
                ready.setdefault(leader_id, []).append(lane)
            except Refused as refusal:
                if refusal.code is ErrorCode.LEADER_NOT_AVAILABLE:
                    lane.pause()
                    self._cluster.forget_leaders([lane.key.topic])
                else:
                    self._give_up_lane(lane, refusal)
            except (ConnectionLost, Unreachable, TimedOut) as error:
                self._waiting.failed(error)
                lane.pause()
            except ClientError as error:  # A topic made anew may have fewer partitions.
                self._give_up_lane(lane, error)
        return ready

    def _send_to(self, node_id: int, lanes: Iterable[Lane]) -> None:
        line = self._lines.get(node_id)
        if line is None:
            deadline = Deadline(self._cluster.timeout_s)
            line = self._lines[node_id] = _Line(self._cluster.new_connection(node_id, deadline))
        remaining = list(lanes)
        while remaining and len(line.shipments) < self._in_flight_max:
            taken = _take(remaining)
            encoded = self._encode_all(taken)
            remaining = [lane for lane in remaining if lane.can_send()]
            if not encoded:
                continue
            deadline = Deadline(self._cluster.timeout_s)
            topic_ids = {key.topic: self._topic_ids[key.topic] for key in taken}
            shipment = _Shipment(taken, topic_ids, deadline)
            line.shipments.append(shipment)
            answer = None if self._acks == ACKS_NONE else ProduceResponse
            self.has_sent = True
            line.connection.send(self._request(encoded, topic_ids), answer, deadline)
            if answer is None:
                line.shipments.pop()
                for key, batch in taken.items():
                    self._acknowledge(key, batch, UNKNOWN_OFFSET)

    def _encode_all(self, batches: dict[TopicPartition, Batch]) -> dict[TopicPartition, bytes]:
        """The bytes of each batch; one that has no bytes is refused and taken out."""
        encoded = {}
        for key, batch in list(batches.items()):
            try:
                encoded[key] = self._encode(batch)
            except (ValueError, OverflowError) as error:  # ``EncodeError`` is one; so is half a character.
                del batches[key]
                self._refuse(key, batch, ClientError(f"Records for {key} cannot be sent: {error}."))
        return encoded

    def _request(self, encoded: dict[TopicPartition, bytes], topic_ids: dict[str, bytes]) -> ProduceRequest:
        by_topic: dict[str, list[PartitionProduceData]] = {}
        for key, data in encoded.items():
            partition = PartitionProduceData(index=key.partition, records=data)
            by_topic.setdefault(key.topic, []).append(partition)
        return ProduceRequest(
            transactional_id=self.transactional_id,
            acks=self._acks,
            timeout_ms=int(self._cluster.timeout_s * 1000),
            topic_data=[
                TopicProduceData(name=name, topic_id=topic_ids[name], partition_data=partitions)
                for name, partitions in by_topic.items()
            ],
        )

    def _encode(self, batch: Batch) -> bytes:
        sequence = batch.sequence if self.identity.is_idempotent else None
        sequence = NO_SEQUENCE if sequence is None else sequence
        is_transactional = self.transactional_id is not None
        if batch.encoded is not None:
            stamped = bytearray(batch.encoded)
            stamp_producer(stamped, *self.identity, sequence, transactional=is_transactional)
            return bytes(stamped)
        return build_batch(
            batch.records,
            compression=self._compression,
            producer_id=self.identity.producer_id,
            producer_epoch=self.identity.producer_epoch,
            base_sequence=sequence,
            transactional=is_transactional,
        )

    # -- back --------------------------------------------------------------------------------------

    def _receive_all(self, wait_s: float) -> bool:
        """Take what has arrived; whether there was anything to wait for."""
        busy = {node_id: line.connection for node_id, line in self._lines.items() if line.shipments}
        for node_id in arrived(busy, wait_s):
            line = self._lines[node_id]
            try:
                while line.shipments and line.connection.wait(0):
                    answer = line.connection.receive(Deadline(self._cluster.timeout_s))
                    self._settle(line.shipments.popleft(), cast("ProduceResponse", answer))
            except (ConnectionLost, TimedOut):
                self._drop(node_id)
        return bool(busy)

    def _settle(self, shipment: _Shipment, answer: ProduceResponse) -> None:
        names = {topic_id: name for name, topic_id in shipment.topic_ids.items()}
        said = {
            TopicPartition(topic.name or names.get(topic.topic_id, ""), each.index): each
            for topic in answer.responses
            for each in topic.partition_responses
        }
        for key, batch in shipment.batches.items():
            if key in said:
                self._settle_batch(key, batch, said[key])
            else:
                self._put_back(key, batch)

    def _settle_batch(self, key: TopicPartition, batch: Batch, said: PartitionProduceResponse) -> None:
        code = ErrorCode.of(said.error_code)
        lane = self._lanes[key]
        if code in (ErrorCode.NONE, ErrorCode.DUPLICATE_SEQUENCE_NUMBER):
            self._acknowledge(key, batch, said.base_offset)
        elif code.is_retriable or (code is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER and lane.is_mending):
            batch.refusal = code
            self._put_back(key, batch)
        else:
            # Refused now, but perhaps written by an earlier attempt whose answer was lost: nobody can tell.
            if code in _LOST_TRACK or batch.attempts > 1:
                self._lose_track()
            self._refuse(key, batch, Refused(code, f"topic {key.topic}", said.error_message))

    def _acknowledge(self, key: TopicPartition, batch: Batch, base_offset: int) -> None:
        lane = self._lanes[key]
        lane.acknowledge(batch)
        self._waiting.succeeded()
        self._report(_delivery(key, batch, base_offset, None))
        self._forget_if_done(lane)

    def _refuse(self, key: TopicPartition, batch: Batch, error: ClientError) -> None:
        lane = self._lanes[key]
        lane.refuse(batch)
        self._report(_delivery(key, batch, UNKNOWN_OFFSET, error))
        self._forget_if_done(lane)

    # -- failures ----------------------------------------------------------------------------------

    def _put_back(self, key: TopicPartition, batch: Batch) -> None:
        self._lanes[key].put_back(batch)
        self._cluster.forget_leaders([key.topic])

    def _drop(self, node_id: int) -> None:
        """A connection is gone: nobody knows what became of the requests on it, so they are sent again."""
        line = self._lines.pop(node_id, None)
        if line is None:
            return
        line.connection.close()
        for shipment in line.shipments:
            for key, batch in shipment.batches.items():
                self._put_back(key, batch)

    def _expire(self) -> None:
        """Drop brokers that fell silent, and give up lanes whose oldest batch has had its time."""
        for node_id, line in list(self._lines.items()):
            if line.shipments and line.shipments[0].deadline.has_passed:
                self._drop(node_id)
        for lane in list(self._lanes.values()):
            oldest = next(iter(lane.in_flight or lane.waiting))
            if oldest.deadline.has_passed:
                if oldest.attempts:
                    self._lose_track()
                self._give_up_lane(lane, TimedOut(_why_in_vain(lane.key, oldest.refusal)))

    def _lose_track(self) -> None:
        """Nobody knows whether the broker has a batch: the numbers behind it would mean nothing."""
        self.is_broken = self.is_broken or self.identity.is_idempotent

    def _give_up_lane(self, lane: Lane, error: ClientError) -> None:
        self._waiting.given_up()
        for line in self._lines.values():
            for shipment in line.shipments:
                shipment.batches.pop(lane.key, None)
        for batch in lane.abandon():
            self._report(_delivery(lane.key, batch, UNKNOWN_OFFSET, error))
        self._lanes.pop(lane.key, None)

    def _forget_if_done(self, lane: Lane) -> None:
        if lane.is_settled:
            del self._lanes[lane.key]


_LOST_TRACK: Final = frozenset(
    {
        ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER,
        ErrorCode.INVALID_PRODUCER_EPOCH,
        ErrorCode.PRODUCER_FENCED,
        ErrorCode.UNKNOWN_PRODUCER_ID,
        ErrorCode.INVALID_PRODUCER_ID_MAPPING,
    }
)
"""After these the broker and the producer disagree about what was written."""


def _delivery(key: TopicPartition, batch: Batch, base_offset: int, error: ClientError | None) -> Delivery:
    return Delivery(key, batch.records_count, batch.size_bytes, base_offset, error)


def _why_in_vain(key: TopicPartition, refusal: ErrorCode | None) -> str:
    said = "See whether all brokers are up." if refusal is None else Refused(refusal, f"partition {key}")
    return f"Records for {key} were not acknowledged in time. {said}"


def _take(lanes: list[Lane]) -> dict[TopicPartition, Batch]:
    """One batch from each lane, as long as they fit into one request; at least one."""
    taken: dict[TopicPartition, Batch] = {}
    size_bytes = 0
    for lane in lanes:
        if taken and size_bytes + lane.waiting[0].size_bytes > REQUEST_BYTES_MAX:
            break
        batch = lane.take()
        taken[lane.key] = batch
        size_bytes += batch.size_bytes
    return taken
