"""Columns that runs have seen in records and that the schema has not, kept with the state for people."""

from collections.abc import Iterable

from trivium.pipeline.definition import Definition
from trivium.pipeline.source import TopicSource
from trivium.spark.running.state_files import read_json, write_json


def seen_columns(definition: Definition, source: TopicSource) -> list[str]:
    return list(read_json(_file(definition, source.name)) or ())


def note_seen_columns(definition: Definition, source: str, columns: Iterable[str]) -> None:
    """Added to what earlier runs have seen."""
    known = set(read_json(_file(definition, source)) or ())
    if not known.issuperset(columns):
        write_json(_file(definition, source), sorted(known.union(columns)))


def _file(definition: Definition, source: str) -> str:
    return f"{definition.state}/drift/{source}.json"
