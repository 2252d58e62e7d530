"""Records from a broker, Trivium's or Apache Kafka's.

Connections are kept for the life of a process: Spark uses its Python workers again, and a task that finds
one open has its first records a few milliseconds sooner. The next fetch is under way before the bytes of
the last are looked at.
"""

import logging
from collections.abc import Iterator, Mapping
from typing import Final

from trivium.client.cluster import NEW_TOPIC_PATIENCE_S, Cluster
from trivium.client.deadline import Deadline, attempts
from trivium.client.errors import ClientError, ConnectionLost, Refused, TimedOut, Unreachable, settled
from trivium.client.fetching import Fetched, Fetcher, FetchSettings
from trivium.client.offsets import EARLIEST, LATEST, Isolation, list_offsets
from trivium.client.topology import Topic, TopicPartition, topic_of
from trivium.messages.errors import ErrorCode
from trivium.spark.connector.bounds import fell_back, removed
from trivium.spark.connector.errors import MadeAnew, NothingArrives
from trivium.spark.connector.kafka_options import KafkaOptions
from trivium.spark.connector.origin import Piece, make_piece
from trivium.spark.connector.ranges import OffsetRange

PAUSE_S: Final = 0.05
"""Between looks at a partition that has no leader, or not yet the records that it should have."""

_MISSING: Final = (ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ErrorCode.UNKNOWN_TOPIC_ID)
"""To Kafka these may pass; the client has waited for a topic just made before it says so."""

_log = logging.getLogger(__name__)


