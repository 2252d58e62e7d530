"""The shortest dialogue that shows a difference: steps and items of lists are left out while it stays."""

import time
from collections.abc import Sequence

from tests.interop.dialogues.difference import Difference, Play, S
from tests.interop.dialogues.report import parted


def shortest(
    steps: Sequence[S], found: Difference[S], play: Play[S], seconds_max: float
) -> tuple[list[S], Difference[S]]:
    """Within a time; what is left then is short enough."""
    deadline = time.monotonic() + seconds_max
    left = list(steps[: found.index + 1])
    fields = _fields(found)

    def still(candidate: list[S]) -> bool:
        nonlocal left, found
        if time.monotonic() > deadline or not candidate:
            return False
        seen = play(candidate)
        if seen is None or seen.step.key != found.step.key or _fields(seen) != fields:
            return False
        left, found = candidate[: seen.index + 1], seen
        return True

    size = len(left) // 2
    while size:
        start = len(left) - 1 - size
        while start > -size:
            first = max(0, start)
            still(left[:first] + left[start + size :])
            start -= size
        size //= 2
    smaller = True
    while smaller:
        smaller = any(
            still([*left[:index], step, *left[index + 1 :]])
            for index in reversed(range(len(left)))
            for step in left[index].smaller()
        )
    return left, found


def _fields(found: Difference[S]) -> set[str]:
    """What differs, wherever it stands: another difference is not what is looked for."""
    return {line.partition(": ")[0].rpartition(".")[2] for line in parted(found.ours, found.theirs)}
