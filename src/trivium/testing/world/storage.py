"""Logs in memory that forget what was not synced: the core's port ``Storage``, quick enough for many worlds.

After a loss of power each log keeps what was synced and as much of the rest as chance lets it, up to the end
of a batch; what a real disk may do to bytes is the business of ``real_storage``. The metadata keep what they
have.

One sync serves all who have waited when it began, as a node's group commit does; who comes later waits for
the next.
"""

from collections.abc import Callable, Sequence
from random import Random

from trivium.core.faults import Fault, Refused
from trivium.core.metadata import MetadataImage
from trivium.core.ports import Appended, DirectoryFacts, Done
from trivium.core.timers import Timers
from trivium.log.names import METADATA_TOPIC
from trivium.records.batch import BatchHeader
from trivium.testing.world.clock import SimulatedClock
from trivium.testing.world.machine import AfterSync
from trivium.testing.world.memory_log import MemoryLog

Place = tuple[str, int]


class SimulatedLog(MemoryLog):
    """One partition."""

    def __init__(self, wait_for_sync: Callable[[Done], None], unsynced: "dict[SimulatedLog, None]") -> None:
        super().__init__(wait_for_sync)
        self.durable_end = 0
        self._unsynced = unsynced
        """The logs of the same disk that have something to lose."""

    def append(
        self, data: bytearray | memoryview, batches: Sequence[tuple[int, BatchHeader]], leader_epoch: int
    ) -> Appended:
        self._unsynced[self] = None
        return super().append(data, batches, leader_epoch)

    def after_power_loss(self, random: Random) -> "SimulatedLog":
        """The log as the next start finds it. One that has lost nothing is what it was."""
        batches = self._batches
        kept = random.randint(self._number_of(self.durable_end), len(batches))
        if kept == len(batches):
            self.durable_end = self.log_end_offset
            return self
        left = SimulatedLog(self._wait_for_sync, self._unsynced)
        left._take_all_before(self, batches[kept][0].base_offset)
        left.durable_end = left.log_end_offset
        return left


class SimulatedStorage:
    def __init__(self, call_after_sync: AfterSync, _clock: SimulatedClock) -> None:
        self.logs: dict[Place, SimulatedLog] = {}
        self._image = MetadataImage()
        self._call_after_sync = call_after_sync
        self._unsynced: dict[SimulatedLog, None] = {}
        self._waiting: list[Done] = []
        self._is_syncing = False

    # -- the machine's disk ----------------------------------------------------------------------

    def start(self, _timers: Timers) -> tuple["SimulatedStorage", MetadataImage]:
        return self, self._image

    def lose_power(self, random: Random) -> None:
        """Nobody who waits hears anything any more."""
        self._waiting.clear()
        self._is_syncing = False
        metadata = self.log(METADATA_TOPIC, 0)
        metadata.durable_end = metadata.log_end_offset
        for place, log in self.logs.items():
            self.logs[place] = log.after_power_loss(random)
        self._unsynced.clear()

    def settle(self) -> None:
        for log in self.logs.values():
            log.durable_end = log.log_end_offset
        self._unsynced.clear()

    # -- syncing ---------------------------------------------------------------------------------

    def wait_for_sync(self, done: Done) -> None:
        self._waiting.append(done)
        if not self._is_syncing:
            self._begin_sync()

    def _begin_sync(self) -> None:
        waiting, self._waiting = self._waiting, []
        ends = [(log, log.log_end_offset) for log in self._unsynced]
        self._unsynced.clear()
        self._is_syncing = True

        def synced() -> None:
            self._is_syncing = False
            for log, end in ends:
                if log.durable_end < end:
                    log.durable_end = end
            for done in waiting:
                done(None)
            if self._waiting and not self._is_syncing:
                self._begin_sync()

        self._call_after_sync(synced)

    # -- the port --------------------------------------------------------------------------------

    def log(self, topic: str, partition: int) -> SimulatedLog:
        log = self.logs.get((topic, partition))
        if log is None:
            log = self.logs[topic, partition] = SimulatedLog(self.wait_for_sync, self._unsynced)
        return log

    def create(self, topic: str, partition: int, topic_id: bytes) -> None:
        self.logs[topic, partition] = SimulatedLog(self.wait_for_sync, self._unsynced)

    def delete(self, topic: str, partition: int) -> None:
        self.logs.pop((topic, partition), None)

    def configure(self, topic: str) -> None:
        pass

    def is_offline(self, topic: str, partition: int) -> bool:
        return False

    def move(self, topic: str, partition: int, path: str, done: Done) -> None:
        raise Refused(Fault.LOG_DIRECTORY_NOT_FOUND)

    def directories(self) -> Sequence[DirectoryFacts]:
        return []
