"""A world for the core without a disk or a clock: logs in memory, and a time that moves when a test says so.

``World`` puts the core together as a node does, with the real log's bookkeeping of producers. Syncs are
done at once, unless ``storage.holds_syncs`` keeps them back until ``storage.sync()``.
"""

from collections.abc import Callable, Mapping, Sequence
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
from trivium.core.ports import Appended, DirectoryFacts, Done, Piece
from trivium.core.settings import Settings
from trivium.core.timers import Timers
from trivium.core.topic_creation import TopicCreation
from trivium.records.batch import BatchHeader
from trivium.testing.world.memory_log import MemoryLog

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


class FakeLog(MemoryLog):
    """One partition's records in a list. ``fault`` makes every append and read be refused with it."""

    def __init__(self, wait_for_sync: Callable[[Done], None]) -> None:
        super().__init__(wait_for_sync)
        self.fault: Fault | None = None
        self.reads = 0
        self.far: set[int] = set()
        """Offsets whose records are not in memory."""
        self.summoned: list[Callable[[], None]] = []

    @property
    def batches_count(self) -> int:
        return len(self._batches)

    def append(
        self, data: bytearray | memoryview, batches: Sequence[tuple[int, BatchHeader]], leader_epoch: int
    ) -> Appended:
        self._check()
        return super().append(data, batches, leader_epoch)

    def summon(self, offset: int, max_bytes: int, near: Callable[[], None]) -> bool:
        if offset not in self.far:
            return False
        self.far.remove(offset)
        self.summoned.append(near)
        return True

    def read(self, offset: int, max_bytes: int, *, committed: bool) -> Piece:
        self._check()
        self.reads += 1
        return super().read(offset, max_bytes, committed=committed)

    def left_after(self, offset_end: int) -> "FakeLog":
        """The log as a crash leaves it that loses every batch from ``offset_end`` on."""
        left = FakeLog(self._wait_for_sync)
        left._take_all_before(self, offset_end)
        return left

    def cut(self, batches_count: int) -> None:
        """Lose all batches but the first so many."""
        del self._batches[batches_count:]
        self.log_end_offset = self._batches[-1][0].offset_end if self._batches else 0

    def records(self) -> list[tuple[int, bytes | None, bytes | None]]:
        """Offset, key and value of everything that was written, control records left out."""
        return [
            (record.offset, record.key, record.value)
            for header, record in self._records()
            if not header.is_control
        ]

    def _check(self) -> None:
        if self.fault is not None:
            raise Refused(self.fault)


class MemoryStorage:
    """All logs of a node, in a dictionary."""

    def __init__(self) -> None:
        self.logs: dict[tuple[str, int], FakeLog] = {}
        self.configured: list[str] = []
        self.moved: list[tuple[str, int, str]] = []
        self.offline: set[tuple[str, int]] = set()
        self.holds_syncs = False
        self._waiting: list[Done] = []

    def log(self, topic: str, partition: int) -> FakeLog:
        return self.logs.setdefault((topic, partition), FakeLog(self.wait_for_sync))

    def is_offline(self, topic: str, partition: int) -> bool:
        return (topic, partition) in self.offline

    def create(self, topic: str, partition: int, topic_id: bytes) -> None:
        self.logs[topic, partition] = FakeLog(self.wait_for_sync)

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

    def forget_who_waits(self) -> None:
        """The node has died: nobody is told anything."""
        self._waiting.clear()

    def sync(self, fault: Fault | None = None) -> None:
        """Everybody who waits learns that all is durable, or why it never will be."""
        waiting, self._waiting = self._waiting, []
        for done in waiting:
            done(fault)

    def sync_last(self) -> None:
        """Who has waited least is told first: syncs that run side by side may end in any order."""
        self._waiting.pop()(None)


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

    def log(self, topic: str, partition: int = 0) -> FakeLog:
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
