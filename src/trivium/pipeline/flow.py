"""One query: inputs, SQL or a function of Python, what must hold of its rows, and where they go.

A flow without a sink is a view: it runs as part of the flows that read it.
"""

import inspect
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from trivium.pipeline import quarantine
from trivium.pipeline.expectation import Expectation, Otherwise
from trivium.pipeline.mistake import Mistake
from trivium.pipeline.schema import Schema
from trivium.pipeline.sink import Sink
from trivium.pipeline.trigger import CONTINUOUS, Trigger


@dataclass(frozen=True, slots=True)
class Flow:
    name: str
    sql: str | None = None
    function: Callable[..., Any] | None = field(default=None, compare=False)
    """Takes a DataFrame for each of ``arguments`` and returns one. Either this or SQL."""

    arguments: tuple[str, ...] = ()
    """The sources and flows that the function reads. What SQL reads is found by ``checking.graph``."""

    schema: Schema | None = None
    """What a function gives, where its author says so: then the flows that read it are checked, too."""

    deduplicate: tuple[str, ...] = ()
    """Columns by which rows are the same; the first of them within the watermark is kept."""

    expectations: tuple[Expectation, ...] = ()
    sink: Sink | None = None
    quarantine_at: Sink | None = None
    """Where the author wants it; None is beside the sink."""

    trigger: Trigger = CONTINUOUS

    @property
    def quarantine(self) -> Sink | None:
        if self.quarantine_at is not None or self.sink is None:
            return self.quarantine_at
        return quarantine.beside(self.sink)


def check_view(flow: Flow) -> None:
    """What has no sink cannot set aside, and is not started by itself."""
    if flow.sink is not None:
        return
    if flow.trigger != CONTINUOUS:
        raise Mistake(
            "trigger", "A flow without a sink runs with those that read it.", "Add a sink, or remove it."
        )
    if flow.quarantine_at is not None:
        raise Mistake("quarantine", "A flow without a sink sets nothing aside.", "Add a sink, or remove it.")
    for expectation in flow.expectations:
        if expectation.otherwise is Otherwise.QUARANTINE:
            raise Mistake(
                f"expect.{expectation.name}",
                "A flow without a sink has no quarantine.",
                'Add a sink, or say otherwise = "drop" or "fail".',
            )


def arguments_of(function: Callable[..., Any]) -> tuple[str, ...]:
    """The inputs that a function names; arguments with a default are its own business."""
    names = []
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD, parameter.POSITIONAL_ONLY):
            raise Mistake(
                "",
                f"The argument {parameter} names no input.",
                "Each argument is a source or a flow, by its name.",
            )
        if parameter.default is parameter.empty:
            names.append(parameter.name)
    if not names:
        raise Mistake(
            "", "The function reads nothing.", "Its arguments name the sources and flows that it reads."
        )
    return tuple(names)
