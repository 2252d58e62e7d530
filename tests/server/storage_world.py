"""A node's storage on a fake disk, with a clock that moves when it is told to and no threads."""

from collections.abc import Sequence
from itertools import count
from uuid import UUID

from tests.core.fakes import FakeClock
from tests.log.log_of import batch
from tests.server.inline import InlineCommitter, InlineWorker
from trivium.core.config.broker import BROKER
from trivium.core.metadata import MetadataImage
from trivium.core.timers import Timers
from trivium.log.files import Files
from trivium.log.names import METADATA_TOPIC
from trivium.log.settings import LogSettings
from trivium.log.store import Identity, LogStore
from trivium.log.survey import TopicIdOf
from trivium.records.batch import iter_batches, iter_records
from trivium.server.housekeeping import Housekeeping
from trivium.server.maintenance import Maintenance
from trivium.server.metadata_store import Loaded, MetadataStore, SnapshotRules
from trivium.server.moving import Moving
from trivium.server.storage import NodeStorage
from trivium.server.stored_log import StoredLog

TOPIC_ID = UUID(int=7)
MINUTE_MS = 60_000


class StorageWorld:
    def __init__(
        self,
        files: Files,
        paths: Sequence[str] = ("/data",),
        settings: LogSettings | None = None,
        topic_id_of: TopicIdOf | None = lambda _topic, _partition: TOPIC_ID,
        clock: FakeClock | None = None,
        **numbers: int,
    ) -> None:
        self.files = files
        self.clock = clock or FakeClock()
        self.timers = Timers(self.clock)
        self.worker = InlineWorker()
        self.committer = InlineCommitter()
        self.settings = settings or LogSettings()
        self._numbers = {name.replace("_", "."): value for name, value in numbers.items()}
        ids = count(1_000)
        self.store = LogStore.open(
            files,
            paths,
            Identity(1, "test"),
            new_id=lambda: UUID(int=next(ids)),
            settings_for=self._settings_for,
            now_ms=self.clock.wall_ms(),
            topic_id_of=topic_id_of,
        )
        committers = dict.fromkeys(paths, self.committer.as_committer)
        housekeeping = Housekeeping(self.worker.as_worker, self.timers)
        self.moving = Moving(files, self.worker.as_worker, housekeeping, self.clock)
        self.storage = NodeStorage(
            files,
            self.store,
            committers,
            housekeeping,
            self.moving,
            self.worker.as_worker,
            self.clock,
            self.timers,
            self._settings_for,
            paths,
        )
        if self.store.get(METADATA_TOPIC, 0) is None:
            self.storage.create_metadata_log(paths[0], TOPIC_ID.bytes)
        metadata = self.storage.metadata = self.storage.log(METADATA_TOPIC, 0)
        rules = SnapshotRules(1 << 30, 0, -1, -1)
        loaded = Loaded(MetadataImage(), [])
        self.metadata = MetadataStore(files, metadata, loaded, rules, self.worker.as_worker, self.clock)
        self.maintenance = Maintenance(
            files,
            self.store,
            committers,
            housekeeping,
            self.moving,
            self.metadata,
            self.worker.as_worker,
            self.clock,
            self.timers,
            self._number,
        )

    def _settings_for(self, topic: str) -> LogSettings:
        return LogSettings(delete=False) if topic == METADATA_TOPIC else self.settings

    def _number(self, name: str) -> int:
        value = self._numbers.get(name, BROKER[name].default)
        assert isinstance(value, int)
        return value

    def log(self, topic: str = "orders", partition: int = 0) -> StoredLog:
        """A partition's log, made if it is new."""
        if self.store.get(topic, partition) is None:
            self.storage.create(topic, partition, TOPIC_ID.bytes)
        return self.storage.log(topic, partition)

    def pass_time(self, milliseconds: int) -> None:
        """Let time pass, and everything happen that falls due on the way."""
        until_ms = self.clock.monotonic_ms() + milliseconds
        while (due_ms := self.timers.next_due_ms) is not None and due_ms <= until_ms:
            self.clock.advance(max(0, due_ms - self.clock.monotonic_ms()))
            self.timers.run_due()
        self.clock.advance(until_ms - self.clock.monotonic_ms())


def write(log: StoredLog, *values: bytes | tuple[bytes, bytes | None], timestamp: int) -> int:
    """Append one batch; its base offset."""
    data = batch(*values, timestamp=timestamp)
    return log.append(data, list(iter_batches(data)), 0).base_offset


def records(log: StoredLog) -> list[tuple[int, bytes | None]]:
    """Offset and value of everything that can be read."""
    found: list[tuple[int, bytes | None]] = []
    offset = log.log_start_offset
    while offset < log.high_watermark:
        piece = log.read(offset, 1 << 20, committed=False)
        for run in piece.runs:
            for at, _ in iter_batches(run):
                found += [(record.offset, record.value) for record in iter_records(run, at)]
        offset = piece.offset_next
    return [(each, value) for each, value in found if each >= log.log_start_offset]
