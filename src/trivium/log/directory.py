"""One log directory: whose it is, the partitions in it, and the checkpoints that speak for all of them.

Life: ``open`` locks it, reads the checkpoints, takes the clean-shutdown mark away before anything is
written, and opens every partition. ``close`` writes everything and puts the mark back, last. If the
process dies in between there is no mark, and the next open recovers.

A directory that fails (see ``health``) keeps its partitions in ``logs`` but serves none of them.
"""

import os.path
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from uuid import UUID

from trivium.log import checkpoint, whole_file
from trivium.log.checkpoint import TopicPartition
from trivium.log.cleaner import Compaction, install
from trivium.log.commit import GroupCommit
from trivium.log.faults import DirectoryRefused, DiskFull, LogError
from trivium.log.files import Files, Lock
from trivium.log.health import Health
from trivium.log.names import (
    CLEAN_SHUTDOWN,
    CLEANER_OFFSET_CHECKPOINT,
    LOCK,
    LOG_START_OFFSET_CHECKPOINT,
    META_PROPERTIES,
    METADATA_TOPIC,
    PARTITION_METADATA,
    RECOVERY_POINT_CHECKPOINT,
    REPLICATION_OFFSET_CHECKPOINT,
    TEMPORARY,
    doomed_directory,
    newest_metadata_snapshot,
    parse_partition_directory,
    partition_directory,
)
from trivium.log.opening import Known, Recovery, open_log
from trivium.log.partition_log import PartitionLog
from trivium.log.properties import (
    MetaProperties,
    PartitionMetadata,
    read_meta,
    read_partition_metadata,
    write_meta,
    write_partition_metadata,
)
from trivium.log.settings import LogSettings
from trivium.wire.errors import DecodeError

SettingsFor = Callable[[str], LogSettings]
"""The settings of a topic by its name."""

_CLEAN_MARK = b'{"version":0,"brokerEpoch":-1}'


@dataclass(slots=True)
class Opening:
    """What opening a directory found, partition by partition; for people and for logs."""

    clean: bool
    recoveries: list[Recovery] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


