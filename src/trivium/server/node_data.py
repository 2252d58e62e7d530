"""Everything of a node that lies on disk: opened, brought in line with the metadata, kept in order, closed.

The order of a start: whose directories these are, what the metadata says, then the logs that belong to it.
What the metadata does not know stays untouched and is reported. The order of a stop: nothing new is begun,
threads come to their end, the logs are closed.
"""

import asyncio
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from itertools import islice

from trivium.core.cluster import Cluster
from trivium.core.faults import Fault, Refused
from trivium.core.metadata_cluster import Listener as Registered
from trivium.core.metadata_snapshot import VersionedRecord
from trivium.core.metadata_topics import NO_LEADER
from trivium.core.registration import (
    Identity,
    farewell_records,
    founding_records,
    leader_record,
    leadership_records,
    registration_record,
)
from trivium.core.settings import Settings, whole
from trivium.core.timers import Timers
from trivium.log.checkpoint import TopicPartition
from trivium.log.directory import LogDirectory
from trivium.log.faults import DirectoryRefused, LogError
from trivium.log.files import Files
from trivium.log.names import METADATA_TOPIC
from trivium.log.settings import FOREVER, LogSettings
from trivium.log.store import LogStore
from trivium.log.topic_settings import topic_settings
from trivium.server.clock import SystemClock
from trivium.server.committer import Committer
from trivium.server.configuration.configuration import Configuration, Durability
from trivium.server.event_log import events
from trivium.server.housekeeping import Housekeeping
from trivium.server.identity import identity_of
from trivium.server.maintenance import Maintenance
from trivium.server.metadata_store import MetadataStore, SnapshotRules, load
from trivium.server.moving import Moving
from trivium.server.storage import NodeStorage
from trivium.server.worker import Worker

METADATA_TOPIC_ID = bytes(15) + b"\x01"
"""The id that Kafka has given to the metadata log in every cluster."""

BATCH_RECORDS_MAX = 5_000
"""Metadata records that are committed at once: together they stay far below what Kafka reads as a batch."""

HOUSEKEEPING_THREADS = 2
"""So that one slow directory does not hold up the checkpoints of another."""
READING_THREADS = 4
"""So many reads wait for the disk at a time; more wait for one of these."""


