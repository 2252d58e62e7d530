"""Saying what is waited for, where whoever waits cannot be asked: a task, a query, a command that goes on.

Nothing is said of a moment, nor by who gives up soon and says why then. A wait that is longer is said once,
with what fails and for how long it is gone on with; the end of such a wait is said, too.
"""

import logging
from time import monotonic
from typing import Final

from trivium.client.errors import ClientError

SILENT_S: Final = 3.0
"""Nobody wonders before."""

_log = logging.getLogger("trivium.client")


class Waiting:
    """For something that has been tried, and will be tried again for ``limit_s`` at most."""

    __slots__ = ("_is_said", "_limit_s", "_since_s")

    def __init__(self, limit_s: float) -> None:
        self._limit_s = limit_s
        self._since_s: float | None = None
        self._is_said = False

    def failed(self, failure: ClientError) -> None:
        """It has been tried in vain."""
        now = monotonic()
        if self._since_s is None:
            self._since_s = now
        is_long = self._limit_s > SILENT_S and now - self._since_s >= SILENT_S
        if is_long and not self._is_said:
            self._is_said = True
            _log.warning("%s It is tried again for %.0f seconds at most.", failure, self._limit_s)

    def succeeded(self) -> None:
        if self._is_said:
            _log.warning("It goes on: the broker answers again.")
        self.given_up()

    def given_up(self) -> None:
        """Whoever waits next begins anew."""
        self._since_s, self._is_said = None, False