class LogDirectory:
    def __init__(self, files: Files, path: str, meta: MetaProperties, lock: Lock) -> None:
        self._files = files
        self._lock = lock
        self.path = path
        self.meta = meta
        self.health = Health(path)
        self.commit = GroupCommit()
        self.logs: dict[TopicPartition, PartitionLog] = {}
        self.topic_ids: dict[TopicPartition, UUID] = {}
        self.opening = Opening(clean=False)
        self._checkpointed: set[TopicPartition] = set()
        """The partitions that the checkpoints on disk speak of."""

    @property
    def is_offline(self) -> bool:
        return self.health.reason is not None

    # -- opening ---------------------------------------------------------------------------------

    @classmethod
    def open(
        cls,
        files: Files,
        path: str,
        *,
        node_id: int,
        cluster_id: str | None,
        new_id: Callable[[], UUID],
        settings_for: SettingsFor,
        now_ms: int,
    ) -> "LogDirectory":
        """Open the directory, or make it. ``cluster_id`` None accepts whatever the directory says."""
        _make(files, path)
        lock = files.lock(f"{path}/{LOCK}")
        if lock is None:
            raise DirectoryRefused(f"{path} is in use by another broker; stop it or choose another directory")
        with ExitStack() as undo:
            undo.callback(lock.release)
            meta = _identify(files, path, node_id, cluster_id, new_id)
            directory = cls(files, path, meta, lock)
            directory._load(settings_for, now_ms)
            undo.pop_all()
        return directory

    def _load(self, settings_for: SettingsFor, now_ms: int) -> None:
        mark = f"{self.path}/{CLEAN_SHUTDOWN}"
        self.opening.clean = was_marked = self._files.exists(mark)
        points = self._offsets(RECOVERY_POINT_CHECKPOINT)
        starts = self._offsets(LOG_START_OFFSET_CHECKPOINT)
        cleaned = self._offsets(CLEANER_OFFSET_CHECKPOINT)
        self._checkpointed = {*points, *starts, *cleaned}
        if was_marked:
            # Also when a damaged checkpoint made it worthless: left here, it would vouch for the next crash.
            with self.health.guard(f"opening {self.path}"):
                self._files.remove(mark)
                self._files.sync_directory(self.path)
        for name in self._files.list(self.path):
            parsed = parse_partition_directory(name)
            if parsed is None or not self._files.is_directory(f"{self.path}/{name}"):
                continue
            if parsed.fate == "delete":
                self._remove_tree(name)
                self.opening.notes.append(f"finished deleting {parsed.topic}-{parsed.partition}")
            elif not parsed.fate:
                key = (parsed.topic, parsed.partition)
                point = points.get(key, 0)
                if parsed.topic == METADATA_TOPIC:
                    point = self._summed_up(name)
                known = Known(self.opening.clean, point, starts.get(key, 0), cleaned.get(key, 0))
                self._open_partition(key, settings_for(parsed.topic), known, now_ms)

    def _summed_up(self, name: str) -> int:
        """The metadata log has no checkpoint; what its newest snapshot sums up was durable before it."""
        snapshot = newest_metadata_snapshot(self._files.list(f"{self.path}/{name}"))
        return 0 if snapshot is None else snapshot.offset

    def _offsets(self, name: str) -> dict[TopicPartition, int]:
        """A checkpoint, or none if it is damaged: then nothing is known and everything is recovered."""
        try:
            return checkpoint.read_offsets(self._files, f"{self.path}/{name}")
        except DecodeError as error:
            self.opening.notes.append(f"{error}; every partition is recovered in full")
            self.opening.clean = False
            return {}

    def _open_partition(
        self, key: TopicPartition, settings: LogSettings, known: Known, now_ms: int
    ) -> PartitionLog:
        name = partition_directory(*key)
        path = f"{self.path}/{name}"
        try:
            self.topic_ids[key] = read_partition_metadata(
                self._files, f"{path}/{PARTITION_METADATA}"
            ).topic_id
        except DecodeError as error:
            self.opening.notes.append(str(error))
        except FileNotFoundError:
            self.opening.notes.append(f"{name} has no {PARTITION_METADATA}: its topic id is unknown")
        log, recovery = open_log(
            self._files, path, name, settings=settings, health=self.health, known=known, now_ms=now_ms
        )
        self.logs[key] = log
        self.opening.recoveries.append(recovery)
        return log

    # -- partitions ------------------------------------------------------------------------------

    def create(
        self, topic: str, partition: int, topic_id: UUID, settings: LogSettings, now_ms: int
    ) -> PartitionLog:
        """Make a new partition, durable when this returns."""
        name = partition_directory(topic, partition)
        if (topic, partition) in self.logs:
            raise ValueError(f"{name} is there already")
        if (topic, partition) in self._checkpointed:
            # Of a partition of that name that was deleted: after a crash it would promise records of the new.
            self.write_checkpoints()
        path = f"{self.path}/{name}"
        is_new = not self._files.exists(path)
        try:
            with self.health.guard(f"creating {name}"):
                self._files.make_directory(path)
                metadata = PartitionMetadata(topic_id)
                write_partition_metadata(self._files, f"{path}/{PARTITION_METADATA}", metadata)
                log = self._open_partition((topic, partition), settings, Known(clean=False), now_ms)
                self._files.sync_directory(path)
                self._files.sync_directory(self.path)
        except DiskFull:
            # The next attempt may choose another directory; half a partition here would be its twin.
            if is_new:
                self._forget(topic, partition)
            raise
        return log

    def _forget(self, topic: str, partition: int) -> None:
        log = self.logs.pop((topic, partition), None)
        if log is not None:
            log.abandon()
        self.topic_ids.pop((topic, partition), None)
        name = partition_directory(topic, partition)
        if self._files.is_directory(f"{self.path}/{name}"):
            with self.health.guard(f"deleting {name}"):
                self._remove_tree(name)

    def delete(self, topic: str, partition: int, unique_id: UUID) -> None:
        """Remove a partition. Once this returns it stays away, even if a crash interrupts the removal."""
        name = partition_directory(topic, partition)
        doomed = doomed_directory(topic, partition, "delete", unique_id.hex)
        log = self.logs.pop((topic, partition))
        self.topic_ids.pop((topic, partition), None)
        log.abandon()
        with self.health.guard(f"deleting {name}"):
            self._files.rename(f"{self.path}/{name}", f"{self.path}/{doomed}")
            self._files.sync_directory(self.path)
            self._remove_tree(doomed)

    def _remove_tree(self, name: str) -> None:
        path = f"{self.path}/{name}"
        for child in self._files.list(path):
            self._files.remove(f"{path}/{child}")
        self._files.remove_directory(path)

    def truncate(self, topic: str, partition: int, offset: int) -> None:
        """Forget a partition's records from ``offset`` on. The checkpoints come first: if they promised more
        than is there, a crash on the way would look like damage.
        """
        self.logs[topic, partition].truncate(offset, announce=self.write_checkpoints)

    def install(self, compaction: Compaction) -> None:
        """Let compacted segments take their place; see ``opening`` for why the checkpoint comes first."""
        self.write_checkpoints()
        with self.health.guard(f"compaction of {compaction.log.name}"):
            install(self._files, compaction)

    # -- checkpoints and closing -----------------------------------------------------------------

    def write_checkpoints(self) -> None:
        """Write down what is durable. Called now and then, and before a shortened log is acknowledged."""
        logs = {key: log for key, log in self.logs.items() if key[0] != METADATA_TOPIC}
        starts = {
            key: log.log_start_offset
            for key, log in logs.items()
            if log.log_start_offset > log.segments[0].base_offset
        }
        for key, log_start_offset in starts.items():
            # A log that ends before its start after a crash would look like one that lost records.
            if log_start_offset > logs[key].recovery_point:
                logs[key].sync()
        with self.health.guard(f"checkpoint in {self.path}"):
            self._write(LOG_START_OFFSET_CHECKPOINT, starts)
            self._write(RECOVERY_POINT_CHECKPOINT, {key: log.recovery_point for key, log in logs.items()})
            self._write(REPLICATION_OFFSET_CHECKPOINT, {key: log.high_watermark for key, log in logs.items()})
            cleaned = {key: log.cleaned_offset for key, log in logs.items() if log.cleaned_offset}
            if cleaned or self._files.exists(f"{self.path}/{CLEANER_OFFSET_CHECKPOINT}"):
                self._write(CLEANER_OFFSET_CHECKPOINT, cleaned)
        self._checkpointed = set(logs)

    def _write(self, name: str, offsets: dict[TopicPartition, int]) -> None:
        checkpoint.write_offsets(self._files, f"{self.path}/{name}", offsets)

    def close(self) -> None:
        """Stop cleanly: sync every log, write the checkpoints, and the mark last of all.

        A directory that fails on the way is left without the mark; the next open recovers it.
        """
        try:
            for log in self.logs.values():
                log.close()
            if not self.is_offline:
                self.write_checkpoints()
                if not any(log.corruption for log in self.logs.values()):
                    with self.health.guard(f"closing {self.path}"):
                        whole_file.replace(self._files, f"{self.path}/{CLEAN_SHUTDOWN}", _CLEAN_MARK)
        except LogError:
            if not self.is_offline:
                raise
        finally:
            self._lock.release()


