"""How far something had certainly come before a moment: watermarks, epochs, whatever may only rise."""

from bisect import bisect_left

from trivium.testing.history.anomaly import Witness


class Frontier:
    """Levels are noted in the order of their operations' ends; only those that rise are kept."""

    def __init__(self) -> None:
        self._ends: list[int] = []
        self._levels: list[tuple[int, Witness]] = []

    def note(self, level: int, told_by: Witness) -> None:
        if not self._levels or level > self._levels[-1][0]:
            self._ends.append(told_by.end)
            self._levels.append((level, told_by))

    def before(self, moment: int) -> tuple[int, Witness] | None:
        """The highest level that an operation was told which had ended by then, and that operation."""
        number = bisect_left(self._ends, moment)
        return self._levels[number - 1] if number else None
