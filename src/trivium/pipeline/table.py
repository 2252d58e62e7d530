"""A table of a lake: where it is, and in which format."""

from dataclasses import dataclass
from enum import StrEnum

from trivium.pipeline.mistake import Mistake
from trivium.pipeline.value import choice, optional_text


class TableFormat(StrEnum):
    DELTA = "delta"
    ICEBERG = "iceberg"
    PARQUET = "parquet"


@dataclass(frozen=True, slots=True)
class Table:
    format: TableFormat
    path: str | None
    """A folder or URI; None where a catalog knows it."""

    name: str | None = None
    """``namespace.table`` in an Iceberg catalog."""

    catalog: str | None = None
    """As pyiceberg's own configuration calls it; None is its default."""

    def __str__(self) -> str:
        return self.path or ".".join(filter(None, (self.catalog, self.name)))

    def beside(self, suffix: str) -> "Table":
        """The table next to it, of the same format."""
        if self.path is not None:
            return Table(self.format, self.path.rstrip("/") + suffix)
        return Table(self.format, None, f"{self.name}{suffix}", self.catalog)


def parse_table(format: object, path: object, name: object, catalog: object) -> Table:  # noqa: A002 (the author's key)
    chosen = choice("format", format, TableFormat)
    table = Table(
        chosen, optional_text("path", path), optional_text("table", name), optional_text("catalog", catalog)
    )
    if table.name is not None and chosen is not TableFormat.ICEBERG:
        raise Mistake("table", f"{chosen} tables have a path, and no catalog.", 'Write path = "…".')
    if (table.path is None) == (table.name is None):
        said = "both a path and a name" if table.path else "no path"
        remedy = "Keep one." if table.path else 'Add path = "lake/orders", for example.'
        raise Mistake("path", f"The table has {said}.", remedy)
    if table.catalog is not None and table.name is None:
        raise Mistake(
            "catalog", "A catalog knows tables by name.", 'Write table = "namespace.name", not a path.'
        )
    return table
