"""A pipeline in Python: sources and flows are said one after the other, and become a ``Definition``.

    p = Pipeline("orders")
    p.source("orders", topic="orders", schema="id BIGINT, amount DECIMAL(12,2), at TIMESTAMP")

    @p.flow(sink=delta("lake/orders"), expect={"positive": "amount > 0"})
    def clean_orders(orders):       # arguments name the inputs
        return orders

Names of arguments are the keys of the TOML file: its reader calls the same methods.
"""

import sys
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final, TypedDict, TypeVar, Unpack

from trivium.pipeline.ddl import parse_schema
from trivium.pipeline.definition import Definition
from trivium.pipeline.expectation import parse_expectations
from trivium.pipeline.flow import Flow, arguments_of, check_view
from trivium.pipeline.mistake import within
from trivium.pipeline.names import check_name, check_pipeline_name
from trivium.pipeline.sink import Sink, parse_sink
from trivium.pipeline.source import Source, parse_source
from trivium.pipeline.trigger import parse_trigger
from trivium.pipeline.value import check_keys, optional_text, text, texts

F = TypeVar("F", bound=Callable[..., Any])


class SourceOptions(TypedDict, total=False):
    topic: str
    topics: Sequence[str]
    pattern: str
    format: str
    schema: str
    schema_file: str
    schema_id: int | Sequence[int] | str
    message: str
    delimiter: str
    start: str | datetime | Mapping[str, Any] | Mapping[int, int]
    watermark: str
    new_columns: str
    malformed: str
    expired: str
    path: str
    table: str
    catalog: str


class FlowOptions(TypedDict, total=False):
    sink: Sink | Mapping[str, Any]
    expect: Mapping[str, Any]
    quarantine: Sink | Mapping[str, Any]
    deduplicate: str | Sequence[str]
    trigger: str


SOURCE_KEYS: Final = tuple(SourceOptions.__annotations__)
FLOW_KEYS: Final = tuple(FlowOptions.__annotations__)


class Pipeline:
    def __init__(self, name: str, *, bootstrap: str | None = None, state: str | None = None) -> None:
        with within("pipeline"):
            self._name = check_pipeline_name(name)
            self._bootstrap = optional_text("bootstrap", bootstrap)
            self._state = (optional_text("state", state) or f".trivium/{name}").rstrip("/")
        self._sources: list[Source] = []
        self._flows: list[Flow] = []
        self._lines: dict[str, int] = {"pipeline": _line_of_caller()}

    def source(self, name: str, **options: Unpack[SourceOptions]) -> None:
        """Topics as a stream, or a table to join with, as a view of this name."""
        self._note("source", name)
        with within(f"source.{name}"):
            check_name("", name)
            check_keys(options, SOURCE_KEYS, "A source")
            self._sources.append(parse_source(name, dict(options)))

    def flow(self, *, schema: str | None = None, **options: Unpack[FlowOptions]) -> Callable[[F], F]:
        """The function below is a flow of its name; its arguments name what it reads."""
        line = _line_of_caller()

        def add(function: F) -> F:
            name = function.__name__
            self._lines.setdefault(f"flow.{name}", line)
            with within(f"flow.{name}"):
                columns = None if schema is None else parse_schema("schema", text("schema", schema))
                self._add(name, options, function=function, arguments=arguments_of(function), schema=columns)
            return function

        return add

    def sql(self, name: str, query: str, **options: Unpack[FlowOptions]) -> None:
        """A flow in SQL over sources and other flows."""
        self._note("flow", name)
        with within(f"flow.{name}"):
            self._add(name, options, sql=text("sql", query))

    def definition(self) -> Definition:
        return Definition(
            self._name,
            tuple(self._sources),
            tuple(self._flows),
            self._bootstrap,
            self._state,
            lines=dict(self._lines),
        )

    def _add(self, name: str, options: FlowOptions, **what: Any) -> None:
        check_name("", name)
        check_keys(options, FLOW_KEYS, "A flow")
        sink = quarantine = None
        if "sink" in options:
            with within("sink"):
                sink = parse_sink(options["sink"])
        if "quarantine" in options:
            with within("quarantine"):
                quarantine = parse_sink(options["quarantine"])
        flow = Flow(
            name,
            deduplicate=texts("deduplicate", options.get("deduplicate", ())),
            expectations=parse_expectations(options.get("expect")),
            sink=sink,
            quarantine_at=quarantine,
            trigger=parse_trigger(options.get("trigger", "continuous")),
            **what,
        )
        check_view(flow)
        self._flows.append(flow)

    def _note(self, kind: str, name: object) -> None:
        self._lines.setdefault(f"{kind}.{name}", _line_of_caller())


def _line_of_caller() -> int:
    """The line in the author's file: of the nearest caller outside this module."""
    frame = sys._getframe(1)
    while frame.f_code.co_filename == __file__ and frame.f_back is not None:
        frame = frame.f_back
    return frame.f_lineno
