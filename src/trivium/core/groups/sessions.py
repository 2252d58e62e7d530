"""Sessions of members: whoever is not heard of for its session timeout is one no longer.

Time is of the monotonic clock (R10): a jump of the wall clock expires nobody.
"""

from collections.abc import Callable

from trivium.core.groups.group import ClassicGroup
from trivium.core.groups.member import Member
from trivium.core.timers import Timers

NEW_MEMBER_TIMEOUT_MS = 5 * 60 * 1000
"""A member that waits for its first generation cannot beat its heart. It gets this long, as with Kafka, so
that those who have gone away meanwhile do not fill the group."""


class Sessions:
    def __init__(self, timers: Timers, expired: Callable[[ClassicGroup, Member], None]) -> None:
        self._timers = timers
        self._expired = expired

    def renew(self, group: ClassicGroup, member: Member) -> None:
        self._set(group, member, member.session_timeout_ms)

    def begin(self, group: ClassicGroup, member: Member) -> None:
        """The session of a newcomer."""
        self._set(group, member, NEW_MEMBER_TIMEOUT_MS)

    def _set(self, group: ClassicGroup, member: Member, timeout_ms: int) -> None:
        member.end_session()
        member.session = self._timers.after(timeout_ms, lambda: self._end(group, member))

    def _end(self, group: ClassicGroup, member: Member) -> None:
        member.session = None
        # Whoever waits for an answer of ours is alive, unless it is new: those may have gone for good.
        if member.is_new or not (member.is_joining or member.is_syncing):
            self._expired(group, member)
