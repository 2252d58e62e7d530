"""The machine that a broker runs on: a start puts the core together on what the disk holds; the power may go.

The core, the Kafka sessions and the coordinators are those of a node; only what a node has from the operating
system (time, disk, threads) is simulated. Topics are there, durably, before anything may go wrong.
"""

from collections.abc import Callable, Mapping
from itertools import count
from random import Random
from typing import Final, Protocol

from trivium.core.access import Access
from trivium.core.broker import Broker
from trivium.core.cluster import Cluster
from trivium.core.commands.groups import CoordinatorKind
from trivium.core.commands.topics import NewTopic
from trivium.core.faults import Fault
from trivium.core.features import FOUNDING_LEVELS, TRANSACTION_VERSION, Features
from trivium.core.fetch import Fetching
from trivium.core.groups.coordinator import GroupCoordinator
from trivium.core.list_offsets import Offsets
from trivium.core.metadata import MetadataImage
from trivium.core.ports import Storage
from trivium.core.produce import Producing
from trivium.core.producer_ids import Producers
from trivium.core.registration import leadership_records
from trivium.core.settings import Settings
from trivium.core.timers import Timers
from trivium.core.topic_creation import TopicCreation
from trivium.core.topics import TopicDirectory
from trivium.core.transactions.coordinator import TransactionCoordinator
from trivium.core.transactions.queries import Queries
from trivium.core.trivium_log import TriviumLog
from trivium.log.names import METADATA_TOPIC
from trivium.messages.stored.metadata_brokers import FeatureLevelRecord
from trivium.protocols.kafka.protocol import KafkaProtocol
from trivium.testing.world.clock import SimulatedClock

NODE_ID: Final = 1
CLUSTER_ID: Final = "world"
SYNC_MS_MAX: Final = 5
STATIC: Final = {
    "offsets.topic.num.partitions": "1",
    "transaction.state.log.num.partitions": "3",
    "group.initial.rebalance.delay.ms": "0",
}


def _ignore(_fault: Fault | None) -> None:
    """Nobody waits for it: what was not durable is not there after a crash, and is done again."""


AfterSync = Callable[[Callable[[], None]], None]
"""Calls back when a sync that begins now has ended."""


class Disk(Protocol):
    """What survives a loss of power, as far as it was synced."""

    def start(self, timers: Timers) -> tuple[Storage, MetadataImage]:
        """What a broker finds that is started now."""
        ...

    def lose_power(self, random: Random) -> None: ...

    def settle(self) -> None:
        """Everything is durable: what a world begins with."""
        ...


NewDisk = Callable[[AfterSync, SimulatedClock], Disk]


class Machine:
    def __init__(
        self,
        clock: SimulatedClock,
        random: Random,
        topics: Mapping[str, int],
        new_disk: NewDisk,
        *,
        transaction_version: int = FOUNDING_LEVELS[TRANSACTION_VERSION],
        settings: Mapping[str, str] | None = None,
    ) -> None:
        self._clock = clock
        self._random = random
        self._static = {**STATIC, **(settings or {})}
        self._numbers = count(1)
        self.soon: list[Callable[[], None]] = []
        """What is to be done as soon as everything that came in together has come in."""
        self.timers = Timers(clock)
        self._disk = new_disk(self._call_after_sync, clock)
        self.starts = 0
        self.is_up = False
        self.protocol: KafkaProtocol
        self.start()
        levels = {**FOUNDING_LEVELS, TRANSACTION_VERSION: transaction_version}
        for name, level in levels.items():
            record = FeatureLevelRecord(name=name, feature_level=level)
            self.cluster.commit([(record, 0)], _ignore)
        for name, partitions in topics.items():
            new = NewTopic(name, partitions, 1, {})
            self.cluster.commit(self._topics.new_topic_records(new), _ignore)
        self._disk.settle()

    # -- the power -------------------------------------------------------------------------------

    def start(self) -> None:
        clock, timers = self._clock, self.timers
        storage, image = self._disk.start(timers)
        settings = Settings(self._static, image, NODE_ID)
        self.cluster = cluster = Cluster(
            node_id=NODE_ID,
            cluster_id=CLUSTER_ID,
            image=image,
            metadata_log=storage.log(METADATA_TOPIC, 0),
            storage=storage,
            clock=clock,
            rules_for=settings.rules,
        )
        access = Access()
        self._topics = topics = TopicCreation(cluster, settings, access, self._new_id, timers)
        groups = GroupCoordinator(
            cluster, settings, access, timers, topics.new_topic_records, lambda: f"id-{next(self._numbers)}"
        )
        producers = Producers(cluster, access)
        queries = Queries()
        log = TriviumLog(cluster, topics.new_topic_records, [queries])
        transactions = TransactionCoordinator(
            cluster,
            settings,
            access,
            timers,
            topics.new_topic_records,
            producers.give,
            groups,
            log,
            queries,
        )
        groups.finding.add(CoordinatorKind.TRANSACTION, transactions.topic)
        broker = Broker(
            access,
            [
                topics.routes,
                TopicDirectory(cluster, settings, access, topics, lambda _topic: None).routes,
                Features(cluster).routes,
                Producing(
                    cluster, access, timers, transactions.adding.admit, transactions.adding.owns
                ).routes,
                Fetching(cluster, access, timers, self.soon.append, 1 << 30).routes,
                Offsets(cluster, access).routes,
                producers.routes,
                groups.routes,
                transactions.routes,
            ],
        )
        self.protocol = KafkaProtocol(broker, now_ms=clock.monotonic_ms)
        self.starts += 1
        self.is_up = True
        if self.starts > 1:
            # Records may have been lost with the last stop: every partition gets a new epoch.
            records = list(
                leadership_records(
                    image,
                    NODE_ID,
                    is_clean=lambda _topic, _partition: False,
                    is_offline=lambda _topic, _partition: False,
                )
            )
            cluster.commit(records, _ignore)
        groups.start()
        transactions.start()

    def lose_power(self) -> None:
        """Everything stops, and what was not synced may be lost."""
        self.is_up = False
        self.timers = Timers(self._clock)
        self.soon.clear()
        self._disk.lose_power(self._random)

    # -- time ------------------------------------------------------------------------------------

    def turn(self) -> None:
        """Do what was to be done soon, and what that brings up."""
        while self.soon:
            calls = self.soon[:]
            self.soon.clear()
            for call in calls:
                call()

    def _call_after_sync(self, synced: Callable[[], None]) -> None:
        self.timers.after(int(self._random.random() * (SYNC_MS_MAX + 1)), synced)

    def _new_id(self) -> bytes:
        return next(self._numbers).to_bytes(16, "big")
