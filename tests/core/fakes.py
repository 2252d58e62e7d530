"""A world for the core without a disk or a clock: logs in memory, and a time that moves when a test says so.

``World`` puts the core together as a node does, with the real log's bookkeeping of producers. Syncs are
done at once, unless ``storage.holds_syncs`` keeps them back until ``storage.sync()``.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import count
from typing import Any, TypeVar

from trivium.core.access import Access
from trivium.core.caller import Caller
from trivium.core.cluster import Cluster
from trivium.core.commands.command import Command, Routes
from trivium.core.commands.topics import NewTopic
from trivium.core.faults import Fault, Refused
from trivium.core.features import GROUP_LEVEL, GROUP_VERSION, Features
from trivium.core.metadata import MetadataImage
from trivium.core.ports import Aborted, Appended, At, DirectoryFacts, Done, Piece, ProducerFacts
from trivium.core.settings import Settings
from trivium.core.timers import Timers
from trivium.core.topic_creation import TopicCreation
from trivium.log.producers import ProducerStates
from trivium.log.replay import track
from trivium.log.txn_index import AbortedTransaction
from trivium.records.batch import BatchHeader, check_batch, iter_records, stamp

NOW_MS = 1_750_000_000_000
NODE_ID = 1
R = TypeVar("R")


class FakeClock:
    """Stands still until ``advance``. ``jump`` moves the wall clock alone (promise R10)."""

    def __init__(self, wall_ms: int = NOW_MS) -> None:
        self._wall_ms = wall_ms
        self._monotonic_ms = 0

    def wall_ms(self) -> int:
        return self._wall_ms

    def monotonic_ms(self) -> int:
        return self._monotonic_ms

    def advance(self, milliseconds: int) -> None:
        self._wall_ms += milliseconds
        self._monotonic_ms += milliseconds

    def jump(self, milliseconds: int) -> None:
        self._wall_ms += milliseconds


class MemoryLog:
    """One partition's records in a list. ``fault`` makes every append and read be refused with it."""

    def __init__(self, storage: "MemoryStorage") -> None:
        self._storage = storage
        self._batches: list[tuple[BatchHeader, bytes]] = []
        self._aborted: list[AbortedTransaction] = []
        self._epochs: list[tuple[int, int]] = []
        self._producers = ProducerStates()
        self.log_start_offset = 0
        self.log_end_offset = 0
        self.fault: Fault | None = None
        self.reads = 0
        self.far: set[int] = set()
        """Offsets whose records are not in memory."""
        self.summoned: list[Callable[[], None]] = []

    @property
    def high_watermark(self) -> int:
        return self.log_end_offset

    @property
    def last_stable_offset(self) -> int:
        unstable = self._producers.first_unstable_offset(self.log_end_offset)
        return self.log_end_offset if unstable is None else unstable

    @property
    def size_bytes(self) -> int:
        return sum(len(data) for _, data in self._batches)

    @property
    def segment_offsets(self) -> Sequence[int]:
        """Every batch that can still be read is a segment of its own."""
        kept = [
            header.base_offset for header, _ in self._batches if header.last_offset >= self.log_start_offset
        ]
        return [*kept, self.log_end_offset]

    def append(
        self, data: bytearray | memoryview, batches: Sequence[tuple[int, BatchHeader]], leader_epoch: int
    ) -> Appended:
        self._check()
        base_offset = self.log_end_offset
        if not self._epochs or self._epochs[-1][0] != leader_epoch:
            self._epochs.append((leader_epoch, base_offset))
        for at, _ in batches:
            stamp(data, at, self.log_end_offset, leader_epoch)
            header = check_batch(data, at)
            self._batches.append((header, bytes(memoryview(data)[at : at + header.size_bytes])))
            self.log_end_offset = header.offset_end
            if header.producer_id >= 0:
                completed = track(self._producers, header, memoryview(self._batches[-1][1]))
                if completed is not None and completed.aborted:
                    self._aborted.append(completed.entry)
        return Appended(base_offset, self.log_end_offset - 1)

    def when_durable(self, done: Done) -> None:
        self._storage.wait_for_sync(done)

    def summon(self, offset: int, max_bytes: int, near: Callable[[], None]) -> bool:
        if offset not in self.far:
            return False
        self.far.remove(offset)
        self.summoned.append(near)
        return True

    def read(self, offset: int, max_bytes: int, *, committed: bool) -> Piece:
        self._check()
        self.reads += 1
        if not self.log_start_offset <= offset <= self.log_end_offset:
            raise Refused(Fault.OFFSET_OUT_OF_RANGE)
        end = self.last_stable_offset if committed else self.high_watermark
        runs: list[memoryview] = []
        taken, offset_next = 0, offset
        for header, data in self._batches:
            if header.last_offset < offset:
                continue
            if header.base_offset >= end or (runs and taken + len(data) > max_bytes):
                break
            runs.append(memoryview(data))
            taken += len(data)
            offset_next = header.offset_end
        aborted = [
            Aborted(each.producer_id, each.first_offset)
            for each in self._aborted
            if committed and each.last_offset >= offset and each.first_offset < offset_next
        ]
        return Piece(runs, offset_next, aborted, taken)

    def first_at_or_after(self, timestamp_ms: int) -> At | None:
        for header, data in self._batches:
            for record in iter_records(data):
                if record.timestamp >= timestamp_ms and record.offset >= self.log_start_offset:
                    return At(record.offset, record.timestamp, header.leader_epoch)
        return None

    def latest(self) -> At | None:
        found: At | None = None
        for header, data in self._batches:
            for record in iter_records(data):
                if found is None or record.timestamp > found.timestamp_ms:
                    found = At(record.offset, record.timestamp, header.leader_epoch)
        return found

    def epoch_end(self, leader_epoch: int) -> tuple[int, int]:
        ends = [start for _, start in self._epochs[1:]] + [self.log_end_offset]
        known = [(epoch, end) for (epoch, _), end in zip(self._epochs, ends, strict=True)]
        if not known or not 0 <= leader_epoch <= known[-1][0]:
            return -1, -1
        return max((each for each in known if each[0] <= leader_epoch), default=(leader_epoch, 0))

    def epoch_at(self, offset: int) -> int:
        return max((epoch for epoch, start in self._epochs if start <= offset), default=-1)

    def producer(self, producer_id: int) -> ProducerFacts | None:
        return self._producers.get(producer_id)

    def producers(self) -> Iterable[ProducerFacts]:
        return self._producers.states

    def delete_before(self, offset: int, done: Done) -> None:
        if offset > self.high_watermark:
            raise Refused(Fault.OFFSET_OUT_OF_RANGE)
        self.log_start_offset = max(self.log_start_offset, offset)
        self._storage.wait_for_sync(done)

    def left_after(self, offset_end: int) -> "MemoryLog":
        """The log as a crash leaves it that loses every batch from ``offset_end`` on."""
        left = MemoryLog(self._storage)
        for header, data in self._batches:
            if header.base_offset < offset_end:
                copy = bytearray(data)
                left.append(copy, [(0, header)], header.leader_epoch)
        return left

    def records(self) -> list[tuple[int, bytes | None, bytes | None]]:
        """Offset, key and value of everything that was written, control records left out."""
        return [
            (record.offset, record.key, record.value)
            for header, data in self._batches
            if not header.is_control
            for record in iter_records(data)
        ]

    def _check(self) -> None:
        if self.fault is not None:
            raise Refused(self.fault)


