"""What a name in a query stands for, as far as it is known without Spark."""

from dataclasses import dataclass
from typing import Final

from trivium.pipeline.schema import METADATA, Column, Scalar, Schema

UNKNOWN: Final = Scalar("UNKNOWN")
"""The type of a column of which only the name is known."""


@dataclass(frozen=True, slots=True)
class Relation:
    name: str
    columns: Schema | None = None
    """None: not known, so whatever is said about them is believed. Metadata columns are among them."""

    is_stream: bool = True
    event_times: frozenset[str] = frozenset()
    """Columns that a watermark holds back, casefolded."""

    spoken: frozenset[str] = frozenset()
    """Metadata columns that a query names, casefolded: these go to a sink, the others do not."""

    @property
    def visible(self) -> tuple[Column, ...] | None:
        """What a sink gets: metadata once, however often it was selected (``SELECT *, _offset``)."""
        if self.columns is None:
            return None
        own = [each for each in self.columns.columns if METADATA.find(each.name) is None]
        brought = {each.name.casefold(): each for each in self.columns.columns if METADATA.find(each.name)}
        return (*own, *(column for name, column in brought.items() if name in self.spoken))

    @property
    def visible_names(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.visible or ())

    def find(self, name: str) -> Column | None:
        return self.columns.find(name) if self.columns else None
