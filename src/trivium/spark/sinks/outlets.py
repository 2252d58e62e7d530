"""The two kinds of places that rows go to: tables, and topics.

Tasks write through a ``TaskOutlet``; what it returns travels to the driver, where ``commit`` gets the parts
of all tasks. Nothing is seen of a batch before ``commit``, and it may be asked to commit a batch again.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from trivium.client.door import Door
from trivium.client.transactional_producer import Prepared
from trivium.pipeline.sink import Sink, TableSink, TopicSink
from trivium.spark.tables.batch import Batch
from trivium.spark.tables.data_files import DataFile, DataFileWriter
from trivium.spark.tables.stores import open_store

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, slots=True)
class TaskPlace:
    """Which task of which query writes. A task that is run again has the same."""

    query_id: str
    task: int
    batch: int = 0


@dataclass(frozen=True, slots=True)
class Part:
    """What one task gave to one outlet."""

    schema: bytes = b""
    """Of Arrow, serialized; empty where there was no row."""

    files: tuple[DataFile, ...] = ()
    prepared: Prepared | None = None
    """A transaction that waits for the batch."""


class TaskOutlet(Protocol):
    def write(self, rows: "pa.RecordBatch") -> None: ...

    def close(self) -> Part: ...


class Outlet(Protocol):
    def open(self, place: TaskPlace) -> TaskOutlet: ...

    def commit(self, batch: Batch, parts: Sequence[Part]) -> None: ...

    def abort(self, parts: Sequence[Part]) -> None:
        """The batch will not be committed by this attempt."""

    def make_ready(self, query_id: str | None) -> None:
        """Before a query starts: create what is missing, and end what an earlier run has left half done."""

    def writes_once(self) -> bool:
        """Whether a batch that is run again after a crash is found there, and not written again."""


class TableOutlet:
    def __init__(self, sink: TableSink) -> None:
        self._store = open_store(sink)

    def open(self, place: TaskPlace) -> TaskOutlet:
        return _TableTask(DataFileWriter(self._store.layout))

    def commit(self, batch: Batch, parts: Sequence[Part]) -> None:
        import pyarrow as pa

        written = [part for part in parts if part.files]
        if not written:
            return  # Nothing to remember: run again, the batch is as empty as it was.
        schema = pa.ipc.read_schema(pa.py_buffer(written[0].schema))
        self._store.append(batch, schema, [file for part in written for file in part.files])

    def abort(self, parts: Sequence[Part]) -> None:
        """Files that no commit names belong to nobody, and no reader of the table finds them."""

    def make_ready(self, query_id: str | None) -> None:
        """A table comes with the first batch, and nothing that is half done holds anybody back."""

    def writes_once(self) -> bool:
        return True


class _TableTask:
    def __init__(self, files: DataFileWriter) -> None:
        self._files = files
        self._schema: pa.Schema | None = None

    def write(self, rows: "pa.RecordBatch") -> None:
        if rows.num_rows:
            self._schema = rows.schema
            self._files.write(rows)

    def close(self) -> Part:
        if self._schema is None:
            return Part()
        return Part(self._schema.serialize().to_pybytes(), tuple(self._files.close()))


def open_outlet(sink: Sink, door: Door) -> Outlet:
    """For the rows of a flow, or for what it sets aside."""
    if isinstance(sink, TopicSink):
        from trivium.spark.sinks.topic_outlet import TopicOutlet

        return TopicOutlet(sink.topic, door)
    return TableOutlet(sink)
