"""A transaction coordinator in a world of memory, with short words for what its tests say often."""

from collections.abc import Callable, Mapping, Sequence
from itertools import count
from typing import Any, TypeVar

from tests.core.batches import batch, fetch
from tests.core.fakes import FakeLog, World
from trivium.core.access import Access
from trivium.core.broker import Broker
from trivium.core.caller import Caller
from trivium.core.cluster import OFFSETS_TOPIC, TRANSACTIONS_TOPIC
from trivium.core.commands.command import Command, Routes
from trivium.core.commands.offsets import (
    CommittedPart,
    FetchOffsets,
    FoundOffset,
    GroupOffsetsWanted,
    OffsetToCommit,
)
from trivium.core.commands.producers import NewProducer
from trivium.core.commands.records import FetchPart, Produce, ProducedPart, ProducePart
from trivium.core.commands.transactions import (
    AddedPart,
    AddOffsets,
    AddPartitions,
    CommitInTransaction,
    DescribedTransaction,
    DescribeTransactions,
    Ended,
    EndTransaction,
    InitTransactions,
)
from trivium.core.faults import Fault
from trivium.core.features import FOUNDING_LEVELS, TRANSACTION_VERSION, Features
from trivium.core.fetch import Fetching
from trivium.core.groups.coordinator import GroupCoordinator
from trivium.core.produce import ACKS_ALL, Producing
from trivium.core.producer_ids import Producers
from trivium.core.timers import Timers
from trivium.core.transactions.coordinator import TransactionCoordinator
from trivium.core.transactions.queries import Queries
from trivium.core.transactions.transaction import EPOCH_LAST, Producer
from trivium.core.trivium_log import TriviumLog
from trivium.messages.stored.metadata_brokers import FeatureLevelRecord
from trivium.records.batch import check_batches, iter_records

TIMEOUT_MS = 60_000
TX = "tx"
STATIC = {"offsets.topic.num.partitions": "1", "transaction.state.log.num.partitions": "1"}
"""One partition is enough, unless a test is about them."""
R = TypeVar("R")


class Coordinated:
    def __init__(
        self,
        static: Mapping[str, str] | None = None,
        *,
        level: int = FOUNDING_LEVELS[TRANSACTION_VERSION],
        access: Access | None = None,
    ) -> None:
        self.world = World({**STATIC, **(static or {})})
        self.world.access = access or self.world.access
        self.world.image.features.finalize(FeatureLevelRecord(name=TRANSACTION_VERSION, feature_level=level))
        self._uuids = count(1)
        self.begin()
        self.world.create_topic("t", 3)

    def begin(self) -> None:
        """Put everything together on what the logs hold."""
        world = self.world
        self.groups = GroupCoordinator(
            world.cluster,
            world.settings,
            world.access,
            world.timers,
            world.topics.new_topic_records,
            lambda: f"uuid-{next(self._uuids)}",
        )
        producers = Producers(world.cluster, world.access)
        queries = Queries()
        self.coordinator = TransactionCoordinator(
            world.cluster,
            world.settings,
            world.access,
            world.timers,
            world.topics.new_topic_records,
            producers.give,
            self.groups,
            TriviumLog(world.cluster, world.topics.new_topic_records, [queries]),
            queries,
        )
        parts: Sequence[Routes] = [
            Features(world.cluster).routes,
            producers.routes,
            self.groups.routes,
            self.coordinator.routes,
            Producing(world.cluster, world.access, world.timers, self.coordinator.adding.admit).routes,
            Fetching(world.cluster, world.access, world.timers, world.soon).routes,
        ]
        self.broker = Broker(world.access, parts)
        self.groups.start()
        self.coordinator.start()

    def restart(self, *, holds_syncs: bool = False) -> None:
        """The process ends and another one begins; the logs stay as they are."""
        world = self.world
        world.storage.holds_syncs = holds_syncs
        world.timers = Timers(world.clock)
        for told in (world.cluster.removed, world.cluster.created, world.cluster.dropped):
            told.clear()
        self.begin()
        world.pass_time(1_000)

    # -- commands --------------------------------------------------------------------------------

    def submit(self, command: Command[R], caller: Caller | None = None) -> list[R]:
        replies: list[R] = []
        reply: Callable[[Any], None] = replies.append
        self.broker.execute(command, caller or Caller(), reply)
        return replies

    def execute(self, command: Command[R], caller: Caller | None = None) -> R:
        replies = self.submit(command, caller)
        assert len(replies) == 1, f"{command} was answered {len(replies)} times"
        return replies[0]

    def init(self, transactional_id: str = TX, **fields: Any) -> "Client":
        """A producer that has been initialised, with the answer that it got."""
        answer = self.execute(InitTransactions(transactional_id, **{"timeout_ms": TIMEOUT_MS, **fields}))
        if answer.fault is Fault.CONCURRENT_TRANSACTIONS:
            answer = self.execute(InitTransactions(transactional_id, **{"timeout_ms": TIMEOUT_MS, **fields}))
        return Client(self, transactional_id, answer)

    def exhausted(self, client: "Client") -> "Client":
        """The same producer with the last epoch that a client can have, as its ledger would say it."""
        (ledger,) = self.coordinator.ledgers.loaded
        last = Producer(client.producer_id, EPOCH_LAST - 1)
        ledger.put(ledger.transactions[client.transactional_id]._replace(producer=last), lambda _fault: None)
        return Client(self, client.transactional_id, client.answer._replace(producer_epoch=last.epoch))

    def described(self, transactional_id: str = TX) -> DescribedTransaction:
        return self.execute(DescribeTransactions([transactional_id]))[0]

    # -- what can be seen ------------------------------------------------------------------------

    def log(self, partition: int = 0, topic: str = "t") -> FakeLog:
        return self.world.log(topic, partition)

    def committed(self, partition: int = 0, topic: str = "t") -> list[bytes | None]:
        """What a reader of committed records is left with, which drops aborted ones by itself."""
        part = self.execute(fetch(FetchPart(topic, partition, 0, 1 << 20), committed=True))[0]
        assert part.fault is None
        to_come = sorted(part.aborted or (), key=lambda each: each.first_offset)
        being_aborted: set[int] = set()
        found: list[bytes | None] = []
        for run in part.runs:
            for at, header in check_batches(run):
                while to_come and to_come[0].first_offset <= header.last_offset:
                    being_aborted.add(to_come.pop(0).producer_id)
                if header.is_control:
                    being_aborted.discard(header.producer_id)
                elif not (header.is_transactional and header.producer_id in being_aborted):
                    found += [record.value for record in iter_records(run, at)]
        return found

    def markers(self, partition: int = 0, topic: str = "t") -> list[tuple[int, int]]:
        """Producer id and epoch of every marker, in order."""
        log = self.log(partition, topic)
        piece = log.read(log.log_start_offset, 1 << 30, committed=False)
        return [
            (header.producer_id, header.producer_epoch)
            for run in piece.runs
            for _, header in check_batches(run)
            if header.is_control
        ]

    def offset(self, group_id: str = "g", *, require_stable: bool = False) -> FoundOffset:
        wanted = GroupOffsetsWanted(group_id, [("t", 0)])
        found = self.execute(FetchOffsets([wanted], require_stable=require_stable))[0]
        assert found.fault is None
        return found.offsets[0]


