"""Batches of a query: many prepared transactions, committed by one request, once (an extension; ADR 11).

    prepared = [...]                        each from a ``TransactionalProducer``, wherever that was
    commit_batch(cluster, "query", 7, prepared)

All of them count from then on, or none. The broker remembers the newest batch of each query: asked to commit
it again, or an older one, it aborts what was prepared again and says so. So whoever does not know whether its
commit has happened writes the batch once more, and commits it once more.

Transactional ids of a query begin with its name and a hyphen (``transactional_id``), so that what a query has
left behind can be found.
"""

import re
from collections.abc import Iterable
from typing import NamedTuple

from trivium.client.cluster import Cluster
from trivium.client.deadline import Deadline
from trivium.client.errors import Refused
from trivium.client.transactional_producer import TRANSACTION_TIMEOUT_MS, Prepared, abort_transaction, fence
from trivium.messages.api.list_transactions import (
    ListTransactionsRequest,
    ListTransactionsResponse,
    TransactionState,
)
from trivium.messages.errors import ErrorCode
from trivium.messages.extensions.commit_batch import (
    CommitBatchRequest,
    CommitBatchResponse,
    PreparedTransaction,
)
from trivium.messages.extensions.describe_queries import DescribeQueriesRequest, DescribeQueriesResponse


class CommittedBatch(NamedTuple):
    last_batch_id: int
    """The newest batch of the query that is committed."""

    was_repeated: bool
    """The batch had been committed before; what was prepared for it again is aborted."""


def offers_batches(cluster: Cluster) -> bool:
    """Whether the broker has the extension: Kafka's own brokers do not."""
    return cluster.anyone(Deadline(cluster.timeout_s)).versions.offers(CommitBatchRequest)


def transactional_id(query_id: str, part: int | str) -> str:
    """For the producer of one part of each batch."""
    return f"{query_id}-{part}"


def commit_batch(
    cluster: Cluster, query_id: str, batch_id: int, prepared: Iterable[Prepared]
) -> CommittedBatch:
    """Commit them all, or none if one is refused. May be asked again whenever the answer was lost."""
    answer = cluster.call(
        cluster.transaction_coordinator(query_id),
        CommitBatchRequest(
            query_id=query_id,
            batch_id=batch_id,
            prepared=[
                PreparedTransaction(
                    transactional_id=each.transactional_id,
                    producer_id=each.producer_id,
                    producer_epoch=each.producer_epoch,
                )
                for each in prepared
            ],
        ),
        CommitBatchResponse,
        codes=lambda response: [response.error_code],
    )
    code = ErrorCode.of(answer.error_code)
    if code is not ErrorCode.NONE:
        raise Refused(code, f"batch {batch_id} of query {query_id}", answer.error_message)
    return CommittedBatch(answer.last_batch_id, answer.was_repeated)


def last_batch(cluster: Cluster, query_id: str) -> int | None:
    """The newest batch that is committed; None before the first."""
    answer = cluster.call(
        cluster.transaction_coordinator(query_id),
        DescribeQueriesRequest(query_ids=[query_id]),
        DescribeQueriesResponse,
        codes=lambda response: [each.error_code for each in response.queries],
    )
    (query,) = answer.queries
    code = ErrorCode.of(query.error_code)
    if code is not ErrorCode.NONE:
        raise Refused(code, f"query {query_id}")
    return None if query.last_batch_id < 0 else query.last_batch_id


def abort_prepared(cluster: Cluster, prepared: Iterable[Prepared]) -> None:
    """End transactions that will not be committed; those that have ended already are passed over."""
    for each in prepared:
        abort_transaction(cluster, each)


def abort_leftovers(cluster: Cluster, query_id: str) -> list[str]:
    """Abort whatever an earlier run of the query has left open; the transactional ids that were.

    Only while nobody writes for the query: its producers would be fenced.
    """
    prefix = transactional_id(query_id, "")
    cluster.metadata([])
    left = sorted(
        {
            each.transactional_id
            for node_id in cluster.topology.nodes
            for each in _open_transactions(cluster, node_id, prefix)
            if each.transactional_id.startswith(prefix)
        }
    )
    for name in left:
        fence(cluster, name, TRANSACTION_TIMEOUT_MS)
    return left


def _open_transactions(cluster: Cluster, node_id: int, prefix: str) -> list[TransactionState]:
    answer = cluster.call(
        cluster.node_of(node_id),
        ListTransactionsRequest(
            state_filters=["Ongoing"],
            producer_id_filters=[],
            transactional_id_pattern=re.escape(prefix) + ".*",
        ),
        ListTransactionsResponse,
        codes=lambda response: [response.error_code],
    )
    code = ErrorCode.of(answer.error_code)
    if code is not ErrorCode.NONE:
        raise Refused(code, f"transactions of {prefix}")
    return answer.transaction_states
