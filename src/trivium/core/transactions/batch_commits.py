"""One commit for many prepared transactions, remembered with its batch (ADR 11).

The transactions lie in many ledgers, which no single write reaches. So the decision is one record elsewhere,
in ``__trivium``: the query's newest batch, with every transaction that is a part of it. When that record is
durable all of them are committed, and their ledgers follow: each gets its own decision, its markers and its
completion, as after EndTxn. Whatever a crash leaves of this, a ledger that is read again asks here first, and
an open transaction that belongs to a committed batch is committed then.

From the moment the record is written until a ledger has followed, a transaction is *held*: in memory it is
decided already, so that nobody else can end it, fence it or write in it. If nobody can say whether the record
is durable, it stays held until a start has read what is there.

A record replaces the one of the batch before, so it is written only when that batch needs it no more: every
ledger has followed, durably. The commit takes an epoch of its own from each producer, so no later transaction
can be taken for one of an old batch.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from trivium.core.access import NOT_AUTHORIZED, Access, Operation, Resource
from trivium.core.all_done import AllDone
from trivium.core.caller import Caller
from trivium.core.commands.batches import (
    CommitBatch,
    CommittedBatch,
    DescribedQuery,
    DescribeQueries,
    Outcome,
    Prepared,
    PrepareTransaction,
)
from trivium.core.commands.command import Handler, Reply, Routes
from trivium.core.faults import Fault, Refused
from trivium.core.groups.shard import coordinator_fault
from trivium.core.ports import Clock, Done
from trivium.core.refusing import refusing
from trivium.core.timers import Timers
from trivium.core.transactions.ending import Ending, successor
from trivium.core.transactions.ledger import Ledger
from trivium.core.transactions.ledgers import Ledgers
from trivium.core.transactions.queries import QUERIES_MAX, Queries, Query, committed, forgotten
from trivium.core.transactions.transaction import DECIDED, EPOCHS_RENEWED_SINCE, Producer, State, Transaction
from trivium.core.trivium_log import Change, TriviumLog

PREPARED_MAX: Final = 10_000
"""Transactions in one batch; with ids of common length their record is well below ``max.message.bytes``."""
QUERY_ID_CHARS_MAX: Final = 249
"""As long as a topic's name may be."""
FOLLOW_RETRY_MS: Final = 1_000
"""After a ledger could not be written. A disk rarely comes back sooner."""


class _Part(NamedTuple):
    ledger: Ledger
    transaction: Transaction
    prepared: Prepared


