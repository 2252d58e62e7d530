"""Logins that fail: how many of them an address may cost the node, and how late each is told.

Checking a password, a bearer's signature or the secret of a token is dear (``Passwords``). An address has an
allowance of such checks that fail, which fills up again within a minute; once it is used up, claims from
there are refused unseen. Who has been let in before with the same password is let in all the same: whoever
shares an address with a stranger, or with a client that was set up wrongly, goes on working. A proof by SCRAM
costs next to nothing and is always looked at.

Whatever fails is told a while later (Kafka's ``connection.failed.authentication.delay.ms``), so that a peer
that tries again at once has to wait. It is the connection that waits, nothing else.
"""

from collections.abc import Callable
from typing import Any, Final

from trivium.core.caller import Caller
from trivium.core.commands.command import Command, Handler, Routes
from trivium.core.commands.sasl import Authenticate
from trivium.core.commands.users import LogIn, LogInWithToken
from trivium.core.ports import Clock
from trivium.core.timers import Timers

MINUTE_MS: Final = 60_000
ADDRESSES_MAX: Final = 10_000
"""Allowances that are kept; with more of them the oldest is forgotten, and its address begins anew."""


class Attempts:
    def __init__(self, clock: Clock, per_minute_max: int) -> None:
        """``per_minute_max`` is of one address; 0 for as many as it likes."""
        self._clock = clock
        self._per_minute_max = per_minute_max
        self._used: dict[str, tuple[float, int]] = {}
        """What is gone of an allowance, and when that was so. The one that failed last comes last."""

    def are_used_up(self, address: str) -> bool:
        return bool(self._per_minute_max) and self._used_now(address) > self._per_minute_max - 1

    def failed(self, address: str) -> None:
        if not self._per_minute_max:
            return
        used = self._used_now(address) + 1
        self._used.pop(address, None)
        if len(self._used) >= ADDRESSES_MAX:
            del self._used[next(iter(self._used))]
        self._used[address] = (used, self._clock.monotonic_ms())

    def _used_now(self, address: str) -> float:
        used, at_ms = self._used.get(address, (0.0, 0))
        regained = (self._clock.monotonic_ms() - at_ms) * self._per_minute_max / MINUTE_MS
        return max(0.0, used - regained)


def told_late(routes: Routes, timers: Timers, delay_ms: int) -> Routes:
    """The same, and failed logins among them are answered so much later."""
    if not delay_ms:
        return routes
    return {
        kind: _late(handler, timers, delay_ms) if kind in _LOGINS else handler
        for kind, handler in routes.items()
    }


_LOGINS: Final[frozenset[type[Command[Any]]]] = frozenset((LogIn, LogInWithToken, Authenticate))


def _late(handler: Handler, timers: Timers, delay_ms: int) -> Handler:
    def handle(command: Command[Any], caller: Caller, reply: Callable[[Any], None]) -> None:
        def told(result: Any) -> None:
            if result.fault is None:
                reply(result)
            else:
                timers.after(delay_ms, lambda: reply(result))

        handler(command, caller, told)

    return handle
