"""Writing topics: what tasks send, and what makes a micro-batch of it count.

A stream is written exactly once on a broker that commits batches of queries (ADR 11): each task writes a
transaction of its own and leaves it prepared, ``commit`` makes all of a batch count with one request, and the
broker remembers the number of the batch. ``write`` runs on executors and ``commit`` in a process beside the
driver: what one knows the other learns from messages. On any other broker, on request, and for a batch,
records count when they are sent: at least once.

A worker of Spark's writes one small batch after the other: it stays connected between them.
"""

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyspark.sql.datasource import DataSourceArrowWriter, DataSourceStreamArrowWriter, WriterCommitMessage

from trivium.client.cluster import Cluster
from trivium.client.idle_clusters import borrowed
from trivium.client.producer import Producer
from trivium.client.query_batches import (
    abort_leftovers,
    abort_prepared,
    commit_batch,
    offers_batches,
    transactional_id,
)
from trivium.client.transactional_producer import Prepared, TransactionalProducer
from trivium.spark.connector.errors import BadOption
from trivium.spark.connector.row_sender import RowSender
from trivium.spark.connector.worker_process import settle
from trivium.spark.connector.write_options import Guarantee, WriteOptions

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class Sent(WriterCommitMessage):
    """By one task."""

    query_id: str = ""
    run_id: str = ""
    """Each start of the query is another run."""

    prepared: Prepared | None = None
    """The transaction that waits for the batch; None where nothing has to wait."""


class TopicBatchWriter(DataSourceArrowWriter):
    def __init__(self, options: WriteOptions) -> None:
        self._options = options

    def write(self, iterator: "Iterator[pa.RecordBatch]") -> Sent:
        with _connect(self._options) as cluster, _plain_producer(cluster, self._options) as producer:
            _send_all(cluster, producer, self._options, iterator)
        return Sent()


class TopicStreamWriter(DataSourceStreamArrowWriter):
    def __init__(self, options: WriteOptions) -> None:
        self._options = options

    def write(self, iterator: "Iterator[pa.RecordBatch]") -> Sent:
        settle()
        rows = next((each for each in iterator if each.num_rows), None)
        if rows is None:
            return Sent()  # Most tasks of a small batch: nobody has to be asked for anything.
        query_id, run_id, task = _task()
        with _connect(self._options) as cluster:
            if not self._is_transactional(cluster):
                with _plain_producer(cluster, self._options) as producer:
                    _send_all(cluster, producer, self._options, iterator, rows)
                return Sent()
            name = transactional_id(query_id, task)
            with TransactionalProducer(cluster, name) as transaction:
                _send_all(cluster, transaction, self._options, iterator, rows)
                return Sent(query_id, run_id, transaction.prepare())

    def commit(self, messages: Sequence[Any], batchId: int) -> None:  # noqa: N803 - Spark's name
        done = [each for each in messages if isinstance(each, Sent) and each.prepared is not None]
        if not done:
            return
        settle()
        query_id, run_id = done[0].query_id, done[0].run_id
        with _connect(self._options) as cluster:
            commit_batch(cluster, query_id, batchId, [each.prepared for each in done if each.prepared])
            if _tidied.get(query_id) != run_id:
                # What tasks of a killed run have prepared would hold back readers: nobody writes just now.
                abort_leftovers(cluster, query_id)
                _tidied[query_id] = run_id

    def abort(self, messages: Sequence[Any], batchId: int) -> None:  # noqa: N803 - Spark's name
        _tidied.clear()  # Tasks that have failed may have left something, of which nobody has a message.
        prepared = [each.prepared for each in messages if isinstance(each, Sent) and each.prepared]
        if prepared:
            with _connect(self._options) as cluster:
                abort_prepared(cluster, prepared)

    def _is_transactional(self, cluster: Cluster) -> bool:
        if self._options.guarantee is Guarantee.AT_LEAST_ONCE:
            return False
        if offers_batches(cluster):
            return True
        if self._options.guarantee is Guarantee.EXACTLY_ONCE:
            raise BadOption(
                "This broker does not commit batches of queries, as Trivium does: it can be written "
                "at-least-once; set deliveryGuarantee to that, or leave it out."
            )
        return False


def _send_all(
    cluster: Cluster,
    producer: Producer,
    options: WriteOptions,
    iterator: "Iterator[pa.RecordBatch]",
    *more: "pa.RecordBatch",
) -> None:
    sender = RowSender(cluster, producer, options.topic, options.compression)
    for rows in more:
        sender.send(rows)
    for rows in iterator:
        sender.send(rows)
    sender.finish()
    producer.flush()


_tidied: dict[str, str] = {}
"""The run of each query whose predecessors have nothing open any more. Once in a run is enough: a task that
is tried again ends what the try before has left."""


def reach(options: WriteOptions) -> None:
    """Whoever named a wrong address hears of it before any task waits for a broker that is away."""
    with _connect(options, patience_s=0.0):
        pass


def _connect(options: WriteOptions, *, patience_s: float | None = None) -> AbstractContextManager[Cluster]:
    return borrowed(
        options.bootstrap,
        client_id=options.client_id,
        timeout_s=options.timeout_s,
        security=options.security,
        patience_s=options.delivery_timeout_s if patience_s is None else patience_s,
    )


def _plain_producer(cluster: Cluster, options: WriteOptions) -> Producer:
    return Producer(cluster, acks=options.acks, delivery_timeout_s=options.delivery_timeout_s)


def _task() -> tuple[str, str, int]:
    """The query, its run, and the number of this task; a task that is run again has the same."""
    from pyspark import TaskContext

    context = TaskContext.get()
    assert context is not None, "only tasks write"
    query_id, run_id = map(context.getLocalProperty, ("sql.streaming.queryId", "spark.jobGroup.id"))
    return query_id or "", run_id or "", context.partitionId()
