"""Fetch requests: one under way at each broker that leads a wanted partition, answers as they come.

A broker holds an answer back until there is something to say or ``max_wait_ms`` have passed, so each leader
has a connection of its own here. A ``Fetcher`` knows offsets and bytes; what is in them is for the reader.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple, cast

from trivium.client.cluster import Cluster
from trivium.client.connection import Connection, arrived
from trivium.client.deadline import Deadline
from trivium.client.errors import ClientError, ConnectionLost, TimedOut, Unreachable
from trivium.client.offsets import Isolation
from trivium.client.topology import TopicPartition
from trivium.messages.api.fetch import (
    AbortedTransaction,
    FetchPartition,
    FetchRequest,
    FetchResponse,
    FetchTopic,
    PartitionData,
)
from trivium.messages.errors import ErrorCode
from trivium.wire.buffer import Buffer

FETCH_BYTES_MAX: Final = 50 * 1024 * 1024
"""One answer: Kafka's ``fetch.max.bytes``."""

PARTITION_BYTES_MAX: Final = 1024 * 1024
"""Of one partition in an answer: Kafka's ``max.partition.fetch.bytes``. A larger batch comes nevertheless."""

MAX_WAIT_MS: Final = 500
"""How long a broker may wait for records: Kafka's ``fetch.max.wait.ms``."""


@dataclass(frozen=True, slots=True)
class FetchSettings:
    isolation: Isolation = Isolation.READ_COMMITTED
    max_wait_ms: int = MAX_WAIT_MS
    min_bytes: int = 1
    max_bytes: int = FETCH_BYTES_MAX
    partition_max_bytes: int = PARTITION_BYTES_MAX


class Fetched(NamedTuple):
    """What a broker said about one partition."""

    key: TopicPartition
    asked_offset: int
    code: ErrorCode
    high_watermark: int
    log_start_offset: int
    aborted: tuple[AbortedTransaction, ...]
    data: Buffer


@dataclass(slots=True)
class _Line:
    """A connection, and the offsets that are asked for on it; none while nothing is under way."""

    connection: Connection
    asked: dict[TopicPartition, int] = field(default_factory=dict)
    names: dict[bytes, str] = field(default_factory=dict)
    deadline: Deadline = field(default_factory=lambda: Deadline(0))


class Fetcher:
    def __init__(self, cluster: Cluster, settings: FetchSettings) -> None:
        self._cluster = cluster
        self._settings = settings
        self._lines: dict[int, _Line] = {}
        self._patience: dict[int, Deadline] = {}

    def close(self) -> None:
        for line in self._lines.values():
            line.connection.close()
        self._lines.clear()

    def ask(self, wanted: Mapping[int, Mapping[TopicPartition, int]]) -> None:
        """Ask each leader for its partitions from these offsets on, if nothing is under way to it."""
        for node_id, offsets in wanted.items():
            line = self._lines.get(node_id)
            if offsets and not (line and line.asked):
                try:
                    self._ask(node_id, offsets)
                except (ConnectionLost, TimedOut, Unreachable) as error:
                    self._fail(node_id, offsets, error)

    def receive(self, wait_s: float) -> list[Fetched]:
        """What has arrived, or arrives within ``wait_s``."""
        fetched: list[Fetched] = []
        busy = {node_id: line.connection for node_id, line in self._lines.items() if line.asked}
        overdue_s = min((self._lines[node_id].deadline.remaining_s for node_id in busy), default=wait_s)
        for node_id in arrived(busy, min(wait_s, overdue_s)):
            line = self._lines[node_id]
            try:
                answer = cast("FetchResponse", line.connection.receive(Deadline(self._cluster.timeout_s)))
            except (ConnectionLost, TimedOut) as error:
                self._fail(node_id, line.asked, error)
                continue
            self._patience.pop(node_id, None)
            asked, line.asked = line.asked, {}
            fetched += _read(answer, asked, line.names)
        self._drop_silent()
        return fetched

    @property
    def is_waiting(self) -> bool:
        """Whether anything is under way."""
        return any(line.asked for line in self._lines.values())

    def _ask(self, node_id: int, offsets: Mapping[TopicPartition, int]) -> None:
        deadline = Deadline(self._cluster.timeout_s)
        line = self._lines.get(node_id)
        if line is None:
            connection = self._cluster.new_connection(node_id, deadline)
            line = self._lines[node_id] = _Line(connection)
        by_topic: dict[str, list[FetchPartition]] = {}
        for key, offset in offsets.items():
            by_topic.setdefault(key.topic, []).append(
                FetchPartition(
                    partition=key.partition,
                    fetch_offset=offset,
                    partition_max_bytes=self._settings.partition_max_bytes,
                )
            )
        ids = {name: self._cluster.topic(name, deadline=deadline).topic_id for name in by_topic}
        request = FetchRequest(
            max_wait_ms=self._settings.max_wait_ms,
            min_bytes=self._settings.min_bytes,
            max_bytes=self._settings.max_bytes,
            isolation_level=self._settings.isolation,
            topics=[
                FetchTopic(topic=name, topic_id=ids[name], partitions=partitions)
                for name, partitions in by_topic.items()
            ],
        )
        line.connection.send(request, FetchResponse, deadline)
        line.asked = dict(offsets)
        line.deadline = Deadline(self._cluster.timeout_s + self._settings.max_wait_ms / 1000)
        line.names = {topic_id: name for name, topic_id in ids.items()}

    def _drop_silent(self) -> None:
        for node_id, line in list(self._lines.items()):
            if line.asked and line.deadline.has_passed:
                error = TimedOut(
                    f"{line.connection.address} does not answer in time; it is overloaded, or gone."
                )
                self._fail(node_id, line.asked, error)

    def _fail(self, node_id: int, keys: Iterable[TopicPartition], error: ClientError) -> None:
        """The leader may have moved, or come back: it is looked up again, but not for ever."""
        line = self._lines.pop(node_id, None)
        if line is not None:
            line.connection.close()
        if self._patience.setdefault(node_id, Deadline(self._cluster.timeout_s)).has_passed:
            raise error
        self._cluster.forget_leaders({key.topic for key in keys})


def _read(
    answer: FetchResponse, asked: Mapping[TopicPartition, int], names: Mapping[bytes, str]
) -> Iterator[Fetched]:
    if answer.error_code:
        code = ErrorCode.of(answer.error_code)
        for key, offset in asked.items():
            yield Fetched(key, offset, code, -1, -1, (), b"")
        return
    for topic in answer.responses:
        name = topic.topic or names.get(topic.topic_id, "")
        for partition in topic.partitions:
            key = TopicPartition(name, partition.partition_index)
            if key in asked:
                yield _fetched(key, asked[key], partition)


def _fetched(key: TopicPartition, offset: int, partition: PartitionData) -> Fetched:
    return Fetched(
        key,
        offset,
        ErrorCode.of(partition.error_code),
        partition.high_watermark,
        partition.log_start_offset,
        tuple(partition.aborted_transactions or ()),
        partition.records or b"",
    )
