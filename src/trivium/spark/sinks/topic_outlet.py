"""Rows as records of a topic: columns ``key`` and ``value``, or those of a quarantine.

On a broker that commits batches of queries (ADR 11) each task writes a transaction of its own and leaves it
prepared; ``commit`` makes all of a batch count with one request, once, however often it is asked. Any other
broker gets records when a task sends them: at least once.

A record that is set aside keeps its key, value and headers, so that it can be sent through again as it is;
where it came from and what was wrong with it stands in headers of its own, ``trivium.topic`` and so on.
"""

import json
from collections.abc import Sequence
from contextlib import AbstractContextManager, ExitStack, suppress
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

from trivium.client.admin_topics import BROKER_DEFAULT, NewTopic, create_topics, describe_topics
from trivium.client.cluster import Cluster
from trivium.client.door import Door
from trivium.client.errors import Refused, settled
from trivium.client.producer import DELIVERY_TIMEOUT_S, Producer
from trivium.client.query_batches import (
    abort_leftovers,
    abort_prepared,
    commit_batch,
    offers_batches,
    transactional_id,
)
from trivium.client.transactional_producer import TransactionalProducer
from trivium.spark.connector.row_sender import RowSender
from trivium.spark.sinks.outlets import Part, TaskOutlet, TaskPlace
from trivium.spark.tables.batch import MARKER, Batch

if TYPE_CHECKING:
    import pyarrow as pa

HEADER: Final = f"{MARKER}."
_PLACE: Final = ("topic", "partition", "offset", "flow")
"""The topic comes first: what stands before the last ``trivium.topic`` are the record's own headers."""

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_CLIENT_ID: Final = "trivium-spark"


class TopicOutlet:
    def __init__(self, topic: str, door: Door) -> None:
        self._topic = topic
        self._door = door

    def open(self, place: TaskPlace) -> TaskOutlet:
        name = transactional_id(self._query(place.query_id), place.task)
        return _TopicTask(self._topic, self._door, name)

    def commit(self, batch: Batch, parts: Sequence[Part]) -> None:
        prepared = [part.prepared for part in parts if part.prepared is not None]
        if prepared:
            with self._connect(DELIVERY_TIMEOUT_S) as cluster:
                commit_batch(cluster, self._query(batch.query_id), batch.number, prepared)

    def abort(self, parts: Sequence[Part]) -> None:
        prepared = [part.prepared for part in parts if part.prepared is not None]
        if prepared:
            with self._connect() as cluster:
                abort_prepared(cluster, prepared)

    def make_ready(self, query_id: str | None) -> None:
        """What a killed run has prepared would hold back readers; whoever runs the query next ends it."""
        with self._connect() as cluster:
            if isinstance(describe_topics(cluster, [self._topic])[self._topic], Refused):
                # Refused for another reason than that it is not there, it is refused now with that reason.
                settled(create_topics(cluster, [NewTopic(self._topic, BROKER_DEFAULT)])[self._topic])
            if query_id is not None and offers_batches(cluster):
                abort_leftovers(cluster, self._query(query_id))

    def writes_once(self) -> bool:
        with self._connect() as cluster:
            return offers_batches(cluster)

    def _query(self, query_id: str) -> str:
        """A query may write to two topics, its sink and its quarantine: each has batches of its own."""
        return f"{query_id}.{self._topic}"

    def _connect(self, patience_s: float = 0.0) -> AbstractContextManager[Cluster]:
        """A batch waits for a broker that is away, as its records do; a start does not."""
        return self._door.borrow(client_id=_CLIENT_ID, patience_s=patience_s)


class _TopicTask:
    """Connects with the first row: most tasks of a quarantine have none."""

    def __init__(self, topic: str, door: Door, name: str) -> None:
        self._topic = topic
        self._door = door
        self._name = name
        self._connected = ExitStack()
        self._producer: Producer | None = None
        self._sender: RowSender | None = None

    def write(self, rows: "pa.RecordBatch") -> None:
        if not rows.num_rows:
            return
        if self._producer is None or self._sender is None:
            cluster, self._producer = self._open()
            self._sender = RowSender(cluster, self._producer, self._topic)
        if "reasons" not in rows.schema.names:
            self._sender.send(rows)
            return
        for row in _told(rows):
            self._producer.send(self._topic, row["value"], key=row["key"], headers=_headers(row))

    def close(self) -> Part:
        if self._producer is None or self._sender is None:
            return Part()
        with self._connected:
            self._sender.finish()
            if isinstance(self._producer, TransactionalProducer):
                prepared = self._producer.prepare()
            else:
                prepared = None
                self._producer.flush()
            self._producer.close()
        return Part(prepared=prepared)

    def _open(self) -> tuple[Cluster, Producer]:
        cluster = self._connected.enter_context(
            self._door.borrow(client_id=_CLIENT_ID, patience_s=DELIVERY_TIMEOUT_S)
        )
        is_transaction = offers_batches(cluster)
        return cluster, TransactionalProducer(cluster, self._name) if is_transaction else Producer(cluster)


def _told(rows: "pa.RecordBatch") -> list[dict[str, Any]]:
    """Rows as Python has them, but for their time: that is microseconds, which need not be in a calendar."""
    import pyarrow as pa

    at = rows.schema.get_field_index("timestamp")
    told: list[dict[str, Any]] = rows.set_column(
        at, "timestamp", rows.column(at).cast(pa.int64())
    ).to_pylist()
    return told


def _headers(row: dict[str, Any]) -> list[tuple[str, bytes | None]]:
    own = [(header["key"], header["value"]) for header in row["headers"] or ()]
    place = [(f"{HEADER}{name}", str(row[name]).encode()) for name in _PLACE if row[name] is not None]
    if row["timestamp"] is not None:
        with suppress(OverflowError):  # No calendar has it.
            time = _EPOCH + timedelta(microseconds=row["timestamp"])
            place.append((f"{HEADER}timestamp", time.isoformat().encode()))
    return [*own, *place, (f"{HEADER}reasons", json.dumps(row["reasons"]).encode())]


def quarantined_of(
    key: bytes | None, value: bytes | None, headers: Sequence[tuple[str, bytes | None]]
) -> dict[str, Any]:
    """A record of a quarantine, taken apart again: the reverse of what is written."""
    said = {name: text or b"" for name, text in headers if name.startswith(HEADER)}
    number = {name: said.get(f"{HEADER}{name}") for name in ("partition", "offset")}
    topic = said.get(f"{HEADER}topic")
    return {
        "key": key,
        "value": value,
        "topic": None if topic is None else topic.decode(),
        "reasons": json.loads(said[f"{HEADER}reasons"]),
        **{name: None if text is None else int(text) for name, text in number.items()},
    }
