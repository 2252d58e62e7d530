"""How long a source waits for late records: ``at 10 minutes`` is ten minutes behind the newest ``at``."""

from dataclasses import dataclass

from trivium.pipeline.mistake import Mistake
from trivium.pipeline.span import Span, parse_span
from trivium.pipeline.value import text


@dataclass(frozen=True, slots=True)
class Watermark:
    column: str
    delay: Span

    def __str__(self) -> str:
        return f"{self.column} {self.delay}"


def parse_watermark(value: object) -> Watermark | None:
    if value is None or isinstance(value, Watermark):
        return value
    words = text("watermark", value).strip()
    if words.startswith("`") and "`" in words[1:]:
        column, _, delay = words[1:].partition("`")
    else:
        column, _, delay = words.partition(" ")
    if not delay.strip() or not column:
        raise Mistake(
            "watermark",
            f"'{words}' is no watermark.",
            "Write a column and a time to wait, such as 'at 10 minutes'.",
        )
    return Watermark(column, parse_span("watermark", delay))
