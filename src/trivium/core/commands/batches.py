"""Batches of a query: many prepared transactions, one commit (ADR 11).

A query writes one batch after the other, each by many producers at once. Every producer prepares its
transaction; then all of them are committed by one command, which is remembered with the number of the batch:
the same batch, written again after a crash, is not committed twice.
"""

from collections.abc import Sequence
from operator import attrgetter
from typing import ClassVar, Final, NamedTuple

from trivium.core.access import Operation, Resource, Row, on_each, on_transactional_id
from trivium.core.commands.command import Command, command
from trivium.core.faults import Fault

NO_BATCH: Final = -1
NO_TIME_MS: Final = -1


class Outcome(NamedTuple):
    fault: Fault | None = None
    message: str | None = None


@command
class PrepareTransaction(Command[Outcome]):
    """Everything is written. From now on the transaction waits for its batch, longer than its time-out."""

    ROW: ClassVar[Row] = on_transactional_id(Operation.WRITE)
    transactional_id: str
    producer_id: int
    producer_epoch: int

    def refused(self, fault: Fault, message: str | None = None) -> Outcome:
        return Outcome(fault, message)


class Prepared(NamedTuple):
    transactional_id: str
    producer_id: int
    producer_epoch: int


class CommittedBatch(NamedTuple):
    fault: Fault | None = None
    message: str | None = None
    last_batch_id: int = NO_BATCH
    was_repeated: bool = False
    """The query had committed it, or a later one, before: what was prepared again is aborted."""


@command
class CommitBatch(Command[CommittedBatch]):
    """Commit all of these transactions, or none, as this batch of the query. It is decided when the reply
    comes. The producers are fenced by it: whoever goes on initialises anew.

    A query is protected as a transactional id of the same name is, and each transaction by its own.
    """

    ROW: ClassVar[Row] = Row(Operation.WRITE, Resource.TRANSACTIONAL_ID, attrgetter("query_id"))
    query_id: str
    batch_id: int
    prepared: Sequence[Prepared]

    def refused(self, fault: Fault, message: str | None = None) -> CommittedBatch:
        return CommittedBatch(fault, message)


class DescribedQuery(NamedTuple):
    query_id: str
    fault: Fault | None = None
    last_batch_id: int = NO_BATCH
    committed_at_ms: int = NO_TIME_MS


@command
class DescribeQueries(Command[list[DescribedQuery]]):
    """The newest batch of each query that is committed."""

    ROW: ClassVar[Row] = on_each(Operation.DESCRIBE, Resource.TRANSACTIONAL_ID)
    query_ids: Sequence[str]

    def refused(self, fault: Fault, message: str | None = None) -> list[DescribedQuery]:
        return [DescribedQuery(each, fault) for each in self.query_ids]
