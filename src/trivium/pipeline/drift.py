"""Where a table, a flow and its records have grown apart: columns that one has and the other has not."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from trivium.pipeline.checking.relation import UNKNOWN
from trivium.pipeline.schema import Column, bare


@dataclass(frozen=True, slots=True)
class Drift:
    column: str
    what: str


def table_drift(there: Mapping[str, str], given: Iterable[Column]) -> Iterator[Drift]:
    """``there``: types of the table's columns in Spark's words; ``given``: what the flow gives."""
    known = {name.casefold(): (name, kind) for name, kind in there.items()}
    names = set()
    for column in given:
        names.add(column.name.casefold())
        found = known.get(column.name.casefold())
        if found is None:
            yield Drift(column.name, f"the flow gives it ({column.type}), the table has not got it")
        elif column.type != UNKNOWN and found[1] != str(bare(column.type)):
            yield Drift(column.name, f"the table has {found[1]}, the flow gives {column.type}")
    for folded, (name, kind) in known.items():
        if folded not in names:
            yield Drift(name, f"the table has it ({kind}), the flow does not give it")


def record_drift(source: str, columns: Iterable[str]) -> Iterator[Drift]:
    """``columns``: what runs have seen in records and the schema has not."""
    for name in columns:
        yield Drift(name, f"records of {source} have it, its schema has not")
