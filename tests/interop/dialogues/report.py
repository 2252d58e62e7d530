"""What a person reads about a difference: the shortest dialogue, and both answers where they part."""

from collections.abc import Iterator, Sequence
from typing import Any

from tests.interop.dialogues.judge import Difference
from tests.interop.dialogues.step import Step

WHOLE_MAX = 1000
"""Characters of an answer: where it differs is said before, however long it is."""


def told(family: str, seed: int, steps: Sequence[Step], found: Difference) -> str:
    lines = [f"Kafka answers differently in {family}, seed {seed}:"]
    lines += [f"  {number}. {step}" for number, step in enumerate(steps, 1)]
    if found.step is not steps[-1]:
        lines.append(f"  then the answer comes to {found.step}")
    lines += [f"  {line}" for line in parted(found.ours, found.kafkas)]
    lines += [f"  our whole answer: {cut(found.ours)}", f"  Kafka's: {cut(found.kafkas)}"]
    return "\n".join(lines)


def cut(answer: Any) -> str:
    text = str(answer)
    return text if len(text) <= WHOLE_MAX else f"{text[:WHOLE_MAX]} and so on"


def parted(ours: Any, kafkas: Any, where: str = "answer") -> Iterator[str]:
    if isinstance(ours, dict) and isinstance(kafkas, dict):
        for name in ours:
            yield from parted(ours[name], kafkas[name], f"{where}.{name}")
    elif isinstance(ours, list) and isinstance(kafkas, list) and len(ours) == len(kafkas):
        for index, (mine, theirs) in enumerate(zip(ours, kafkas, strict=True)):
            named = mine.get("name", index) if isinstance(mine, dict) else index
            yield from parted(mine, theirs, f"{where}[{named}]")
    elif ours != kafkas:
        yield f"{where}: ours {ours!r}, Kafka's {kafkas!r}"
