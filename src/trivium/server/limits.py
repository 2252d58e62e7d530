"""What peers may take of a node, counted: connections and memory.

``Admission`` decides who may come in, ``MemoryBudget`` keeps the sum of what connections hold. Neither closes
anybody: ``listeners`` and ``patrol`` do. Every number comes from ``Configuration.limits``.
"""

from collections.abc import Callable, Hashable, Mapping
from math import inf
from typing import Final, Generic, TypeVar

RATE_WINDOW_SECONDS: Final = 1.0
"""``max.connection.creation.rate`` counts over so long: one second's worth may come at once."""


class Admission:
    """Connections by address, and how fast new ones come. ``now`` is the monotonic clock, in seconds."""

    def __init__(
        self,
        per_address_max: int,
        by_address: Mapping[str, int],
        per_second_max: int,
        now: Callable[[], float],
        early_ms: Callable[[str], int] = lambda _address: 0,
    ) -> None:
        """``early_ms`` is by how much a connection from an address comes sooner than its quota allows; one
        that is in time is charged to it.
        """
        self._early_ms = early_ms
        self._per_address_max = per_address_max
        self._by_address = by_address
        self._per_second_max = per_second_max
        self._now = now
        self._counts: dict[str, int] = {}
        self._allowance = float(per_second_max)
        self._counted_at = now()

    @property
    def addresses(self) -> int:
        return len(self._counts)

    def wait_seconds(self) -> float:
        """How long until one more connection is within the rate; 0 for now."""
        now = self._now()
        burst = self._per_second_max * RATE_WINDOW_SECONDS
        self._allowance = min(burst, self._allowance + (now - self._counted_at) * self._per_second_max)
        self._counted_at = now
        return 0.0 if self._allowance >= 1 else (1 - self._allowance) / self._per_second_max

    def refusal(self, address: str) -> str | None:
        """Why this address may have no further connection; None if it may, and then it is counted."""
        self._allowance -= 1
        count = self._counts.get(address, 0)
        allowed = self._by_address.get(address, self._per_address_max)
        if count >= allowed:
            return f"it has {count} connections, and {allowed} are allowed for one address"
        early_ms = self._early_ms(address)
        if early_ms:
            return f"its quota allows the next connection in {early_ms} ms"
        self._counts[address] = count + 1
        return None

    def release(self, address: str) -> None:
        count = self._counts[address] - 1
        if count:
            self._counts[address] = count
        else:
            del self._counts[address]


Holder = TypeVar("Holder", bound=Hashable)


class MemoryBudget(Generic[Holder]):
    """Bytes that some hold, against one bound. Who has held some for longest comes first in ``held``."""

    def __init__(self, bytes_max: float = inf) -> None:
        self.bytes_max = bytes_max
        self.used_bytes = 0
        self.held: dict[Holder, int] = {}

    @property
    def is_over(self) -> bool:
        return self.used_bytes > self.bytes_max

    def hold(self, holder: Holder, size_bytes: int) -> None:
        """From now on ``holder`` holds so much, instead of what it held before."""
        self.used_bytes += size_bytes - self.held.get(holder, 0)
        if size_bytes:
            self.held[holder] = size_bytes
        else:
            self.held.pop(holder, None)

    def largest(self) -> Holder | None:
        return max(self.held, key=self.held.__getitem__, default=None)
