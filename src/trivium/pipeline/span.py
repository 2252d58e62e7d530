"""Lengths of time as Spark writes them: ``10 seconds``, ``1 hour 30 minutes``."""

import re
from dataclasses import dataclass
from typing import Final

from trivium.pipeline.mistake import Mistake, did_you_mean

SPAN_MS_MAX: Final = 3_650 * 86_400_000
"""Ten years; whoever writes more has meant another unit."""

_UNIT_MS: Final = {
    "week": 604_800_000,
    "day": 86_400_000,
    "hour": 3_600_000,
    "minute": 60_000,
    "second": 1_000,
    "millisecond": 1,
}
_PART: Final = re.compile(r"(\d{1,15})\s*([a-z]+)\s*", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Span:
    milliseconds: int

    def __str__(self) -> str:
        """In Spark's words, the same for the same length."""
        if not self.milliseconds:
            return "0 seconds"
        parts, rest = [], self.milliseconds
        for unit, unit_ms in _UNIT_MS.items():
            count, rest = divmod(rest, unit_ms)
            if count:
                parts.append(f"{count} {unit}{'' if count == 1 else 's'}")
        return " ".join(parts)


def parse_span(key: str, words: str) -> Span:
    total_ms, at = 0, 0
    text = words.strip()
    while at < len(text):
        part = _PART.match(text, at)
        if part is None:
            break
        unit = part[2].lower().removesuffix("s")
        if unit not in _UNIT_MS:
            hint = did_you_mean(part[2], [f"{unit}s" for unit in _UNIT_MS])
            raise Mistake(key, f"'{part[2]}' is no unit of time.", hint)
        total_ms += int(part[1]) * _UNIT_MS[unit]
        at = part.end()
    if at < len(text) or not text:
        raise Mistake(
            key, f"'{words}' is no length of time.", "Write a number and a unit, such as '10 seconds'."
        )
    if total_ms > SPAN_MS_MAX:
        raise Mistake(key, f"'{words}' is longer than ten years.", "Choose a smaller unit.")
    return Span(total_ms)
