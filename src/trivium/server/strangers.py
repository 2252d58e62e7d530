"""Saying aloud when strangers, clients that do not log in, lose or regain what they may do.

With ``access.anonymous = auto`` a node serves everybody until somebody gives it a second user. Whoever does
that at one door shuts the others for clients that came in unasked so far: nobody should have to guess why.
"""

from collections.abc import Iterable
from typing import Final

from trivium.core.access import LOGIN_REQUIRED, Anonymous
from trivium.server.configuration.configuration import Listener, Protocol
from trivium.server.event_log import events

REFUSED: Final = (
    "clients that do not log in are refused, because there is a user besides the first one: "
    "access.anonymous=allow serves them all the same"
)
SERVED_AGAIN: Final = (
    "clients that do not log in may do everything again, because the first user is the only one: "
    "access.anonymous=deny refuses them all the same"
)
_UNCHANGED: Final = frozenset((*LOGIN_REQUIRED, Protocol.CONSOLE.value))
"""What strangers may do there does not depend on who the users are."""


class Strangers:
    """At the doors of a node."""

    def __init__(self, anonymous: Anonymous, listeners: Iterable[Listener]) -> None:
        self._is_auto = anonymous is Anonymous.AUTO
        self._protocols = sorted({each.protocol.value for each in listeners} - _UNCHANGED)

    def report_start(self, is_only_root: bool) -> None:
        if not is_only_root:
            self.report_change(is_only_root)

    def report_change(self, is_only_root: bool) -> None:
        """Another user has come, or the last one has gone."""
        if self._is_auto and self._protocols:
            events.warning(SERVED_AGAIN if is_only_root else REFUSED, protocols=", ".join(self._protocols))
