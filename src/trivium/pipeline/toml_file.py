"""A pipeline in TOML: the reader that hands every table to the methods that Python authors call.

All mistakes are found at once, one for each source and flow at most; a file that is not TOML has just
that one.
"""

import re
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from trivium.pipeline.building import FLOW_KEYS, SOURCE_KEYS, Pipeline
from trivium.pipeline.definition import Definition
from trivium.pipeline.finding import Finding, Unreadable, from_mistake
from trivium.pipeline.mistake import Mistake, within
from trivium.pipeline.toml_lines import key_lines
from trivium.pipeline.value import check_keys, table

_TABLES: Final = ("pipeline", "source", "flow")
_PIPELINE_KEYS: Final = ("name", "bootstrap", "state")
_AT: Final = re.compile(r" \(at (?:line (\d+), column \d+|end of document)\)$")


def read_toml(file: Path, text: str) -> Definition:
    """``text`` is what is in ``file``; mistakes are ``Unreadable``."""
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise Unreadable(str(file), [_syntax(str(error), text)]) from None
    except RecursionError:
        too_deep = Mistake("", "The file has too many brackets inside brackets.", "No pipeline needs them.")
        raise Unreadable(str(file), [from_mistake(too_deep)]) from None
    reader = _Reader(key_lines(text))
    pipeline = reader.read(document)
    if reader.findings or pipeline is None:
        raise Unreadable(str(file), reader.findings)
    return replace(pipeline.definition(), file=file, lines=reader.lines)


class _Reader:
    def __init__(self, lines: dict[str, int]) -> None:
        self.lines = lines
        self.findings: list[Finding] = []

    def read(self, document: Mapping[str, Any]) -> Pipeline | None:
        with self._noting():
            check_keys(document, _TABLES, "A pipeline")
        pipeline = None
        with self._noting():
            pipeline = _begin(document)
        # Mistakes of the others are worth knowing even where the pipeline has no name.
        into = pipeline or Pipeline("unnamed")
        for name, options in self._tables(document, "source"):
            with self._noting():
                _add_source(into, name, options)
        for name, options in self._tables(document, "flow"):
            with self._noting():
                _add_flow(into, name, options)
        return pipeline

    def _tables(self, document: Mapping[str, Any], kind: str) -> list[tuple[str, dict[str, Any]]]:
        found = []
        with self._noting():
            for name, options in table(kind, document.get(kind, {})).items():
                with self._noting(), within(kind):
                    found.append((name, dict(table(name, options))))
        return found

    @contextmanager
    def _noting(self) -> Iterator[None]:
        try:
            yield
        except Mistake as mistake:
            self._add(mistake)

    def _add(self, mistake: Mistake) -> None:
        where = mistake.key
        while where and where not in self.lines:
            where = where.rpartition(".")[0]
        self.findings.append(from_mistake(mistake, self.lines.get(where)))


def _begin(document: Mapping[str, Any]) -> Pipeline:
    if "pipeline" not in document:
        raise Mistake("pipeline", "The pipeline has no name.", 'Begin with [pipeline] and name = "…".')
    options: dict[str, Any] = dict(table("pipeline", document["pipeline"]))
    with within("pipeline"):
        check_keys(options, _PIPELINE_KEYS, "[pipeline]")
        if "name" not in options:
            raise Mistake("name", "The pipeline has no name.", 'Add name = "…".')
    return Pipeline(**options)


def _add_source(pipeline: Pipeline, name: str, options: dict[str, Any]) -> None:
    with within(f"source.{name}"):
        check_keys(options, SOURCE_KEYS, "A source")
    pipeline.source(name, **options)


def _add_flow(pipeline: Pipeline, name: str, options: dict[str, Any]) -> None:
    with within(f"flow.{name}"):
        check_keys(options, ("sql", *FLOW_KEYS), "A flow")
        if "sql" not in options:
            raise Mistake("", "The flow has no query.", 'Add sql = "SELECT …".')
    pipeline.sql(name, options.pop("sql"), **options)


def _syntax(message: str, text: str) -> Finding:
    at = _AT.search(message)
    what = _AT.sub("", message)
    line = (int(at[1]) if at[1] else text.count("\n") + 1) if at else None
    mistake = Mistake("", f"This is not TOML: {what[:1].lower()}{what[1:]}.", "Texts are written in quotes.")
    return from_mistake(mistake, line)
