"""Who asks: what a session knows about its peer and the core needs to decide and to report."""

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field

ANONYMOUS = "User:ANONYMOUS"


class Presence:
    """Whether a caller still listens. Whoever keeps something only for its sake asks to be told."""

    __slots__ = ("_failed", "_is_over", "_watchers", "is_gone")

    def __init__(self, failed: Callable[[str, Exception], bool] | None = None) -> None:
        """``failed`` ends the caller's connection, since a mistake of ours leaves it without an answer; False
        if there is no connection any more.
        """
        self.is_gone = False
        self._is_over = False
        self._failed = failed
        self._watchers: dict[Callable[[], None], None] = {}

    def watch(self, gone: Callable[[], None]) -> None:
        """Call ``gone`` once when the caller has gone, unless it is unwatched before: at once if there is no
        connection any more.
        """
        if self._is_over:
            gone()
        else:
            self._watchers[gone] = None

    def unwatch(self, gone: Callable[[], None]) -> None:
        self._watchers.pop(gone, None)

    def leave(self) -> None:
        """Tell them. Who watches later, while there is still a connection, is told the next time."""
        self.is_gone = True
        watchers, self._watchers = self._watchers, {}
        with ExitStack() as stack:  # a mistake of one who is told keeps it from nobody else
            for gone in reversed(watchers):
                stack.callback(gone)

    def fail(self, request: str, error: Exception) -> bool:
        """What the caller has asked for cannot be answered; whether that is told to anybody."""
        return self._failed is not None and self._failed(request, error)

    def forget(self) -> None:
        """There is no connection any more."""
        self._is_over = True
        self._failed = None


@dataclass(frozen=True, slots=True)
class Caller:
    principal: str = ANONYMOUS
    host: str = "127.0.0.1"
    client_id: str = ""
    protocol: str = "kafka"
    software_name: str = ""
    software_version: str = ""
    """What the client says it is; nothing depends on it but what it is asked for (``telemetry``)."""
    user_id: int | None = None
    """Who has logged in, by number: a name may change. None: nobody has."""
    is_by_token: bool = False
    """It has come in by a delegation token of the principal's."""
    presence: Presence = field(default_factory=Presence, compare=False, repr=False)
