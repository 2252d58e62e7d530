"""The transaction coordinator: its topic, its ledgers, and which of their parts carries out which command."""

from collections.abc import Callable
from typing import Protocol

from trivium.core.access import Access
from trivium.core.all_done import AllDone
from trivium.core.caller import Caller
from trivium.core.cluster import Cluster
from trivium.core.commands.command import Handler, Reply, Routes
from trivium.core.commands.offsets import CommitOffsets
from trivium.core.commands.topics import NewTopic
from trivium.core.commands.transactions import (
    AddedPart,
    AddOffsets,
    AddPartitions,
    AddPartitionsInBatch,
    CommitInTransaction,
    DescribeTransactions,
    EndTransaction,
    InitTransactions,
    ListTransactions,
    MarkersToWrite,
    WriteMarkers,
)
from trivium.core.faults import Fault, Refused
from trivium.core.groups.moment import moment
from trivium.core.groups.offsets import Place
from trivium.core.internal_topic import InternalTopic
from trivium.core.refusing import refusing
from trivium.core.settings import Settings
from trivium.core.timers import Timers
from trivium.core.transactions.adding import Adding
from trivium.core.transactions.batch_commits import BatchCommits
from trivium.core.transactions.ending import Ending, NewId
from trivium.core.transactions.expiry import Expiry
from trivium.core.transactions.initializing import Initializing
from trivium.core.transactions.ledger import Ledger
from trivium.core.transactions.ledgers import Ledgers
from trivium.core.transactions.listing import Listing
from trivium.core.transactions.markers import Marker, Markers
from trivium.core.transactions.queries import Queries
from trivium.core.transactions.rules import transaction_rules
from trivium.core.transactions.topic import transactions_topic
from trivium.core.transactions.transaction import DECIDED, Producer, State, Transaction
from trivium.core.trivium_log import TriviumLog
from trivium.messages.schema import Message


class Groups(Protocol):
    """The part of the group coordinator that transactions need."""

    @property
    def topic(self) -> InternalTopic: ...
    @property
    def routes(self) -> Routes: ...
    def transaction_ended(self, partition: int, producer_id: int, *, committed: bool) -> None: ...


class TransactionCoordinator:
    def __init__(
        self,
        cluster: Cluster,
        settings: Settings,
        access: Access,
        timers: Timers,
        new_topic_records: Callable[[NewTopic], list[tuple[Message, int]]],
        new_id: NewId,
        groups: Groups,
        log: TriviumLog,
        queries: Queries,
    ) -> None:
        rules = transaction_rules(settings)
        self._groups = groups
        self.topic = transactions_topic(cluster, settings, new_topic_records)
        self.ledgers = Ledgers(self.topic, cluster, timers, self._changed, self._loading, self._found)
        self._markers = Markers(cluster, self._ended)
        self._ending = Ending(self.ledgers, self._markers, timers, new_id)
        self._batches = BatchCommits(self.ledgers, self._ending, log, queries, access, cluster.clock, timers)
        self._expiry = Expiry(self.ledgers, rules, self._ending, timers)
        self.adding = Adding(self.ledgers, rules, cluster, access, groups.topic, groups.routes[CommitOffsets])
        initializing = Initializing(self.ledgers, rules, access, self._ending, new_id)
        listing = Listing(self.ledgers, access, lambda: moment(cluster.clock))
        handlers: dict[type, Handler] = {
            InitTransactions: initializing.init,
            AddPartitions: self.adding.add,
            AddPartitionsInBatch: self.adding.add_batch,
            AddOffsets: self.adding.add_offsets,
            CommitInTransaction: self.adding.commit,
            EndTransaction: self._ending.end,
            WriteMarkers: self._write_markers,
            DescribeTransactions: listing.describe,
            ListTransactions: listing.list_transactions,
        }
        self.routes: Routes = {command: refusing(handler) for command, handler in handlers.items()}
        self.routes.update(self._batches.routes)

    def start(self) -> None:
        """Read all ledgers soon, go on with what was decided, and watch the time: once, when the metadata is
        complete.
        """
        self.ledgers.start()
        self._expiry.start()

    def _changed(self, ledger: Ledger, transaction: Transaction) -> None:
        self._expiry.watch(ledger, transaction)

    def _loading(self) -> None:
        self._batches.ready()

    def _found(self, ledger: Ledger, transaction: Transaction) -> None:
        self._expiry.watch(ledger, transaction)
        if transaction.state in DECIDED:
            self._ending.resume(ledger, transaction)
        elif transaction.state is State.ONGOING:
            self._batches.found(ledger, transaction)

    def _ended(self, place: Place, producer_id: int, committed: bool) -> None:
        topic, partition = place
        if topic == self._groups.topic.name:
            self._groups.transaction_ended(partition, producer_id, committed=committed)

    # -- markers by hand -------------------------------------------------------------------------

    def _write_markers(
        self, command: WriteMarkers, caller: Caller, reply: Reply[list[list[AddedPart]]]
    ) -> None:
        results: list[dict[Place, Fault | None]] = [{} for _ in command.markers]
        waiting = AllDone(
            lambda _fault: reply(
                [[AddedPart(*place, fault) for place, fault in parts.items()] for parts in results]
            )
        )
        for markers, faults in zip(command.markers, results, strict=True):
            for place in markers.partitions:
                self._write_marker(markers, place, faults, waiting)
        waiting.all_begun()

    def _write_marker(
        self, markers: MarkersToWrite, place: Place, faults: dict[Place, Fault | None], waiting: AllDone
    ) -> None:
        marker = Marker(
            Producer(markers.producer_id, markers.producer_epoch),
            markers.commits,
            markers.coordinator_epoch,
            markers.is_strict,
        )
        written = waiting.begin()

        def done(fault: Fault | None) -> None:
            faults[place] = fault
            written(None)

        try:
            self._markers.write(place, marker, done)
        except Refused as refused:
            done(refused.fault)
