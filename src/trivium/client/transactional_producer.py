"""A producer of one transaction: everything that it sends counts together, or not at all.

    with TransactionalProducer(cluster, "job-7-0") as producer:
        producer.send("orders", b"...")
        producer.commit()

Whoever opens a producer for a transactional id fences the one before it, and aborts what that one has left
open. Instead of ``commit`` there is ``prepare``: the transaction stays open, and ``query_batches`` commits it
together with others. Left without either, it is aborted.

For brokers in which a write joins its transaction by itself (Kafka 4.0 and newer, and ours; KIP-890).
"""

from collections.abc import Callable
from types import TracebackType
from typing import Final, NamedTuple

from trivium.client.cluster import Cluster
from trivium.client.deadline import Deadline
from trivium.client.delivery import Delivery, ProducerIdentity
from trivium.client.errors import ClientError, ProducerClosed, Refused, Unsupported
from trivium.client.producer import BATCH_BYTES, DELIVERY_TIMEOUT_S, Producer
from trivium.client.shipping import IN_FLIGHT_MAX
from trivium.messages.api.end_txn import EndTxnRequest, EndTxnResponse
from trivium.messages.api.init_producer_id import InitProducerIdRequest, InitProducerIdResponse
from trivium.messages.api.produce import ProduceRequest
from trivium.messages.errors import ErrorCode
from trivium.messages.extensions.prepare_transaction import (
    PrepareTransactionRequest,
    PrepareTransactionResponse,
)
from trivium.records.compression import Compression

TRANSACTION_TIMEOUT_MS: Final = 15 * 60 * 1000
"""After it the broker aborts what is not prepared: the longest that brokers allow by default."""

LEAVING_S: Final = 2.0
"""So long who leaves with an error, or is interrupted, tries to abort."""

_ENDED: Final = frozenset(
    {
        ErrorCode.PRODUCER_FENCED,
        ErrorCode.INVALID_PRODUCER_EPOCH,
        ErrorCode.INVALID_PRODUCER_ID_MAPPING,
        ErrorCode.INVALID_TXN_STATE,
    }
)
"""How a broker says that there is nothing to abort any more."""

_JOINED_BY_WRITES_SINCE: Final = 12
"""The version of Produce from which on a partition becomes a part of a transaction by being written to."""


class Prepared(NamedTuple):
    """A transaction that waits for its batch. Plain values: it may travel to whoever commits it."""

    transactional_id: str
    producer_id: int
    producer_epoch: int


class TransactionalProducer(Producer):
    def __init__(
        self,
        cluster: Cluster,
        transactional_id: str,
        *,
        timeout_ms: int = TRANSACTION_TIMEOUT_MS,
        compression: Compression = Compression.NONE,
        batch_bytes: int = BATCH_BYTES,
        in_flight_max: int = IN_FLIGHT_MAX,
        delivery_timeout_s: float = DELIVERY_TIMEOUT_S,
        on_delivery: Callable[[Delivery], None] | None = None,
    ) -> None:
        super().__init__(
            cluster,
            compression=compression,
            batch_bytes=batch_bytes,
            in_flight_max=in_flight_max,
            delivery_timeout_s=delivery_timeout_s,
            on_delivery=on_delivery,
        )
        _check_joining(cluster)
        self.transactional_id = transactional_id
        self._shipper.transactional_id = transactional_id
        self._shipper.identity = fence(cluster, transactional_id, timeout_ms)
        self._wants_identity = False
        self._is_ended = False

    @property
    def identity(self) -> ProducerIdentity:
        return self._shipper.identity

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Abort what is neither committed nor prepared. An error on the way out stays the first one, and is
        not kept waiting for a broker that is away: whoever comes next ends the transaction, or its time-out.
        """
        try:
            if not self._is_ended:
                self.abort(None if error is None else Deadline(LEAVING_S))
        except ClientError:
            if error is None:
                raise
        finally:
            self.close()

    def prepare(self) -> Prepared:
        """Everything is written, and the transaction waits for its batch: a day, whatever its time-out is."""
        self._check_open()
        self.flush()
        prepared = self._transaction
        answer = self._cluster.call(
            self._cluster.transaction_coordinator(self.transactional_id),
            PrepareTransactionRequest(
                transactional_id=self.transactional_id,
                producer_id=prepared.producer_id,
                producer_epoch=prepared.producer_epoch,
            ),
            PrepareTransactionResponse,
            codes=lambda response: [response.error_code],
        )
        _check(answer.error_code, self.transactional_id, answer.error_message)
        self._end()
        return prepared

    def commit(self) -> None:
        """Everything is written, and counts."""
        self._check_open()
        self.flush()
        if self._shipper.has_sent:
            end_transaction(self._cluster, self._transaction, commits=True)
        self._end()

    def abort(self, deadline: Deadline | None = None) -> None:
        """Nothing of it counts, whatever has been written."""
        self._check_open()
        # Where nothing was sent no transaction has begun, and there is nothing to end.
        if self._shipper.has_sent:
            abort_transaction(self._cluster, self._transaction, deadline)
        self._end()

    @property
    def _transaction(self) -> Prepared:
        return Prepared(self.transactional_id, *self.identity)

    def _check_open(self) -> None:
        if self._is_ended:
            raise ProducerClosed("The transaction is ended; open another producer for the next one.")

    def _end(self) -> None:
        """One producer, one transaction: nothing can be sent any more."""
        self._is_ended = self._is_closed = self._has_trouble = True


def fence(cluster: Cluster, transactional_id: str, timeout_ms: int) -> ProducerIdentity:
    """Become the producer of a transactional id; what the one before has left open is aborted."""
    answer = cluster.call(
        cluster.transaction_coordinator(transactional_id),
        InitProducerIdRequest(transactional_id=transactional_id, transaction_timeout_ms=timeout_ms),
        InitProducerIdResponse,
        codes=lambda response: [response.error_code],
    )
    _check(answer.error_code, transactional_id)
    return ProducerIdentity(answer.producer_id, answer.producer_epoch)


def end_transaction(
    cluster: Cluster, transaction: Prepared, *, commits: bool, deadline: Deadline | None = None
) -> None:
    answer = cluster.call(
        cluster.transaction_coordinator(transaction.transactional_id),
        EndTxnRequest(
            transactional_id=transaction.transactional_id,
            producer_id=transaction.producer_id,
            producer_epoch=transaction.producer_epoch,
            committed=commits,
        ),
        EndTxnResponse,
        codes=lambda response: [response.error_code],
        deadline=deadline,
    )
    _check(answer.error_code, transaction.transactional_id)


def abort_transaction(cluster: Cluster, transaction: Prepared, deadline: Deadline | None = None) -> None:
    """Make sure that nothing of it counts; one that has been ended already is passed over."""
    try:
        end_transaction(cluster, transaction, commits=False, deadline=deadline)
    except Refused as refusal:
        if refusal.code not in _ENDED:
            raise


def _check_joining(cluster: Cluster) -> None:
    versions = cluster.anyone(Deadline(cluster.timeout_s)).versions
    if versions.pick(ProduceRequest) < _JOINED_BY_WRITES_SINCE:
        raise Unsupported(
            "Writes do not join transactions by themselves at this broker; update it to Kafka 4.0 or newer."
        )


def _check(code: int, transactional_id: str, detail: str | None = None) -> None:
    known = ErrorCode.of(code)
    if known is not ErrorCode.NONE:
        raise Refused(known, f"transactional id {transactional_id}", detail)