class BatchCommits:
    def __init__(
        self,
        ledgers: Ledgers,
        ending: Ending,
        log: TriviumLog,
        queries: Queries,
        access: Access,
        clock: Clock,
        timers: Timers,
    ) -> None:
        self._ledgers = ledgers
        self._ending = ending
        self._log = log
        self._queries = queries
        self._access = access
        self._clock = clock
        self._timers = timers
        self._undecided: set[str] = set()
        """Queries whose newest record is written and not known to be durable."""
        self._following: defaultdict[str, set[str]] = defaultdict(set)
        """By query: transactional ids of its newest batch whose ledgers have not followed durably."""
        handlers: dict[type, Handler] = {
            PrepareTransaction: self.prepare,
            CommitBatch: self.commit,
            DescribeQueries: self.describe,
        }
        self.routes: Routes = {command: refusing(handler) for command, handler in handlers.items()}

    # -- preparing -------------------------------------------------------------------------------

    def prepare(self, command: PrepareTransaction, caller: Caller, reply: Reply[Outcome]) -> None:
        asked = Prepared(command.transactional_id, command.producer_id, command.producer_epoch)
        ledger, transaction, _ = self._part(asked)
        if transaction.state is State.ONGOING and not transaction.is_patient:
            ledger.put(transaction.prepared(ledger.now()), lambda fault: reply(Outcome(fault)))
        else:
            # Prepared before, or there is nothing in it; what that rests on may not be durable yet.
            ledger.when_durable(lambda fault: reply(Outcome(fault)))

    # -- committing ------------------------------------------------------------------------------

    def commit(self, command: CommitBatch, caller: Caller, reply: Reply[CommittedBatch]) -> None:
        self._check(command, caller)
        self.ready()
        query = self._queries.get(command.query_id)
        if self._is_under_way(query):
            raise Refused(
                Fault.CONCURRENT_TRANSACTIONS, f"Batch {query.batch_id} of this query is being committed."
            )
        if command.batch_id <= query.batch_id:
            self._abort(command, query, reply)
        else:
            self._decide(command, reply)

    def _check(self, command: CommitBatch, caller: Caller) -> None:
        if not 0 < len(command.query_id) <= QUERY_ID_CHARS_MAX or command.batch_id < 0:
            raise Refused(
                Fault.INVALID_REQUEST,
                f"A query has a name of 1 to {QUERY_ID_CHARS_MAX} characters, and its batches count from 0.",
            )
        names = {each.transactional_id for each in command.prepared}
        if len(names) < len(command.prepared) or len(names) > PREPARED_MAX:
            raise Refused(
                Fault.INVALID_REQUEST,
                f"A batch has at most {PREPARED_MAX} transactions, each with a transactional id of its own.",
            )
        for name in names:
            if not self._access.allows(caller, Operation.WRITE, Resource.TRANSACTIONAL_ID, name):
                raise Refused(NOT_AUTHORIZED[Resource.TRANSACTIONAL_ID])

    def _is_under_way(self, query: Query) -> bool:
        """Whether its newest batch still needs its record. A batch of an earlier life goes on by being
        looked at. ``Refused`` if that is not possible now.
        """
        for each in query.prepared:
            self._ledgers.find(each.transactional_id)
        return query.query_id in self._undecided or query.query_id in self._following

    def _decide(self, command: CommitBatch, reply: Reply[CommittedBatch]) -> None:
        parts = [self._part(prepared) for prepared in command.prepared]
        # A producer that has written nothing is not fenced: what it begins later is none of this batch.
        parts = [part for part in parts if part.transaction.state is State.ONGOING]
        query = Query(
            command.query_id,
            command.batch_id,
            self._clock.wall_ms(),
            tuple(part.prepared for part in parts),
        )
        changes = [*self._forgetting(command.query_id), committed(query)]
        self._undecided.add(command.query_id)
        for part in parts:
            self._hold(part, command.query_id)
        try:
            self._log.commit(changes, lambda fault: self._decided(command, fault, reply))
        except Refused as refused:
            # Nothing is written, so nothing is decided: everything is as before.
            self._undecided.discard(command.query_id)
            self._following.pop(command.query_id, None)
            for part in parts:
                part.ledger.assume(part.transaction)
            raise Refused(coordinator_fault(refused.fault), refused.message) from refused

    def _forgetting(self, query_id: str) -> Sequence[Change]:
        """Make room for a query, if it is a new one and there is none."""
        if len(self._queries) < QUERIES_MAX or query_id in self._queries:
            return ()
        oldest = next(iter(self._queries))
        return () if self._is_under_way(oldest) else (forgotten(oldest.query_id),)

    def _decided(self, command: CommitBatch, fault: Fault | None, reply: Reply[CommittedBatch]) -> None:
        if fault is not None:
            # It may have happened, and it may not: nobody may act on either before a start has looked.
            reply(command.refused(coordinator_fault(fault), "Nobody knows whether the batch is committed."))
            return
        self._undecided.discard(command.query_id)
        waiting = AllDone(lambda _fault: reply(CommittedBatch(last_batch_id=command.batch_id)))
        for transactional_id in sorted(self._following.get(command.query_id, ())):
            self._follow(command.query_id, transactional_id, waiting.begin())
        waiting.all_begun()

    def _abort(self, command: CommitBatch, query: Query, reply: Reply[CommittedBatch]) -> None:
        """The batch is there: what was written again for it must not be seen."""
        done = CommittedBatch(last_batch_id=query.batch_id, was_repeated=True)
        waiting = AllDone(lambda fault: reply(done if fault is None else command.refused(fault)))
        self._log.when_durable(waiting.begin())
        for prepared in command.prepared:
            found = self._ledgers.find(prepared.transactional_id)
            if found is not None and _is_open(found[1], prepared):
                self._ending.fence(*found, waiting.begin())
        waiting.all_begun()

    # -- ledgers follow --------------------------------------------------------------------------

    def ready(self) -> None:
        """Know every decision. ``Refused`` if they cannot be read: then no ledger can be, either."""
        try:
            self._log.load()
        except Refused as refused:
            raise Refused(coordinator_fault(refused.fault), refused.message) from refused

    def found(self, ledger: Ledger, transaction: Transaction) -> None:
        """A ledger that was read holds an open transaction: perhaps its batch is committed. What was read may
        lie in the page cache only, so it counts when it is durable.
        """
        prepared = Prepared(transaction.transactional_id, *transaction.client)
        query_id = self._queries.decides(prepared)
        if query_id is not None:
            self._hold(_Part(ledger, transaction, prepared), query_id)
            self._go_on(query_id, transaction.transactional_id)

    def _go_on(self, query_id: str, transactional_id: str) -> None:
        """Follow, with nobody who waits for it. This must not fail: there are others to be found."""

        def durable(fault: Fault | None) -> None:
            if fault is None:
                self._follow(query_id, transactional_id, lambda _fault: None)

        try:
            self._log.when_durable(durable)
        except Refused:
            self._timers.after(FOLLOW_RETRY_MS, lambda: self._go_on(query_id, transactional_id))

    def _hold(self, part: _Part, query_id: str) -> None:
        ledger, transaction, prepared = part
        ledger.assume(
            transaction.decided(
                commits=True,
                version=EPOCHS_RENEWED_SINCE,
                successor=successor(transaction, renews_epoch=True),
                now=ledger.now(),
            )
        )
        self._following[query_id].add(prepared.transactional_id)

    def _follow(self, query_id: str, transactional_id: str, marked: Done) -> None:
        """Carry a durable decision out in one ledger; ``marked`` once that is done, or cannot be done now."""
        if transactional_id not in self._following.get(query_id, ()):
            marked(None)
            return

        def written(fault: Fault | None) -> None:
            # If it never will be durable the directory is offline, and the next start goes on.
            if fault is None:
                self._has_followed(query_id, transactional_id)

        try:
            found = self._ledgers.find(transactional_id)
            assert found is not None
            assert found[1].state in DECIDED, "what is held cannot change"
            self._ending.carry_out(*found, written, lambda: marked(None))
        except Refused:
            marked(None)
            self._timers.after(
                FOLLOW_RETRY_MS, lambda: self._follow(query_id, transactional_id, lambda _fault: None)
            )

    def _has_followed(self, query_id: str, transactional_id: str) -> None:
        left = self._following.get(query_id, set())
        left.discard(transactional_id)
        if not left:
            self._following.pop(query_id, None)

    def _part(self, prepared: Prepared) -> _Part:
        """A transaction that may be prepared or committed. ``Refused`` if it is another one, or ended."""
        found = self._ledgers.find(prepared.transactional_id)
        if found is None or found[1].client.producer_id != prepared.producer_id:
            raise Refused(Fault.INVALID_PRODUCER_ID_MAPPING, f"{prepared.transactional_id} is not known so.")
        ledger, transaction = found
        if transaction.state in DECIDED:
            raise Refused(Fault.CONCURRENT_TRANSACTIONS, f"{prepared.transactional_id} is being ended.")
        if transaction.client.epoch != prepared.producer_epoch:
            raise Refused(
                Fault.PRODUCER_FENCED,
                f"{prepared.transactional_id} has been ended, or is used by somebody else.",
            )
        if transaction.state not in (State.ONGOING, State.EMPTY):
            raise Refused(Fault.INVALID_TXN_STATE, f"{prepared.transactional_id} has been ended.")
        return _Part(ledger, transaction, prepared)

    # -- describing ------------------------------------------------------------------------------

    def describe(self, command: DescribeQueries, caller: Caller, reply: Reply[list[DescribedQuery]]) -> None:
        self.ready()
        self._log.when_durable(
            lambda fault: reply(
                list(self._described(command.query_ids, caller))
                if fault is None
                else command.refused(coordinator_fault(fault))
            )
        )

    def _described(self, query_ids: Sequence[str], caller: Caller) -> Iterator[DescribedQuery]:
        for query_id in query_ids:
            if not self._access.allows(caller, Operation.DESCRIBE, Resource.TRANSACTIONAL_ID, query_id):
                yield DescribedQuery(query_id, NOT_AUTHORIZED[Resource.TRANSACTIONAL_ID])
            else:
                query = self._queries.get(query_id)
                yield DescribedQuery(query_id, None, query.batch_id, query.committed_at_ms)


def _is_open(transaction: Transaction, prepared: Prepared) -> bool:
    return transaction.state is State.ONGOING and transaction.client == Producer(*prepared[1:])
