"""One log directory: whose it is, the partitions in it, and the checkpoints that speak for all of them.

Life: ``open`` locks it, reads the checkpoints, takes the clean-shutdown mark away before anything is
written, and opens every partition. ``close`` writes everything and puts the mark back, last. If the
process dies in between there is no mark, and the next open recovers.

A directory that fails (see ``health``) keeps its partitions in ``logs`` but serves none of them.
"""

from collections.abc import Callable
from contextlib import ExitStack
from uuid import UUID

from trivium.log import claim, whole_file
from trivium.log.checkpoint import TopicPartition
from trivium.log.checkpoints import Checkpoints, PendingCheckpoints, Summary
from trivium.log.cleaner import Compaction, install
from trivium.log.commit import GroupCommit
from trivium.log.faults import DirectoryRefused, DiskFull, LogError
from trivium.log.files import Files, Lock
from trivium.log.health import Health
from trivium.log.names import (
    CLEAN_SHUTDOWN,
    LOCK,
    METADATA_TOPIC,
    PARTITION_METADATA,
    doomed_directory,
    parse_partition_directory,
    partition_directory,
)
from trivium.log.opening import Known, open_log
from trivium.log.partition_log import PartitionLog
from trivium.log.properties import (
    MetaProperties,
    PartitionMetadata,
    encode_partition_metadata,
)
from trivium.log.settings import LogSettings
from trivium.log.shortening import truncate
from trivium.log.staged import carry_out
from trivium.log.survey import Opening, Survey, TopicIdOf, remove_tree

SettingsFor = Callable[[str], LogSettings]
"""The settings of a topic by its name."""