class NodeData:
    """``settle`` once there is a cluster, ``start`` the maintenance, ``stop`` and ``close`` in the end."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        configuration: Configuration,
        files: Files,
        clock: SystemClock,
        timers: Timers,
    ) -> None:
        self._loop = loop
        self._clock = clock
        self.when_lost: Callable[[str], None] = lambda _reason: None
        """Told why, if the metadata log is gone and nothing can be changed any more."""
        paths = [str(path) for path in configuration.data_directories]
        metadata_path = str(configuration.metadata_directory)
        every_path = [*dict.fromkeys([*paths, metadata_path])]
        now_ms = clock.wall_ms()
        identity = identity_of(files, every_path, configuration)
        self.loaded = load(files, [metadata_path, *paths], now_ms)
        self.image = self.loaded.image
        self.settings = Settings(
            # A directory that knows its node is a static setting, too.
            {"node.id": str(identity.node_id), "broker.id": str(identity.node_id)}
            | dict(configuration.static_settings),
            self.image,
            identity.node_id,
            durable=configuration.durability is Durability.FSYNC,
        )
        self._node_id = identity.node_id
        self.store = LogStore.open(
            files,
            every_path,
            identity,
            new_id=uuid.uuid4,
            settings_for=self._settings_for,
            now_ms=now_ms,
            topic_id_of=self._topic_id_of,
        )
        self.meta = self.store.directories[0].meta
        try:
            self._require_directories(metadata_path, paths)
            self._require_metadata()
            self._set_up(files, timers, metadata_path, paths)
        except (LogError, Refused) as error:
            # A directory that is full does not close cleanly either; there is something worse to tell.
            with suppress(LogError):
                self.store.close()
            raise DirectoryRefused(str(error)) from error

    def _set_up(self, files: Files, timers: Timers, metadata_path: str, paths: Sequence[str]) -> None:
        loop, clock = self._loop, self._clock
        self._housekeeper = Worker(loop, "housekeeping", HOUSEKEEPING_THREADS)
        self._cleaner = Worker(loop, "cleaner")
        self._reader = Worker(loop, "reader", READING_THREADS)
        self.committers = {
            directory.path: Committer(loop, directory.commit, directory.path)
            for directory in self.store.directories
        }
        housekeeping = Housekeeping(self._housekeeper, timers)
        moving = Moving(files, self._housekeeper, housekeeping, clock)
        self.storage = NodeStorage(
            files,
            self.store,
            self.committers,
            housekeeping,
            moving,
            self._reader,
            clock,
            timers,
            self._settings_for,
            paths,
        )
        if self.store.get(METADATA_TOPIC, 0) is None:
            self.storage.create_metadata_log(metadata_path, METADATA_TOPIC_ID)
        self.metadata_log = self.storage.metadata = self.storage.log(METADATA_TOPIC, 0)
        self.metadata = MetadataStore(
            files, self.metadata_log, self.loaded, self._snapshot_rules(), self._housekeeper, clock
        )
        self._maintenance = Maintenance(
            files,
            self.store,
            self.committers,
            housekeeping,
            moving,
            self.metadata,
            self._cleaner,
            clock,
            timers,
            self._number,
        )
        moving.sweep(self.store)

    def _number(self, name: str) -> int:
        return whole(self.settings.broker, name)

    def _settings_for(self, topic: str) -> LogSettings:
        if topic == METADATA_TOPIC:
            return LogSettings(
                segment_bytes=self._number("metadata.log.segment.bytes"),
                segment_ms=self._number("metadata.log.segment.ms"),
                retention_ms=FOREVER,
                delete=False,
            )
        configs = self.image.configs
        broker = {**self.settings.static, **configs.of_broker(self._node_id)}
        return topic_settings(configs.of_topic(topic), broker)

    def _topic_id_of(self, name: str, index: int) -> uuid.UUID | None:
        if name == METADATA_TOPIC:
            return uuid.UUID(bytes=METADATA_TOPIC_ID)
        topic = self.image.topics.by_name.get(name)
        if topic is None or index not in topic.partitions:
            return None
        is_here = self._node_id in topic.partitions[index].replicas
        return uuid.UUID(bytes=topic.topic_id) if is_here else None

    def _require_directories(self, metadata_path: str, paths: Sequence[str]) -> None:
        """Some may fail, but not the one that has the metadata, and not all that have topics."""
        failed = self.store.failed_to_open
        if metadata_path in failed and self.store.get(METADATA_TOPIC, 0) is None:
            raise DirectoryRefused(
                f"{metadata_path} holds the metadata and cannot be opened: {failed[metadata_path]}"
            )
        if all(path in failed for path in paths):
            raise DirectoryRefused(f"no log directory can be opened: {'; '.join(failed.values())}")

    def _require_metadata(self) -> None:
        """An empty log beside partitions has lost what it said: beginning anew would forget topics, users and
        rights, and let in whoever knows a new node's first password. Partitions come after the metadata that
        tell of them, so no crash leaves this behind."""
        log = self.store.get(METADATA_TOPIC, 0)
        strays = [name for directory in self.store.directories for name in directory.opening.strays]
        if log is not None and log.log_end_offset == 0 and strays:
            raise DirectoryRefused(
                f"{log.name} is empty, and there are partitions that it should tell of, such as "
                f"{min(strays)}: put its files back, or remove {log.name} to begin anew without them"
            )

    def _snapshot_rules(self) -> SnapshotRules:
        return SnapshotRules(
            bytes_between=self._number("metadata.log.max.record.bytes.between.snapshots"),
            interval_ms=self._number("metadata.log.max.snapshot.interval.ms"),
            retention_bytes=self._number("metadata.max.retention.bytes"),
            retention_ms=self._number("metadata.max.retention.ms"),
        )

    # -- starting --------------------------------------------------------------------------------

    async def settle(self, cluster: Cluster, listeners: Mapping[str, Registered]) -> None:
        """Make metadata and directories agree, durably: before the first client is let in.

        A disk without room keeps nobody from reading: then the next start does it.
        """
        self._cluster = cluster
        self.storage.adopt(self._partitions_here())
        try:
            await self._record_start(cluster, listeners)
        except Refused as refused:
            events.warning("start not recorded", reason=refused.message)
        for directory in self.store.directories:
            directory.health.when_failed = partial(self._tell_failure, directory)
            if directory.is_offline:
                self._directory_failed(directory)

    async def _record_start(self, cluster: Cluster, listeners: Mapping[str, Registered]) -> None:
        await self._commit(founding_records(self.image))
        await self._commit(
            leadership_records(
                self.image, self._node_id, is_clean=self._is_clean, is_offline=self.storage.is_offline
            )
        )
        await self._commit([registration_record(self._identity(), listeners, cluster.metadata_offset_end)])

    def start(self) -> None:
        """Begin to keep things in order."""
        self._maintenance.start()

    def _identity(self) -> Identity:
        rack = self.settings.broker("broker.rack")
        return Identity(
            self._node_id,
            uuid.uuid4().bytes,
            None if rack is None else str(rack),
            [each.meta.directory_id.bytes for each in self.store.directories if each.meta.directory_id],
        )

    def _partitions_here(self) -> Iterator[tuple[TopicPartition, bytes, Sequence[bytes]]]:
        for topic in self.image.topics:
            for index, partition in topic.partitions.items():
                if self._node_id in partition.replicas:
                    yield (topic.name, index), topic.topic_id, partition.directories

    def _is_clean(self, topic: str, index: int) -> bool:
        """Whether nothing can have been lost with the last stop."""
        return self.store.get(topic, index) is None or self.store.home(topic, index).opening.clean

    async def _commit(self, records: Iterable[VersionedRecord]) -> None:
        """``Refused`` if the metadata log cannot take them, or not for good."""
        records = iter(records)
        while batch := list(islice(records, BATCH_RECORDS_MAX)):
            durable: asyncio.Future[Fault | None] = self._loop.create_future()
            self._cluster.commit(batch, durable.set_result)
            fault = await durable
            if fault is not None:
                raise Refused(fault, f"{METADATA_TOPIC}-0 could not be synced")

    # -- failing ---------------------------------------------------------------------------------

    def _tell_failure(self, directory: LogDirectory) -> None:
        """In whatever thread it was that met it."""
        self._loop.call_soon_threadsafe(self._directory_failed, directory)

    def _directory_failed(self, directory: LogDirectory) -> None:
        """A disk is gone. Clients that wait are told; the metadata says that nobody leads what lay there."""
        reason = directory.health.reason or "unknown"
        events.error("directory offline", path=directory.path, reason=reason, partitions=len(directory.logs))
        keys = [
            key
            for key, log in directory.logs.items()
            # One that has just moved away is still listed here.
            if key[0] != METADATA_TOPIC and self.store.get(*key) is log
        ]
        for key in keys:
            self._cluster.forget_live(*key)
        if self.metadata_log.home is directory:
            self.when_lost(f"{directory.path} holds the metadata and is offline: {reason}")
            return
        try:
            for start in range(0, len(keys), BATCH_RECORDS_MAX):
                records = list(self._leaderless(keys[start : start + BATCH_RECORDS_MAX]))
                if records:
                    self._cluster.commit(records, lambda _fault: None)
        except Refused as refused:
            events.error("offline partitions not recorded", path=directory.path, reason=refused.message)

    def _leaderless(self, keys: Iterable[TopicPartition]) -> Iterator[VersionedRecord]:
        for name, index in keys:
            topic = self.image.topics.by_name.get(name)
            if topic is not None and topic.partitions[index].leader == self._node_id:
                yield leader_record(topic, index, topic.partitions[index], NO_LEADER)

    # -- stopping --------------------------------------------------------------------------------

    async def stop(self) -> None:
        """Come to rest: say goodbye in the metadata, and let every thread finish what it does."""
        self._maintenance.stop()
        try:
            await self._commit(farewell_records(self.image, self._node_id))
        except Refused as refused:
            events.warning("stop not recorded", reason=refused.message)
        await self._cleaner.drain()
        await self._housekeeper.drain()
        await self._reader.drain()
        for committer in self.committers.values():
            await committer.drain()

    def end_threads(self) -> None:
        self._cleaner.close()
        self._housekeeper.close()
        self._reader.close()
        for committer in self.committers.values():
            committer.close()

    def close(self) -> None:
        """Close the logs, so that the next start need not look through them."""
        self.end_threads()
        self.store.close()
