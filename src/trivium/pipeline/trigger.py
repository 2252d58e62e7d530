"""When a flow runs: without a pause, at an interval, or once for what is there."""

from dataclasses import dataclass
from enum import StrEnum

from trivium.pipeline.mistake import Mistake
from trivium.pipeline.span import Span, parse_span
from trivium.pipeline.value import text


class TriggerKind(StrEnum):
    CONTINUOUS = "continuous"
    INTERVAL = "interval"
    AVAILABLE_NOW = "available-now"


@dataclass(frozen=True, slots=True)
class Trigger:
    kind: TriggerKind = TriggerKind.CONTINUOUS
    every: Span | None = None
    """Between the starts of batches, for ``INTERVAL`` alone."""

    def __str__(self) -> str:
        return str(self.kind if self.every is None else self.every)


CONTINUOUS = Trigger()
AVAILABLE_NOW = Trigger(TriggerKind.AVAILABLE_NOW)


def parse_trigger(value: object) -> Trigger:
    """``continuous``, ``available-now``, or how often."""
    if isinstance(value, Trigger):
        return value
    words = text("trigger", value).strip()
    if words.replace("_", "-").lower() == TriggerKind.AVAILABLE_NOW:
        return AVAILABLE_NOW
    if words.lower() == TriggerKind.CONTINUOUS:
        return CONTINUOUS
    if not any(letter.isdigit() for letter in words):
        raise Mistake(
            "trigger",
            f"'{words}' is no trigger.",
            "There are continuous, available-now, and times: '10 seconds'.",
        )
    every = parse_span("trigger", words)
    return Trigger(TriggerKind.INTERVAL, every) if every.milliseconds else CONTINUOUS
