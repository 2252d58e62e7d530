"""What a person reads about a difference: the shortest dialogue, and both answers where they part."""

from collections.abc import Iterator, Sequence
from typing import Any

from tests.interop.dialogues.difference import Difference, S

WHOLE_MAX = 1000
"""Characters of an answer: where it differs is said before, however long it is."""


def told(whose: str, family: str, seed: int, steps: Sequence[S], found: Difference[S]) -> str:
    """``whose`` answers ours are compared with."""
    lines = [f"{whose} answers differently in {family}, seed {seed}:"]
    lines += [f"  {number}. {step}" for number, step in enumerate(steps, 1)]
    if found.step is not steps[-1]:
        lines.append(f"  then the answer comes to {found.step}")
    lines += [f"  {line}" for line in parted(found.ours, found.theirs)]
    lines += [f"  our whole answer: {cut(found.ours)}", f"  {whose}'s: {cut(found.theirs)}"]
    return "\n".join(lines)


def cut(answer: Any) -> str:
    text = str(answer)
    return text if len(text) <= WHOLE_MAX else f"{text[:WHOLE_MAX]} and so on"


def parted(ours: Any, theirs: Any, where: str = "answer") -> Iterator[str]:
    if isinstance(ours, dict) and isinstance(theirs, dict) and ours.keys() == theirs.keys():
        for name in ours:
            yield from parted(ours[name], theirs[name], f"{where}.{name}")
    elif isinstance(ours, list) and isinstance(theirs, list) and len(ours) == len(theirs):
        for index, (mine, other) in enumerate(zip(ours, theirs, strict=True)):
            named = mine.get("name", index) if isinstance(mine, dict) else index
            yield from parted(mine, other, f"{where}[{named}]")
    elif ours != theirs:
        yield f"{where}: ours {ours!r}, theirs {theirs!r}"
