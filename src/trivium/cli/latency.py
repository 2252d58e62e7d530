"""How long things took: a histogram of fixed relative precision, whatever the number of measurements."""

import math
from collections import Counter
from typing import Final

_GROWTH: Final = math.log(1.02)
"""Neighbouring buckets differ by 2 %: no percentile is further off than that."""

_UNIT_S: Final = 1e-6


class LatencyHistogram:
    def __init__(self) -> None:
        self._buckets: Counter[int] = Counter()
        self.count = 0
        self.max_s = 0.0

    def add(self, seconds: float, times: int = 1) -> None:
        self._buckets[math.ceil(math.log(max(seconds, _UNIT_S) / _UNIT_S) / _GROWTH)] += times
        self.count += times
        self.max_s = max(self.max_s, seconds)

    def percentile_s(self, percent: float) -> float:
        """The time within which so many of a hundred were done; 0 if there were none."""
        wanted = max(1, math.ceil(self.count * percent / 100))
        seen = 0
        for bucket in sorted(self._buckets):
            seen += self._buckets[bucket]
            if seen >= wanted:
                return min(self.max_s, _UNIT_S * math.exp(bucket * _GROWTH))
        return 0.0