class MemoryStorage:
    """All logs of a node, in a dictionary."""

    def __init__(self) -> None:
        self.logs: dict[tuple[str, int], MemoryLog] = {}
        self.configured: list[str] = []
        self.moved: list[tuple[str, int, str]] = []
        self.offline: set[tuple[str, int]] = set()
        self.holds_syncs = False
        self._waiting: list[Done] = []

    def log(self, topic: str, partition: int) -> MemoryLog:
        return self.logs.setdefault((topic, partition), MemoryLog(self))

    def is_offline(self, topic: str, partition: int) -> bool:
        return (topic, partition) in self.offline

    def create(self, topic: str, partition: int, topic_id: bytes) -> None:
        self.logs[topic, partition] = MemoryLog(self)

    def delete(self, topic: str, partition: int) -> None:
        self.logs.pop((topic, partition), None)

    def configure(self, topic: str) -> None:
        self.configured.append(topic)

    def move(self, topic: str, partition: int, path: str, done: Done) -> None:
        self.moved.append((topic, partition, path))
        done(None)

    def directories(self) -> Sequence[DirectoryFacts]:
        sizes = {key: log.size_bytes for key, log in self.logs.items()}
        return [DirectoryFacts("/data", bytes(15) + b"\x07", None, 1 << 40, 1 << 39, sizes)]

    def wait_for_sync(self, done: Done) -> None:
        if self.holds_syncs:
            self._waiting.append(done)
        else:
            done(None)

    def sync(self, fault: Fault | None = None) -> None:
        """Everybody who waits learns that all is durable, or why it never will be."""
        waiting, self._waiting = self._waiting, []
        for done in waiting:
            done(fault)