class Client:
    """A producer with a transactional id, as a client library keeps it. ``renews``: it is a new one, whose
    writes join the transaction by themselves and whose epoch is renewed with every end.
    """

    def __init__(self, world: Coordinated, transactional_id: str, answer: NewProducer) -> None:
        self.world = world
        self.transactional_id = transactional_id
        self.answer = answer
        self.producer_id, self.epoch = answer.producer_id, answer.producer_epoch
        self.sequences: dict[int, int] = {}
        self.renews = True

    def _is(self) -> tuple[str, int, int]:
        return self.transactional_id, self.producer_id, self.epoch

    def adding(self, *partitions: int, topic: str = "t") -> AddPartitions:
        return AddPartitions(*self._is(), [(topic, partition) for partition in partitions])

    def add(self, *partitions: int, topic: str = "t") -> list[Fault | None]:
        results: list[AddedPart] = self.world.execute(self.adding(*partitions, topic=topic))
        return [each.fault for each in results]

    def sending(self, value: bytes, partition: int = 0, sequence: int | None = None) -> Produce:
        if sequence is None:
            sequence = self.sequences.get(partition, 0)
            self.sequences[partition] = sequence + 1
        records = batch(
            value,
            producer_id=self.producer_id,
            producer_epoch=self.epoch,
            base_sequence=sequence,
            transactional=True,
        )
        return Produce(
            [ProducePart("t", partition, records)], ACKS_ALL, 30_000, self.transactional_id, self.renews
        )

    def send(self, value: bytes, partition: int = 0, sequence: int | None = None) -> ProducedPart:
        (result,) = self.world.execute(self.sending(value, partition, sequence))
        return result

    def adding_offsets(self, group_id: str = "g") -> AddOffsets:
        return AddOffsets(*self._is(), group_id)

    def add_offsets(self, group_id: str = "g") -> Fault | None:
        return self.world.execute(self.adding_offsets(group_id))

    def committing(self, offset: int, group_id: str = "g", **fields: Any) -> CommitInTransaction:
        parts = [OffsetToCommit("t", 0, offset)]
        return CommitInTransaction(*self._is(), group_id, parts, joins=self.renews, **fields)

    def commit_offset(self, offset: int, group_id: str = "g", **fields: Any) -> Fault | None:
        results: list[CommittedPart] = self.world.execute(self.committing(offset, group_id, **fields))
        return results[0].fault

    def ending(self, *, commits: bool) -> EndTransaction:
        return EndTransaction(*self._is(), commits, self.renews)

    def end(self, *, commits: bool) -> Ended:
        ended = self.world.execute(self.ending(commits=commits))
        if ended.fault is None:
            self.take(ended)
        return ended

    def take(self, ended: Ended) -> None:
        """Go on with what the end was answered with."""
        if self.renews:
            self.producer_id, self.epoch = ended.producer_id, ended.producer_epoch
            self.sequences.clear()


__all__ = ["OFFSETS_TOPIC", "TRANSACTIONS_TOPIC", "Client", "Coordinated"]
