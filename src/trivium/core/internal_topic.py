"""A compacted topic in which a coordinator keeps its state (``__consumer_offsets`` and its like).

The pattern of every coordinator: a command becomes records and a response; the records are appended here; the
response leaves when they are durable; a start replays the same records. One key always lies in one partition.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from trivium.core.cluster import Cluster
from trivium.core.commands.producers import Writer
from trivium.core.commands.topics import NewTopic
from trivium.core.faults import Fault, Refused
from trivium.core.kept_answers import kept
from trivium.core.ports import Done
from trivium.messages.schema import Message
from trivium.records.batch import HEADER_BYTES, build_batch, check_batches, iter_batches, iter_records
from trivium.records.compression import Compression
from trivium.records.control import read_end_txn
from trivium.records.record import Record

READ_BYTES = 1 << 20
"""How much of a partition is replayed at a time."""
RECORD_OVERHEAD_BYTES = 32
"""What a record may cost in a batch beside its key and its value: seven numbers of variable length."""
NO_PRODUCER_ID = -1
FIRST_SEQUENCE = 0

KeyedRecord = tuple[bytes, bytes | None]
"""Key and value; without a value the key is forgotten."""


class Stored(NamedTuple):
    """A record as it was found. With a producer id it counts only once that producer's transaction has."""

    offset: int
    producer_id: int
    key: bytes
    value: bytes | None


class TransactionEnd(NamedTuple):
    """Here a producer's transaction was decided."""

    producer_id: int
    committed: bool


class InternalTopic:
    def __init__(
        self,
        cluster: Cluster,
        name: str,
        new_topic_records: Callable[[NewTopic], list[tuple[Message, int]]],
        partitions_count: Callable[[], int],
        configs: Mapping[str, str],
        compression: Compression = Compression.NONE,
    ) -> None:
        self._cluster = cluster
        self.name = name
        self._new_topic_records = new_topic_records
        self._partitions_count = partitions_count
        self._configs = configs
        self._compression = compression

    @property
    def exists(self) -> bool:
        return self.name in self._cluster.image.topics.by_name

    def ensure(self, done: Done = lambda _fault: None) -> None:
        """Make the topic if it is not there; ``done`` when it is there for good. ``Refused`` if that is not
        possible now.
        """
        if self.exists:
            done(None)
            return
        new = NewTopic(self.name, self._partitions_count(), 1, self._configs)
        self._cluster.commit(self._new_topic_records(new), done)

    @property
    def partitions(self) -> int:
        return len(self._cluster.topic(self.name).partitions)

    def partition_of(self, key: str) -> int:
        """Where the state of a group or a transactional id lies: Java's hash of the text, as Kafka has it."""
        return java_hash(key) % self.partitions

    def check(self, partition: int) -> None:
        """``Refused`` if the partition cannot be used: it is not there, or its directory is offline."""
        self._cluster.partition(self.name, partition)

    def leader_epoch(self, partition: int) -> int:
        """How often the partition has changed hands, or may have lost records: its coordinator's epoch."""
        return self._cluster.partition(self.name, partition).leader_epoch

    def append(
        self, partition: int, records: Sequence[KeyedRecord], done: Done, writer: Writer | None = None
    ) -> None:
        """Write the records, all or none; ``done`` when they are durable. ``Refused`` if they cannot be
        written: then nothing has happened, and ``done`` is never called.

        With a ``writer`` they count once its transaction does.
        """
        self.write(partition, records, writer)
        self.when_durable(partition, done)

    def write(self, partition: int, records: Sequence[KeyedRecord], writer: Writer | None = None) -> None:
        """The same for somebody who asks later when they are durable."""
        live = self._cluster.partition(self.name, partition)
        data = self._batches(records, live.rules.max_message_bytes, writer)
        live.log.append(data, check_batches(data), live.leader_epoch)
        live.announce(len(data))

    def when_durable(self, partition: int, done: Done) -> None:
        """Call back when everything that the partition holds now has been synced."""
        live = self._cluster.partition(self.name, partition)
        if live.rules.durable:
            live.log.when_durable(done)
        else:
            done(None)

    def _batches(
        self, records: Sequence[KeyedRecord], size_bytes_max: int, writer: Writer | None
    ) -> bytearray:
        """As few batches as the topic's ``max.message.bytes`` allows."""
        data, now_ms = bytearray(), self._cluster.clock.wall_ms()
        batch: list[Record] = []
        room_bytes = size_bytes_max - HEADER_BYTES
        for key, value in records:
            needed_bytes = len(key) + len(value or b"") + RECORD_OVERHEAD_BYTES
            if needed_bytes > size_bytes_max - HEADER_BYTES:
                raise Refused(
                    Fault.RECORD_LIST_TOO_LARGE,
                    f"a record of {needed_bytes} bytes for {self.name}, whose max.message.bytes is "
                    f"{size_bytes_max}",
                )
            if needed_bytes > room_bytes:
                data += self._batch(batch, writer)
                batch, room_bytes = [], size_bytes_max - HEADER_BYTES
            batch.append(Record(len(batch), now_ms, key, value))
            room_bytes -= needed_bytes
        data += self._batch(batch, writer)
        return data

    def _batch(self, records: Sequence[Record], writer: Writer | None) -> bytes:
        if writer is None:
            return build_batch(records, compression=self._compression)
        return build_batch(
            records,
            compression=self._compression,
            producer_id=writer.producer_id,
            producer_epoch=writer.producer_epoch,
            # Nobody counts them: they come from the broker itself. Kafka's coordinator writes the same.
            base_sequence=FIRST_SEQUENCE,
            transactional=True,
        )

    def replay(self, partition: int) -> Iterator[Stored | TransactionEnd]:
        """Everything that the partition holds, oldest first, open transactions and all."""
        log = self._cluster.partition(self.name, partition).log
        offset = log.log_start_offset
        while offset < log.high_watermark:
            piece = log.read(offset, READ_BYTES, committed=False)
            if not piece.runs:
                break
            for run in piece.runs:
                yield from _entries(run)
            offset = piece.offset_next


def _entries(run: memoryview) -> Iterator[Stored | TransactionEnd]:
    for at, header in iter_batches(run):
        if header.is_control:
            marker = read_end_txn(run, at)
            if marker is not None:
                yield TransactionEnd(header.producer_id, marker.committed)
            continue
        producer_id = header.producer_id if header.is_transactional else NO_PRODUCER_ID
        for record in iter_records(run, at):
            if record.key is not None:
                yield Stored(record.offset, producer_id, record.key, record.value)


@kept  # every heartbeat asks which partition its group is in
def java_hash(text: str) -> int:
    """``String.hashCode`` of Java without its sign, as Kafka has it: the lowest number of all becomes 0."""
    value = 0
    data = text.encode("utf-16-be", "surrogatepass")
    for at in range(0, len(data), 2):
        value = (31 * value + (data[at] << 8 | data[at + 1])) & 0xFFFF_FFFF
    signed = value - (1 << 32) if value >> 31 else value
    return 0 if signed == -(1 << 31) else abs(signed)
