"""Rows of Arrow to the partitions of topics, without an object of Python for each.

The kernel hashes a column of keys and packs rows into batches; Arrow sorts rows by their partition. Rows
gather until a partition has a batch's worth. A row without a key goes where the others of its Arrow batch go.
"""

import random
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from trivium.client.cluster import Cluster
from trivium.client.producer import Producer
from trivium.records.compression import Compression
from trivium.spark.connector.errors import ConnectorError
from trivium.wire.errors import EncodeError

if TYPE_CHECKING:
    import pyarrow as pa

BATCH_BYTES: Final = 900_000
"""Of records in a batch, before compression: below what a topic takes by default (``max.message.bytes``)."""

GATHERED_BYTES_MAX: Final = 32 * 1024 * 1024
"""In all partitions together, before all of it is sent."""

_COLUMNS: Final = ("key", "value", "headers")


@dataclass
class _Lane:
    """Rows that wait for a batch of their partition."""

    rows: "list[pa.RecordBatch]" = field(default_factory=list)
    size_bytes: int = 0


class RowSender:
    def __init__(
        self,
        cluster: Cluster,
        producer: Producer,
        topic: str | None,
        compression: Compression = Compression.NONE,
    ) -> None:
        """``topic``: where all rows go; None where a column says it."""
        self._cluster = cluster
        self._producer = producer
        self._topic = topic
        self._compression = compression
        self._lanes: dict[tuple[str, int], _Lane] = {}
        self._gathered_bytes = 0
        self._sticky = random.randrange(1 << 30)  # noqa: S311 - tasks begin with different partitions

    def send(self, rows: "pa.RecordBatch") -> None:
        """Take rows with the columns ``value`` and, where they are there, ``key``, ``headers``, ``partition``
        and ``topic``."""
        if not rows.num_rows:
            return
        self._sticky += 1
        for topic, part in self._by_topic(rows):
            for partition, those in self._by_partition(topic, part):
                self._gather((topic, partition), those)

    def finish(self) -> None:
        """Hand everything to the producer; whether it has arrived is what its ``flush`` says."""
        for key in self._lanes:
            self._ship(key)

    # -- dividing --------------------------------------------------------------------------------

    def _by_topic(self, rows: "pa.RecordBatch") -> "Iterator[tuple[str, pa.RecordBatch]]":
        import pyarrow.compute as pc

        if self._topic is not None:
            yield self._topic, rows
            return
        names = rows.column("topic")
        if names.null_count:
            raise ConnectorError("A row has no topic; give it one, or name one for all by the option topic.")
        for name in pc.unique(names).to_pylist():
            yield name, rows.filter(pc.equal(names, name))

    def _by_partition(self, topic: str, rows: "pa.RecordBatch") -> "Iterator[tuple[int, pa.RecordBatch]]":
        import pyarrow as pa
        import pyarrow.compute as pc

        count = len(self._cluster.topic(topic, create=True).partitions)
        sent = rows.select([name for name in _COLUMNS if name in rows.schema.names])
        chosen = _partitions(topic, rows, count)
        if chosen is None or count == 1:
            yield self._sticky % count, sent
            return
        chosen = pc.fill_null(chosen, pa.scalar(self._sticky % count, pa.int32()))
        order = pc.sort_indices(chosen)
        runs = pc.run_end_encode(chosen.take(order))
        first = 0
        for partition, end in zip(runs.values.to_pylist(), runs.run_ends.to_pylist(), strict=True):
            yield partition, sent.take(order.slice(first, end - first))
            first = end

    # -- sending ---------------------------------------------------------------------------------

    def _gather(self, key: tuple[str, int], rows: "pa.RecordBatch") -> None:
        lane = self._lanes.setdefault(key, _Lane())
        lane.rows.append(rows)
        lane.size_bytes += rows.nbytes
        self._gathered_bytes += rows.nbytes
        if lane.size_bytes >= BATCH_BYTES:
            self._ship(key)
        elif self._gathered_bytes >= GATHERED_BYTES_MAX:
            self.finish()

    def _ship(self, key: tuple[str, int]) -> None:
        import pyarrow as pa

        from trivium.records.arrow import from_arrow

        lane = self._lanes[key]
        if not lane.rows:
            return
        (rows,) = pa.Table.from_batches(lane.rows).combine_chunks().to_batches()
        now_ms = int(time.time() * 1000)
        try:
            batches = from_arrow(
                rows, timestamp_ms=now_ms, compression=self._compression, size_bytes_max=BATCH_BYTES
            )
            for batch in batches:
                self._producer.send_encoded(*key, batch)
        except EncodeError as error:
            raise ConnectorError(f"A row cannot be written to {key[0]}: {error}.") from error
        self._gathered_bytes -= lane.size_bytes
        lane.rows, lane.size_bytes = [], 0


def _partitions(topic: str, rows: "pa.RecordBatch", count: int) -> Any:
    """The partition of each row, null where it does not matter; None where it matters for no row."""
    import pyarrow.compute as pc

    from trivium.records.arrow import partitions_of_keys

    names = rows.schema.names
    by_key = None
    if "key" in names and rows.column("key").null_count < rows.num_rows:
        by_key = partitions_of_keys(rows.column("key"), count)
    if "partition" not in names or rows.column("partition").null_count == rows.num_rows:
        return by_key
    asked = rows.column("partition")
    bounds = pc.min_max(asked).as_py()
    for partition in (bounds["min"], bounds["max"]):
        if not 0 <= partition < count:
            raise ConnectorError(
                f"There is no partition {partition} in topic {topic}: it has {count}, numbered from 0."
            )
    return asked if by_key is None else pc.coalesce(asked, by_key)