class BrokerOrigin:
    def __init__(
        self,
        kafka: KafkaOptions,
        *,
        fail_on_data_loss: bool = True,
        poll_timeout_s: float = 120.0,
        patience_s: float = 0.0,
    ) -> None:
        assert kafka.bootstrap is not None
        self._kafka = kafka
        self._fail_on_data_loss = fail_on_data_loss
        self._poll_timeout_s = poll_timeout_s
        self.cluster = Cluster.connect(
            kafka.bootstrap,
            client_id=kafka.client_id,
            timeout_s=kafka.timeout_s,
            security=kafka.security,
            patience_s=patience_s,
        )
        self._fetcher = Fetcher(self.cluster, _fetch_settings(kafka))
        self.topic_ids: dict[str, bytes] = {}
        """Of the topics whose partitions were asked for, as they were last: one made anew has another."""
        self._bell: Fetcher | None = None
        """Asks for the first record that comes, not for what is in it."""

    def close(self) -> None:
        self._fetcher.close()
        if self._bell is not None:
            self._bell.close()
        self.cluster.close()

    # -- what there is ---------------------------------------------------------------------------

    def topic_names(self) -> list[str]:
        return [topic.name for topic in self.cluster.topics().values() if not topic.is_internal]

    def partitions(self, topic: str) -> list[TopicPartition]:
        found = self._described(topic)
        self.topic_ids[topic] = found.topic_id
        return found.partition_keys()

    def _described(self, topic: str) -> Topic:
        answer = self.cluster.metadata([topic])
        for described in answer.topics:
            if described.name == topic and described.error_code == ErrorCode.NONE:
                return topic_of(described)
        # A topic just made, maybe in the place of another: that is waited for, and not what was known before.
        self.cluster.forget_leaders([topic])
        return self.cluster.topic(topic)

    def find_offsets(self, timestamps: Mapping[TopicPartition, int]) -> dict[TopicPartition, int]:
        if not timestamps:
            return {}
        found = list_offsets(self.cluster, timestamps, isolation=self._kafka.isolation)
        return {key: settled(each).offset for key, each in found.items()}

    def await_more(self, ends: Mapping[TopicPartition, int], wait_ms: int) -> bool:
        """Whether a partition has more than up to its end here, or has changed; after so long at most."""
        if self._bell is None:
            settings = FetchSettings(
                isolation=self._kafka.isolation, max_wait_ms=wait_ms, max_bytes=1, partition_max_bytes=1
            )
            self._bell = Fetcher(self.cluster, settings)
        by_leader: dict[int, dict[TopicPartition, int]] = {}
        for key, end in ends.items():
            by_leader.setdefault(self.cluster.leader(key), {})[key] = end
        self._bell.ask(by_leader)
        patience = Deadline(self.cluster.timeout_s)
        while self._bell.is_waiting:
            if any(
                each.data or each.code is not ErrorCode.NONE
                for each in self._bell.receive(patience.remaining_s)
            ):
                if self._bell.is_waiting:
                    self._bell.close()  # Other leaders have nothing yet, and would answer the next question.
                return True
        return False

    # -- records ---------------------------------------------------------------------------------

    def pieces(self, wanted: OffsetRange) -> Iterator[Piece]:
        try:
            yield from self._pieces(wanted)
        except MadeAnew as lost:
            if self._fail_on_data_loss:
                raise
            _log.warning("%s", lost)
        finally:
            if self._fetcher.is_waiting:
                self._fetcher.close()  # The next reader would wait for an answer that it cannot use.

    def _pieces(self, wanted: OffsetRange) -> Iterator[Piece]:
        key, position = wanted.key, wanted.offset_start
        patience = Deadline(self._poll_timeout_s)
        self._notice_growth(key)
        self._ask(wanted, position, patience)
        while position < wanted.offset_end:
            fetched = self._receive(key, position, patience)
            if fetched is None or fetched.code.is_retriable:
                self._pause(wanted, position, patience)
                self._ask(wanted, position, patience)
                continue
            if fetched.code is ErrorCode.OFFSET_OUT_OF_RANGE:
                position = self._skip_lost(wanted, position)
                self._ask(wanted, position, patience)
                continue
            if fetched.code is not ErrorCode.NONE:
                raise Refused(fetched.code, f"partition {key}")
            is_committed_only = self._kafka.isolation is Isolation.READ_COMMITTED
            piece = make_piece(wanted, fetched.data, position, fetched.aborted if is_committed_only else ())
            if piece.batches:
                patience = Deadline(self._poll_timeout_s)
            else:
                self._pause(wanted, position, patience)
            position = max(position, piece.offset_end)
            if position < wanted.offset_end:
                self._ask(wanted, position, patience)
            yield piece

    def _recognise(self, wanted: OffsetRange) -> None:
        """Refuse a topic that is another one than the range was planned for: what it has under these offsets
        comes in a range of its own. One that was made anew takes a moment to be known everywhere."""
        for _ in attempts(Deadline(NEW_TOPIC_PATIENCE_S)):
            if wanted.topic_id in ("", self.cluster.topic(wanted.topic).topic_id.hex()):
                return
            self.cluster.forget_leaders([wanted.topic])
        raise MadeAnew(f"Topic {wanted.topic} was deleted and made anew before {wanted} was read.")

    def _notice_growth(self, key: TopicPartition) -> None:
        """The driver may have planned a partition that is younger than what is known of its topic here."""
        known = self.cluster.topology.topics.get(key.topic)
        if known is not None and key.partition >= len(known.partitions):
            self.cluster.forget_leaders([key.topic])

    def _ask(self, wanted: OffsetRange, position: int, patience: Deadline) -> None:
        """Ask the leader, as long as there may be one."""
        key = wanted.key
        while True:
            try:
                self._recognise(wanted)
                self._fetcher.ask({self.cluster.leader(key): {key: position}})
            except ClientError as error:
                if not may_pass(error) or patience.has_passed:
                    raise
                self.cluster.forget_leaders([key.topic])
                patience.within(PAUSE_S).sleep()
            else:
                if self._fetcher.is_waiting:
                    return

    def _receive(self, key: TopicPartition, position: int, patience: Deadline) -> Fetched | None:
        """The answer, or None when the broker went away and must be asked again."""
        while self._fetcher.is_waiting:
            try:
                for fetched in self._fetcher.receive(patience.remaining_s):
                    if fetched.key == key and fetched.asked_offset == position:
                        return fetched
            except ClientError as error:
                if not may_pass(error) or patience.has_passed:
                    raise
                _log.warning("%s", error)
        return None

    def _pause(self, wanted: OffsetRange, position: int, patience: Deadline) -> None:
        if patience.has_passed:
            raise NothingArrives(
                f"Topic {wanted.topic}, partition {wanted.partition} gives nothing from offset {position} "
                f"on, of {wanted.offset_end} that it should have; see whether its broker is well, or raise "
                "kafkaConsumer.pollTimeoutMs."
            )
        self.cluster.forget_leaders([wanted.topic])
        patience.within(PAUSE_S).sleep()

    def _skip_lost(self, wanted: OffsetRange, position: int) -> int:
        """Where to go on when the partition does not have an offset (any more)."""
        key = wanted.key
        begin = self.find_offsets({key: EARLIEST})[key]
        end = self.find_offsets({key: LATEST})[key]
        if begin <= position <= end:
            return position
        lost = removed(key, position, begin) if position < begin else fell_back(key, position, end)
        if self._fail_on_data_loss:
            raise lost
        _log.warning("%s", lost)
        return min(begin, wanted.offset_end) if position < begin else wanted.offset_end


def may_pass(error: ClientError) -> bool:
    """Whether it is the error of a broker that may come back."""
    if isinstance(error, Refused):
        return error.is_retriable and error.code not in _MISSING
    return isinstance(error, Unreachable | ConnectionLost | TimedOut)


_kept: dict[tuple[KafkaOptions, bool, float], BrokerOrigin] = {}


def kept_origin(
    kafka: KafkaOptions, *, fail_on_data_loss: bool, poll_timeout_s: float, patience_s: float = 0.0
) -> BrokerOrigin:
    """The origin that this process has for these settings, with its open connections. Where it has none, a
    broker that is away is waited for so long."""
    key = (kafka, fail_on_data_loss, poll_timeout_s)
    if key not in _kept:
        _kept[key] = BrokerOrigin(
            kafka,
            fail_on_data_loss=fail_on_data_loss,
            poll_timeout_s=poll_timeout_s,
            patience_s=patience_s,
        )
    return _kept[key]


def forget_origins() -> None:
    """Close what ``kept_origin`` keeps."""
    while _kept:
        _kept.popitem()[1].close()


def _fetch_settings(kafka: KafkaOptions) -> FetchSettings:
    return FetchSettings(
        isolation=kafka.isolation,
        max_wait_ms=kafka.max_wait_ms,
        min_bytes=kafka.fetch_bytes_min,
        max_bytes=kafka.fetch_bytes_max,
        partition_max_bytes=kafka.partition_fetch_bytes,
    )
