"""All logs of a node: the core's port ``Storage`` on a ``LogStore``.

A new partition exists as soon as the metadata says so. Its files are made when it is first used, or when
there is time: a slice of a few milliseconds, then the loop has its turn, so that a topic of ten thousand
partitions stops nobody. They become durable with the partition's first sync; until then a crash leaves
nothing, or an empty partition, and the next start makes it again.

A partition that lay in a directory which could not be opened is offline, not new: making it again would
lose its records for good.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple
from uuid import UUID

from trivium.core.faults import Fault, Refused
from trivium.core.ports import Clock, DirectoryFacts, Done
from trivium.core.timers import Timers
from trivium.log.checkpoint import TopicPartition
from trivium.log.directory import LogDirectory
from trivium.log.faults import LogError
from trivium.log.files import Files
from trivium.log.names import METADATA_TOPIC
from trivium.log.partition_log import PartitionLog
from trivium.log.settings import LogSettings
from trivium.log.store import LogStore
from trivium.server.committer import Committer
from trivium.server.errand import Errand, report
from trivium.server.event_log import events
from trivium.server.housekeeping import Housekeeping
from trivium.server.moving import Moving
from trivium.server.stored_log import StoredLog, refused
from trivium.server.worker import Worker
from trivium.wire.uuid_text import ZERO_UUID

SLICE_MS = 5
"""So long new partitions are put on disk in one turn of the loop."""
PAUSE_MS = 1
RETRY_MS = 5_000
"""After a disk had no room for a new partition."""


class Unmade(NamedTuple):
    """A partition that exists and has no files yet, and where they will be."""

    topic_id: UUID
    path: str
    born_at: int


class NodeStorage:
    def __init__(
        self,
        files: Files,
        store: LogStore,
        committers: Mapping[str, Committer],
        housekeeping: Housekeeping,
        moving: Moving,
        reader: Worker,
        clock: Clock,
        timers: Timers,
        settings_for: Callable[[str], LogSettings],
        homes: Sequence[str],
    ) -> None:
        self.store = store
        self._files = files
        self._committers = committers
        self._housekeeping = housekeeping
        self._moving = moving
        self._reader = reader
        self._clock = clock
        self._timers = timers
        self._settings_for = settings_for
        self._homes = {each.path: each for each in store.directories if each.path in homes}
        """The directories that take partitions; one may be for the metadata log alone."""
        self._unmade: dict[TopicPartition, Unmade] = {}
        self._unmade_in: Counter[str] = Counter()
        self._is_making = False
        self._offline: set[TopicPartition] = set()
        self._stored: dict[TopicPartition, StoredLog] = {}
        self.metadata: StoredLog | None = None
        """Set once the metadata log is there: records of a topic are not durable before the topic is."""

    # -- logs ------------------------------------------------------------------------------------

    def log(self, topic: str, partition: int) -> StoredLog:
        key = (topic, partition)
        stored = self._stored.get(key)
        if stored is not None:
            return stored
        log, born_at = self.store.get(*key), 0
        if log is None:
            unmade = self._unmade.get(key)
            if unmade is None:
                raise Refused(
                    Fault.STORAGE, f"{topic}-{partition} is in no log directory that could be opened"
                )
            log, born_at = self._make(key, unmade), unmade.born_at
        home = self.store.home(*key)
        stored = StoredLog(
            log,
            home,
            self._committers[home.path],
            self._housekeeping,
            self._reader,
            self._clock,
            self._timers,
        )
        stored.metadata, stored.born_at = self.metadata, born_at
        self._stored[key] = stored
        return stored

    def is_offline(self, topic: str, partition: int) -> bool:
        key = (topic, partition)
        if key in self._offline:
            return True
        return self.store.get(*key) is not None and self.store.home(*key).is_offline

    def create(self, topic: str, partition: int, topic_id: bytes) -> None:
        path = min(self._homes_alive(), key=self._load)
        born_at = 0 if self.metadata is None else self.metadata.log_end_offset
        self._unmade[topic, partition] = Unmade(UUID(bytes=topic_id), path, born_at)
        self._unmade_in[path] += 1
        self._make_soon()

    def _homes_alive(self) -> Sequence[str]:
        """Where new partitions may go; if nowhere, anywhere: making them will say what is wrong."""
        return [path for path, home in self._homes.items() if not home.is_offline] or list(self._homes)

    def _load(self, path: str) -> int:
        return len(self._homes[path].logs) + self._unmade_in[path]

    def create_metadata_log(self, path: str, topic_id: bytes) -> None:
        """The log of a new node, in the directory that its configuration names."""
        self._unmade[METADATA_TOPIC, 0] = Unmade(UUID(bytes=topic_id), path, 0)
        self._unmade_in[path] += 1

    def adopt(self, partitions: Iterable[tuple[TopicPartition, bytes, Sequence[bytes]]]) -> None:
        """At the start: partitions that should be here, with topic id and directory ids. Those without a log
        are made again, unless they may lie in a directory that could not be opened.
        """
        opened = {
            directory.meta.directory_id.bytes
            for directory in self.store.directories
            if directory.meta.directory_id is not None
        }
        for key, topic_id, directory_ids in partitions:
            if self.store.get(*key) is not None:
                continue
            if self.store.failed_to_open and not opened.intersection(directory_ids):
                self._offline.add(key)
            else:
                self.create(*key, topic_id)

    # -- making ----------------------------------------------------------------------------------

    def _make(self, key: TopicPartition, unmade: Unmade) -> PartitionLog:
        settings, now_ms = self._settings_for(key[0]), self._clock.wall_ms()
        try:
            log = self.store.create(*key, unmade.topic_id, settings, now_ms, among=[unmade.path], lazily=True)
        except LogError as error:
            raise refused(error) from error
        self._forget_unmade(key)
        return log

    def _forget_unmade(self, key: TopicPartition) -> None:
        self._unmade_in[self._unmade.pop(key).path] -= 1

    def _make_soon(self, delay_ms: int = PAUSE_MS) -> None:
        if not self._is_making:
            self._is_making = True
            self._timers.after(delay_ms, lambda: Errand(self._broken_off).go(self._make_some))

    def _make_some(self) -> None:
        self._is_making = False
        until_ms = self._clock.monotonic_ms() + SLICE_MS
        while self._unmade and self._clock.monotonic_ms() < until_ms:
            key, unmade = next(iter(self._unmade.items()))
            try:
                self._make(key, unmade)
            except Refused as error:
                events.seldom("partition not made", unmade.path, path=unmade.path, reason=error.message)
                self._make_others_first()
                return
        if self._unmade:
            self._make_soon()

    def _broken_off(self, error: Exception) -> None:
        report("making a partition", error, f"in {RETRY_MS // 1000} s, after others")
        self._make_others_first()

    def _make_others_first(self) -> None:
        if self._unmade:
            self._place_again(*next(iter(self._unmade.items())))
            self._make_soon(RETRY_MS)

    def _place_again(self, key: TopicPartition, unmade: Unmade) -> None:
        """There is no room, or no directory any more: others may have both, and others come first."""
        self._forget_unmade(key)
        path = min(
            (each for each in self._homes_alive() if each != unmade.path), default=unmade.path, key=self._load
        )
        self._unmade[key] = unmade._replace(path=path)
        self._unmade_in[path] += 1

    # -- changing --------------------------------------------------------------------------------

    def delete(self, topic: str, partition: int) -> None:
        key = (topic, partition)
        self._stored.pop(key, None)
        self._offline.discard(key)
        self._moving.forget(key)
        if key in self._unmade:
            self._forget_unmade(key)
        elif self.store.get(*key) is not None:
            delay_ms = self.store.home(*key).logs[key].settings.file_delete_delay_ms
            try:
                home, doomed = self.store.doom(*key)
            except LogError as error:
                # The directory is offline. The next start calls what is left there a stray.
                events.warning("deletion not finished", partition=f"{topic}-{partition}", reason=str(error))
            else:
                self._housekeeping.remove(home, doomed, delay_ms)

    def configure(self, topic: str) -> None:
        settings: dict[str, LogSettings] = {}
        for name, partition in self.store:
            if topic in ("", name):
                if name not in settings:
                    settings[name] = self._settings_for(name)
                log = self.store.get(name, partition)
                if log is not None:
                    log.configure(settings[name])

    # -- directories -----------------------------------------------------------------------------

    def directories(self) -> Sequence[DirectoryFacts]:
        facts = [self._facts(directory) for directory in self.store.directories]
        failed = [
            DirectoryFacts(path, ZERO_UUID, Fault.STORAGE, -1, -1, {}) for path in self.store.failed_to_open
        ]
        return facts + failed

    def _facts(self, directory: LogDirectory) -> DirectoryFacts:
        meta_id = directory.meta.directory_id
        directory_id = ZERO_UUID if meta_id is None else meta_id.bytes
        if directory.is_offline:
            return DirectoryFacts(directory.path, directory_id, Fault.STORAGE, -1, -1, {})
        sizes = {
            key: sum(segment.size_bytes for segment in log.segments) for key, log in directory.logs.items()
        }
        sizes |= {key: 0 for key, unmade in self._unmade.items() if unmade.path == directory.path}
        space = self._files.space(directory.path)
        return DirectoryFacts(
            directory.path,
            directory_id,
            None,
            space.total_bytes,
            space.usable_bytes,
            sizes,
            self._moving.arriving_in(directory),
        )

    def move(self, topic: str, partition: int, path: str, done: Done) -> None:
        key = (topic, partition)
        target = self._homes.get(path)
        if target is None:
            fault = Fault.STORAGE if path in self.store.failed_to_open else Fault.LOG_DIRECTORY_NOT_FOUND
            raise Refused(fault, f"{path} is no log directory that is in use here")
        if target.is_offline or self.is_offline(*key):
            raise Refused(Fault.STORAGE)
        unmade = self._unmade.get(key)
        if unmade is not None:
            self._forget_unmade(key)
            self._unmade[key] = unmade._replace(path=path)
            self._unmade_in[path] += 1
            done(None)
            return
        if self.store.get(*key) is None:
            raise Refused(Fault.REPLICA_NOT_AVAILABLE)
        self._moving.begin(
            key, self.store.home(*key), target, lambda log, error: self._moved(key, target, log, error, done)
        )

    def _moved(
        self,
        key: TopicPartition,
        home: LogDirectory,
        log: PartitionLog | None,
        error: LogError | None,
        done: Done,
    ) -> None:
        if log is not None:
            self.store.rehome(*key, home)
            stored = self._stored.get(key)
            if stored is not None:
                stored.log, stored.home, stored.committer = log, home, self._committers[home.path]
        done(None if error is None else refused(error).fault)