class World:
    """A core that is put together for a test. ``add`` the nouns that the test is about."""

    def __init__(self, static: Mapping[str, str] | None = None) -> None:
        self.clock = FakeClock()
        self.timers = Timers(self.clock)
        self.storage = MemoryStorage()
        self.image = MetadataImage()
        self.access = Access()
        self.settings = Settings(dict(static or {}), self.image, NODE_ID)
        self.cluster = Cluster(
            node_id=NODE_ID,
            cluster_id="test-cluster",
            image=self.image,
            metadata_log=self.storage.log("__cluster_metadata", 0),
            storage=self.storage,
            clock=self.clock,
            rules_for=self.settings.rules,
        )
        ids = count(1)
        self.topics = TopicCreation(
            self.cluster, self.settings, self.access, lambda: next(ids).to_bytes(16, "big"), self.timers
        )
        self.image.features.levels[GROUP_VERSION] = GROUP_LEVEL
        # Every Kafka client asks for the levels of features before anything else.
        self.routes: Routes = dict(Features(self.cluster).routes)
        self._soon: list[Callable[[], None]] = []

    def soon(self, call: Callable[[], None]) -> None:
        """Everything that a test does before the next ``turn`` has come in together."""
        self._soon.append(call)

    def turn(self) -> None:
        while self._soon:
            calls, self._soon = self._soon, []
            for call in calls:
                call()

    def add(self, routes: Routes) -> None:
        self.routes.update(routes)

    def create_topic(self, name: str, partitions: int = 1, **configs: str) -> bytes:
        """Make a topic; ``configs`` with underscores for dots. Returns its id."""
        settings: dict[str, str | None] = {key.replace("_", "."): value for key, value in configs.items()}
        self.cluster.commit(
            self.topics.new_topic_records(NewTopic(name, partitions, 1, settings)), lambda _fault: None
        )
        return self.image.topics.by_name[name].topic_id

    def log(self, topic: str, partition: int = 0) -> MemoryLog:
        return self.storage.log(topic, partition)

    def execute(self, command: Command[R], caller: Caller | None = None) -> R:
        """The result of a command that is answered at once."""
        replies = self.submit(command, caller)
        assert len(replies) == 1, f"{command} was answered {len(replies)} times"
        return replies[0]

    def submit(self, command: Command[R], caller: Caller | None = None) -> list[R]:
        """The list that the reply will be put into, now or later."""
        replies: list[R] = []
        handler: Callable[[Any, Caller, Callable[[Any], None]], None] = self.routes[type(command)]
        handler(command, caller or Caller(), replies.append)
        return replies

    def pass_time(self, milliseconds: int) -> None:
        """Let time go by, one deadline after the other."""
        end_ms = self.clock.monotonic_ms() + milliseconds
        while (due_ms := self.timers.next_due_ms) is not None and due_ms <= end_ms:
            self.clock.advance(due_ms - self.clock.monotonic_ms())
            self.timers.run_due()
        self.clock.advance(end_ms - self.clock.monotonic_ms())
