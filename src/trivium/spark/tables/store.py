"""What a sink needs of a table, whatever its format."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from trivium.spark.tables.batch import Batch
from trivium.spark.tables.data_files import DataFile, Layout

if TYPE_CHECKING:
    import pyarrow as pa


class TableStore(Protocol):
    """Knows one table. Every method looks at the table as it is now: other writers may be at work."""

    @property
    def layout(self) -> Layout:
        """Where tasks write files, and what is in them."""

    def check(self, schema: "pa.Schema") -> None:
        """Raise ``TableError`` if rows of this schema cannot go into the table that is there."""

    def read_schema(self) -> "pa.Schema | None":
        """The table's columns; None where there is no table yet."""

    def widen(self, schema: "pa.Schema") -> None:
        """Add the columns that the table has not; in rows that are there they are NULL."""

    def writers(self) -> set[str]:
        """Every ``Batch.writer`` that the table remembers."""

    def append(self, batch: Batch, schema: "pa.Schema", files: Sequence[DataFile]) -> None:
        """Make files part of the table, unless it has this batch already."""

    def upsert(self, batch: Batch, rows: "pa.Table", key: Sequence[str]) -> None:
        """Replace rows by key and add new ones, unless the table has this batch already. Keys are unique."""

    def read(self) -> "pa.Table":
        """All rows; an empty table without columns where there is none yet."""

    def read_whole_batches(self) -> "pa.Table":
        """The same, without batches of which only some files can be seen yet."""