_CLEAN_MARK = b'{"version":0,"brokerEpoch":-1}'


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
        self._checkpoints = Checkpoints(files, path)
        self._checkpointed: set[TopicPartition] = set()
        """The partitions that the checkpoints on disk speak of."""
        self._of_strays = Summary()
        """What the checkpoints say of strays, which is kept: somebody may come back for them."""

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
        topic_id_of: TopicIdOf | None = None,
    ) -> "LogDirectory":
        """Open the directory, or make it. ``cluster_id`` None accepts whatever the directory says.

        ``topic_id_of`` tells which partitions belong here; without it, all that are found.
        """
        claim.make(files, path)
        lock = files.lock(f"{path}/{LOCK}")
        if lock is None:
            raise DirectoryRefused(f"{path} is in use by another broker; stop it or choose another directory")
        with ExitStack() as undo:
            undo.callback(lock.release)
            meta = claim.identify(files, path, node_id, cluster_id, new_id)
            directory = cls(files, path, meta, lock)
            directory._load(settings_for, now_ms, topic_id_of)
            undo.pop_all()
        return directory

    def _load(self, settings_for: SettingsFor, now_ms: int, topic_id_of: TopicIdOf | None) -> None:
        survey = Survey(self._files, self.path, self.health, self.opening, topic_id_of)
        self._checkpointed = survey.summary.partitions
        self._of_strays = survey.of_strays
        for key, topic_id, known in survey.residents:
            if topic_id is not None:
                self.topic_ids[key] = topic_id
            self._open_partition(key, settings_for(key[0]), known, now_ms)

    def _open_partition(
        self, key: TopicPartition, settings: LogSettings, known: Known, now_ms: int
    ) -> PartitionLog:
        name = partition_directory(*key)
        path = f"{self.path}/{name}"
        log, recovery = open_log(
            self._files, path, name, settings=settings, health=self.health, known=known, now_ms=now_ms
        )
        self.logs[key] = log
        self.opening.recoveries.append(recovery)
        return log

    # -- partitions ------------------------------------------------------------------------------

    def create(
        self,
        topic: str,
        partition: int,
        topic_id: UUID,
        settings: LogSettings,
        now_ms: int,
        *,
        lazily: bool = False,
        set_aside_as: UUID | None = None,
    ) -> PartitionLog:
        """Make a new partition, durable when this returns; ``lazily``: with its first sync.

        A directory of that name that belongs to another topic, a stray, is set aside under ``set_aside_as``.
        """
        key, name = (topic, partition), partition_directory(topic, partition)
        if key in self.logs:
            raise ValueError(f"{name} is there already")
        if name in self.opening.strays:
            self._set_aside(key, set_aside_as or topic_id)
        if self.checkpoints_name(key):
            self.write_checkpoints()
        path = f"{self.path}/{name}"
        is_new = not self._files.exists(path)
        try:
            with self.health.guard(f"creating {name}"):
                self._files.make_directory(path)
                self._write_topic_id(path, topic_id)
                log = self._open_partition(key, settings, Known(clean=False), now_ms)
                self.topic_ids[key] = topic_id
                log.birth = lambda: self._sync_birth(path)
                if not lazily:
                    log.sync()
        except DiskFull:
            # The next attempt may choose another directory; half a partition here would be its twin.
            if is_new:
                self._forget(topic, partition)
            raise
        return log

    def _write_topic_id(self, path: str, topic_id: UUID) -> None:
        """Not durable yet: a crash may leave less of it, which the next start knows how to read."""
        file = self._files.open(f"{path}/{PARTITION_METADATA}", create=True)
        try:
            file.truncate(0)
            file.write(encode_partition_metadata(PartitionMetadata(topic_id)), 0)
        finally:
            file.close()

    def _sync_birth(self, path: str) -> None:
        """What the first sync of a new partition has to do besides: its topic id, and its own name."""
        file = self._files.open(f"{path}/{PARTITION_METADATA}")
        try:
            file.sync()
        finally:
            file.close()
        self._files.sync_directory(self.path)

    def _set_aside(self, key: TopicPartition, unique_id: UUID) -> None:
        """Give a stray another name: its own is needed. Durable with the names that come after it."""
        name, aside = partition_directory(*key), doomed_directory(*key, "stray", unique_id.hex)
        with self.health.guard(f"setting {name} aside"):
            self._files.rename(f"{self.path}/{name}", f"{self.path}/{aside}")
        self.opening.strays.remove(name)
        self._of_strays = self._of_strays.of_only(self._of_strays.partitions - {key})

    def retire(self, topic: str, partition: int, unique_id: UUID) -> None:
        """Serve a partition no longer and set its directory aside: another one has a twin of it."""
        key, name = (topic, partition), partition_directory(topic, partition)
        self.logs.pop(key).abandon()
        self.topic_ids.pop(key, None)
        self.opening.strays.append(name)
        self._set_aside(key, unique_id)
        with self.health.guard(f"setting {name} aside"):
            self._files.sync_directory(self.path)

    def _forget(self, topic: str, partition: int) -> None:
        log = self.logs.pop((topic, partition), None)
        if log is not None:
            log.abandon()
        self.topic_ids.pop((topic, partition), None)
        name = partition_directory(topic, partition)
        if self._files.is_directory(f"{self.path}/{name}"):
            with self.health.guard(f"deleting {name}"):
                remove_tree(self._files, f"{self.path}/{name}")

    def delete(self, topic: str, partition: int, unique_id: UUID) -> None:
        """Remove a partition. Once this returns it stays away, even if a crash interrupts the removal."""
        self.remove_doomed(self.doom(topic, partition, unique_id))

    def doom(self, topic: str, partition: int, unique_id: UUID) -> str:
        """The quick half of ``delete``: the partition is gone. Returns the name of what is to be removed."""
        name = partition_directory(topic, partition)
        doomed = doomed_directory(topic, partition, "delete", unique_id.hex)
        log = self.logs.pop((topic, partition))
        self.topic_ids.pop((topic, partition), None)
        log.abandon()
        with self.health.guard(f"deleting {name}"):
            self._files.rename(f"{self.path}/{name}", f"{self.path}/{doomed}")
        return doomed

    def remove_doomed(self, doomed: str) -> None:
        """The slow half of ``delete``, in any thread: it touches nothing that anybody else still knows."""
        with self.health.guard(f"deleting {doomed}"):
            self._files.sync_directory(self.path)
            remove_tree(self._files, f"{self.path}/{doomed}")

    def checkpoints_name(self, key: TopicPartition) -> bool:
        """Whether the checkpoints on disk speak of it: after a crash they would mean its namesake."""
        return key in self._checkpointed

    def install_future(self, key: TopicPartition, future: str, topic_id: UUID, log: PartitionLog) -> None:
        """The copy of a partition gets the live name, durably with its next sync."""
        name = partition_directory(*key)
        if name in self.opening.strays:
            self._set_aside(key, topic_id)
        with self.health.guard(f"installing {future}"):
            self._files.rename(f"{self.path}/{future}", f"{self.path}/{name}")
        log.note_directory(f"{self.path}/{name}")
        log.birth = lambda: self._files.sync_directory(self.path)
        self.logs[key] = log
        self.topic_ids[key] = topic_id

    def unfinished_copies(self) -> list[tuple[TopicPartition, str]]:
        """The ``-future`` directories: of which partition, and their names."""
        parsed = [(parse_partition_directory(name), name) for name in self._files.list(self.path)]
        return [
            ((found.topic, found.partition), name)
            for found, name in parsed
            if found is not None and found.fate == "future"
        ]

    def discard_future(self, future: str) -> None:
        """Remove a copy that is not needed, or as much of it as there is."""
        with self.health.guard(f"discarding {future}"):
            if self._files.is_directory(f"{self.path}/{future}"):
                remove_tree(self._files, f"{self.path}/{future}")

    def truncate(self, topic: str, partition: int, offset: int) -> None:
        """Forget a partition's records from ``offset`` on. The checkpoints come first: if they promised more
        than is there, a crash on the way would look like damage.
        """
        truncate(self.logs[topic, partition], offset, announce=self.write_checkpoints)

    def install(self, compaction: Compaction) -> None:
        """Let compacted segments take their place; see ``opening`` for why the checkpoint comes first."""
        self.write_checkpoints()
        carry_out(install(self._files, compaction))

    # -- checkpoints and closing -----------------------------------------------------------------

    def begin_checkpoints(self) -> PendingCheckpoints:
        """What is durable now, to be written down now and then; ``run`` of it may run elsewhere."""
        self.health.check()
        summary = Summary.of(self.logs).with_others(self._of_strays)
        return self._checkpoints.begin(summary)

    def finish_checkpoints(self, pending: PendingCheckpoints, error: OSError | None = None) -> None:
        """Take note of how it ended."""
        if error is not None:
            raise self.health.judge(error, f"checkpoint in {self.path}")
        self._checkpointed = pending.summary.partitions

    def write_checkpoints(self) -> None:
        """Write down what is durable, here and now: before a shortened log is acknowledged."""
        for key, log in self.logs.items():
            if log.log_start_offset > log.recovery_point and key[0] != METADATA_TOPIC:
                log.sync()
        pending = self.begin_checkpoints()
        try:
            pending.run()
        except OSError as error:
            self.finish_checkpoints(pending, error)
        self.finish_checkpoints(pending)

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
