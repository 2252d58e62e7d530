"""What clients have used of their budgets, and how long those must wait who have used more.

An account fills up by its limit every second, up to as much as the window holds (``quota.window.num`` and
``quota.window.size.seconds``: ten seconds' worth, as with Kafka), and may be overdrawn: what was asked is
done, and then its owner is not listened to until the account is even again. Over any longer time nobody gets
more than the limit. Two things are refused beforehand instead, as Kafka does: records to read that an account
does not cover, and new or deleted partitions while it is overdrawn, for clients that know an error for that.

Time is the monotonic clock's; the same charges at the same times give the same waits.
"""

from collections.abc import Callable
from math import ceil
from typing import Final, NamedTuple

from trivium.core.caller import Caller
from trivium.core.metadata_quotas import QuotaEntity
from trivium.core.ports import Clock
from trivium.core.quotas.limits import Budget, Limit, Limits
from trivium.core.timers import Timer, Timers

ACCOUNTS_MAX: Final = 10_000
"""Accounts that are kept; with more of them those that are full are closed, for they say nothing."""

PERCENT: Final = 10
"""Milliseconds of a second that are one percent of it."""

ROUNDING_MS: Final = 0.001
"""A debt of less than a microsecond is none: balances are floats."""

_USER_PREFIX: Final = "User:"


class Standing(NamedTuple):
    now_ms: int
    mutations: int


class _Account:
    __slots__ = ("balance", "per_second", "seen_ms")

    def __init__(self, balance: float, per_second: float, now_ms: int) -> None:
        self.balance = balance
        self.per_second = per_second
        self.seen_ms = now_ms


class Budgets:
    def __init__(
        self,
        limits: Limits,
        clock: Clock,
        timers: Timers,
        mutations: Callable[[], int],
        window_seconds: int,
    ) -> None:
        """``mutations`` is how many partitions were made and deleted so far."""
        self._limits = limits
        self._clock = clock
        self._timers = timers
        self._mutations = mutations
        self._window_seconds = window_seconds
        self._paid_mutations = 0
        self._refused_mutations_ms = 0
        """Of the request that is carried out: what was paid beforehand, and how long it was told to wait."""
        self._accounts: dict[tuple[QuotaEntity, Budget], _Account] = {}

    @property
    def are_set(self) -> bool:
        """Whether there is any limit: without one nothing is counted."""
        return self._limits.are_set

    def standing(self) -> "Standing":
        """How things are before a request, for ``settle`` to compare with."""
        self._paid_mutations = self._refused_mutations_ms = 0
        return self._standing()

    def _standing(self) -> "Standing":
        return Standing(self._clock.monotonic_ms(), self._mutations())

    def settle(self, caller: Caller, before: "Standing") -> int:
        """Charge what a request has taken of the time of this node, and of its metadata; how long to wait."""
        now = self._standing()
        waits_ms = [0, self._refused_mutations_ms]
        if now.now_ms > before.now_ms:
            waits_ms.append(self.charge(caller, Budget.REQUEST, now.now_ms - before.now_ms))
        mutations = now.mutations - before.mutations - self._paid_mutations
        if mutations > 0:
            waits_ms.append(self.charge(caller, Budget.MUTATION, mutations))
        return max(waits_ms)

    def admits_mutations(self, caller: Caller, count: int) -> bool:
        """Whether so many partitions may be made or deleted now; they are paid for then. Who may do any may
        do all of them, and is in debt afterwards.
        """
        wait_ms = self.charge(caller, Budget.MUTATION, 0)
        if wait_ms:
            self._refused_mutations_ms = max(self._refused_mutations_ms, wait_ms)
            return False
        self.charge(caller, Budget.MUTATION, count)
        self._paid_mutations += count
        return True

    def take(self, caller: Caller, budget: Budget, amount: int) -> int:
        """Take so much if the account covers it; else nothing, and in how many milliseconds it will. What is
        more than a full account is covered by a full one.
        """
        limit = self._limit(caller, budget)
        if limit is None:
            return 0
        owed_ms = self._take(limit.account, budget, limit.per_second, 0)
        account, full = self._accounts[limit.account, budget], self._full(limit.per_second)
        wait_ms = max(owed_ms, _wait_ms(min(amount, full) - account.balance, limit.per_second))
        if not wait_ms:
            account.balance -= amount
        return wait_ms

    def at_once_max(self, caller: Caller, budget: Budget) -> int | None:
        """What a full account holds; None without a limit."""
        limit = self._limit(caller, budget)
        return None if limit is None else int(self._full(limit.per_second))

    def charge(self, caller: Caller, budget: Budget, amount: float) -> int:
        """Take so much from the caller's account; how many milliseconds it must wait."""
        limit = self._limit(caller, budget)
        return 0 if limit is None else self._take(limit.account, budget, limit.per_second, amount)

    def _limit(self, caller: Caller, budget: Budget) -> Limit | None:
        """In units of the budget; time is in milliseconds."""
        user = caller.principal.removeprefix(_USER_PREFIX)
        limit = self._limits.of_client(user, caller.client_id, budget)
        if limit is None or budget is not Budget.REQUEST:
            return limit
        return limit._replace(per_second=limit.per_second * PERCENT)

    def _full(self, per_second: float) -> float:
        return max(per_second * self._window_seconds, 1.0)

    def charge_connection(self, address: str) -> int:
        """One more connection from an address; or the milliseconds by which it is too early. Then it is not
        let in, and nothing is charged.
        """
        limit = self._limits.of_address(address)
        if limit is None:
            return 0
        wait_ms = self._take(limit.account, Budget.CONNECTION, limit.per_second, 1)
        if wait_ms:
            self._accounts[limit.account, Budget.CONNECTION].balance += 1
        return wait_ms

    def remaining_ms(self, timer: Timer) -> int:
        return max(0, timer.due_ms - self._clock.monotonic_ms())

    def after(self, wait_ms: int, action: Callable[[], None]) -> Timer:
        return self._timers.after(wait_ms, action)

    def _take(self, entity: QuotaEntity, budget: Budget, per_second: float, amount: float) -> int:
        now_ms = self._clock.monotonic_ms()
        full = self._full(per_second)
        account = self._accounts.get((entity, budget))
        if account is None or account.per_second != per_second:
            if len(self._accounts) >= ACCOUNTS_MAX:
                self._close_full_ones(now_ms)
            account = self._accounts[entity, budget] = _Account(full, per_second, now_ms)
        filled = account.balance + (now_ms - account.seen_ms) * per_second / 1000
        account.balance = min(full, filled) - amount
        account.seen_ms = now_ms
        return _wait_ms(-account.balance, per_second)

    def _close_full_ones(self, now_ms: int) -> None:
        """Those that were not used for a whole window; all, if everybody is at work."""
        window_ms = self._window_seconds * 1000
        self._accounts = {
            key: each for key, each in self._accounts.items() if now_ms - each.seen_ms < window_ms
        }
        if len(self._accounts) >= ACCOUNTS_MAX:
            self._accounts.clear()


def _wait_ms(lacking: float, per_second: float) -> int:
    """Until so much has come in."""
    return max(0, ceil(lacking * 1000 / per_second - ROUNDING_MS))