def _make(files: Files, path: str) -> None:
    """Make the directory and what is missing above it, each durable before the next."""
    if not files.exists(path):
        parent = os.path.dirname(path)
        if parent and parent != path:
            _make(files, parent)
        files.make_directory(path)
        files.sync_directory(parent or ".")


def _identify(
    files: Files, path: str, node_id: int, cluster_id: str | None, new_id: Callable[[], UUID]
) -> MetaProperties:
    """Read whose directory this is, or claim a new one."""
    file = f"{path}/{META_PROPERTIES}"
    if not files.exists(file):
        # What a crash while claiming it may leave behind, and what a fresh file system has, is ours.
        foreign = [
            name for name in files.list(path) if name not in (LOCK, META_PROPERTIES + TEMPORARY, "lost+found")
        ]
        if foreign:
            raise DirectoryRefused(
                f"{path} is not empty and no log directory ({foreign[0]} is there); choose an empty one"
            )
        if cluster_id is None:
            raise DirectoryRefused(f"{path} has no {META_PROPERTIES}; is it a log directory?")
        meta = MetaProperties(node_id, cluster_id, new_id())
        write_meta(files, file, meta)
        return meta
    try:
        meta = read_meta(files, file)
    except DecodeError as error:
        raise DirectoryRefused(str(error)) from error
    if cluster_id is not None and meta.cluster_id != cluster_id:
        raise DirectoryRefused(f"{path} belongs to cluster {meta.cluster_id}, not {cluster_id}")
    if cluster_id is not None and meta.node_id != node_id:
        raise DirectoryRefused(f"{path} belongs to node {meta.node_id}, this is node {node_id}")
    return meta
