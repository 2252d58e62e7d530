"""What each query has committed last: a table of ``__trivium``, in the order of the commits."""

from collections.abc import Iterator
from typing import Final, NamedTuple

from trivium.core.commands.batches import NO_BATCH, NO_TIME_MS, Prepared
from trivium.core.trivium_log import Change
from trivium.messages.schema import Message
from trivium.messages.stored.trivium_log import QueryKey, QueryValue, StoredPrepared

QUERIES_MAX: Final = 100_000
"""So many are remembered; with one more, the one that has committed nothing for longest is forgotten."""


class Query(NamedTuple):
    query_id: str
    batch_id: int = NO_BATCH
    committed_at_ms: int = NO_TIME_MS
    prepared: tuple[Prepared, ...] = ()
    """The transactions of the batch. They are committed, whatever their ledgers say still."""


class Queries:
    """State that follows from the records (``trivium_log.Table``)."""

    def __init__(self) -> None:
        self._by_id: dict[str, Query] = {}
        self._deciding: dict[Prepared, str] = {}
        """Each transaction of a newest batch, and the query that it belongs to."""

    def __len__(self) -> int:
        return len(self._by_id)

    def __contains__(self, query_id: str) -> bool:
        return query_id in self._by_id

    def __iter__(self) -> Iterator[Query]:
        """Those that have committed nothing for longest come first."""
        return iter(self._by_id.values())

    def get(self, query_id: str) -> Query:
        return self._by_id.get(query_id) or Query(query_id)

    def decides(self, prepared: Prepared) -> str | None:
        """The query whose newest batch this transaction is a part of."""
        return self._deciding.get(prepared)

    # -- the table -------------------------------------------------------------------------------

    def clear(self) -> None:
        self._by_id.clear()
        self._deciding.clear()

    def replay(self, key: Message, value: Message | None) -> None:
        if not isinstance(key, QueryKey):
            return
        former = self._by_id.pop(key.query_id, None)
        for each in former.prepared if former is not None else ():
            self._deciding.pop(each, None)
        if isinstance(value, QueryValue):
            query = _query_from(key, value)
            self._by_id[query.query_id] = query
            self._deciding.update(dict.fromkeys(query.prepared, query.query_id))


def committed(query: Query) -> Change:
    return QueryKey(query_id=query.query_id), QueryValue(
        batch_id=query.batch_id,
        committed_at_ms=query.committed_at_ms,
        prepared=[
            StoredPrepared(
                transactional_id=each.transactional_id,
                producer_id=each.producer_id,
                producer_epoch=each.producer_epoch,
            )
            for each in query.prepared
        ],
    )


def forgotten(query_id: str) -> Change:
    return QueryKey(query_id=query_id), None


def _query_from(key: QueryKey, value: QueryValue) -> Query:
    return Query(
        key.query_id,
        value.batch_id,
        value.committed_at_ms,
        tuple(
            Prepared(each.transactional_id, each.producer_id, each.producer_epoch) for each in value.prepared
        ),
    )
