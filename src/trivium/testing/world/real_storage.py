"""A node's own storage in a world: the real log in Kafka's layout, on a disk that forgets.

Slower than ``storage``, and true to the byte: a loss of power leaves torn batches, files without names and
names without files, and every start recovers from them. The metadata are read from their log again, too.
Segments are small, so that they roll. What takes a thread in a node happens here at once; a sync takes its
time, and the disk hears of it in the end.
"""

from collections.abc import Callable
from itertools import count
from random import Random
from typing import Final, TypeVar, cast
from uuid import UUID

from trivium.core.metadata import MetadataImage
from trivium.core.timers import Timers
from trivium.log.commit import GroupCommit, Waiter
from trivium.log.names import METADATA_TOPIC
from trivium.log.partition_log import PartitionLog
from trivium.log.settings import LogSettings
from trivium.log.store import Identity, LogStore
from trivium.server.committer import Committer
from trivium.server.housekeeping import Housekeeping
from trivium.server.metadata_store import load
from trivium.server.moving import Moving
from trivium.server.node_data import METADATA_TOPIC_ID
from trivium.server.storage import NodeStorage
from trivium.server.worker import Worker
from trivium.testing.disk import FakeDisk
from trivium.testing.world.clock import SimulatedClock
from trivium.testing.world.machine import CLUSTER_ID, NODE_ID, AfterSync

PATH: Final = "/data"
SETTINGS: Final = LogSettings(segment_bytes=4_000, index_interval_bytes=400, delete=False)

T = TypeVar("T")


class RealStorage:
    """The machine's disk, and what a node makes of it at each start."""

    def __init__(self, call_after_sync: AfterSync, clock: SimulatedClock) -> None:
        self._call_after_sync = call_after_sync
        self._clock = clock
        self._ids = count(1)
        self._disk = FakeDisk()
        self._store: LogStore

    def start(self, timers: Timers) -> tuple[NodeStorage, MetadataImage]:
        disk, clock = self._disk, self._clock
        image = load(disk, [PATH], clock.wall_ms()).image
        self._store = store = LogStore.open(
            disk,
            [PATH],
            Identity(NODE_ID, CLUSTER_ID),
            new_id=lambda: UUID(int=next(self._ids)),
            settings_for=lambda _topic: SETTINGS,
            now_ms=clock.wall_ms(),
            topic_id_of=_TopicIds(image).get,
        )
        worker = cast(Worker, _AtOnce())
        housekeeping = Housekeeping(worker, timers)
        storage = NodeStorage(
            disk,
            store,
            {PATH: cast(Committer, _Committer(store.directories[0].commit, self._call_after_sync))},
            housekeeping,
            Moving(disk, worker, housekeeping, clock),
            worker,
            clock,
            timers,
            lambda _topic: SETTINGS,
            [PATH],
        )
        if store.get(METADATA_TOPIC, 0) is None:
            storage.create_metadata_log(PATH, METADATA_TOPIC_ID)
        storage.metadata = storage.log(METADATA_TOPIC, 0)
        storage.adopt(
            ((name, index), topic.topic_id, partition.directories)
            for name, topic in image.topics.by_name.items()
            for index, partition in topic.partitions.items()
        )
        return storage, image

    def lose_power(self, random: Random) -> None:
        self._disk = self._disk.crash(random)

    def settle(self) -> None:
        for topic, partition in self._store:
            log = self._store.get(topic, partition)
            assert log is not None
            log.sync()


class _TopicIds:
    """Which topic a directory of a partition belongs to, by the metadata."""

    def __init__(self, image: MetadataImage) -> None:
        self._topics = image.topics.by_name

    def get(self, name: str, index: int) -> UUID | None:
        if name == METADATA_TOPIC:
            return UUID(bytes=METADATA_TOPIC_ID)
        topic = self._topics.get(name)
        return None if topic is None or index not in topic.partitions else UUID(bytes=topic.topic_id)


class _AtOnce:
    """A ``Worker`` without threads."""

    def run(self, job: Callable[[], T], then: Callable[[T], None]) -> None:
        then(job())


class _Committer:
    """A ``Committer`` without threads: rounds of the real group commit, each as long as a sync takes."""

    def __init__(self, commit: GroupCommit, call_after_sync: AfterSync) -> None:
        self._commit = commit
        self._call_after_sync = call_after_sync

    def wait_for(self, log: PartitionLog, waiter: Waiter) -> None:
        self._commit.wait_for(log, waiter)
        self._begin()

    def _begin(self) -> None:
        round_ = self._commit.begin()
        if round_ is not None:

            def synced() -> None:
                self._commit.finish(round_, round_.run())
                self._begin()

            self._call_after_sync(synced)
