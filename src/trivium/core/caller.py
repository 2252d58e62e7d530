"""Who asks: what a session knows about its peer and the core needs to decide and to report."""

from collections.abc import Callable
from dataclasses import dataclass, field

ANONYMOUS = "User:ANONYMOUS"


class Presence:
    """Whether a caller still listens. Whoever keeps something only for its sake asks to be told."""

    __slots__ = ("_watchers", "is_gone")

    def __init__(self) -> None:
        self.is_gone = False
        self._watchers: dict[Callable[[], None], None] = {}

    def watch(self, gone: Callable[[], None]) -> None:
        """Call ``gone`` once when the caller has gone, unless it is unwatched before."""
        self._watchers[gone] = None

    def unwatch(self, gone: Callable[[], None]) -> None:
        self._watchers.pop(gone, None)

    def leave(self) -> None:
        self.is_gone = True
        watchers, self._watchers = self._watchers, {}
        for gone in watchers:
            gone()


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
