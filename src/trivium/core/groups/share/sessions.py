"""Share sessions: which partitions a member reads, and that its requests come one after the other.

    epoch 0     a new session with the partitions of this request
    epoch e     the next request: changed and forgotten partitions only
    epoch -1    the last request

A session belongs to a member of a group, and to the connection on which it was opened: when that is closed,
the session is over, and what the member had acquired is for others.
"""

from collections.abc import Callable, Iterable
from typing import Final

from trivium.core.caller import Caller
from trivium.core.commands.share_groups_reading import SharePart
from trivium.core.faults import Fault, Refused

EPOCH_NEW: Final = 0
EPOCH_LAST: Final = -1
_EPOCH_MAX: Final = 2**31 - 1


class ShareSession:
    __slots__ = ("_caller", "_gone", "acquired_from", "epoch", "group_id", "member_id", "parts")

    def __init__(
        self, group_id: str, member_id: str, caller: Caller, gone: "Callable[[ShareSession], None]"
    ) -> None:
        self.group_id = group_id
        self.member_id = member_id
        self.epoch = EPOCH_NEW + 1
        self.parts: dict[SharePart, None] = {}
        self.acquired_from: set[SharePart] = set()
        """Where the member has acquired anything, be it part of the session still or not."""
        self._caller = caller
        self._gone = lambda: gone(self)
        caller.presence.watch(self._gone)

    def advance(self) -> None:
        self.epoch = 1 if self.epoch == _EPOCH_MAX else self.epoch + 1

    def update(self, parts: Iterable[SharePart], forgotten: Iterable[SharePart]) -> None:
        self.parts.update(dict.fromkeys(parts))
        for part in forgotten:
            self.parts.pop(part, None)

    def in_turn(self) -> list[SharePart]:
        """The partitions, each time another one first: all of them are to be read."""
        parts = list(self.parts)
        turn = self.epoch % len(parts) if parts else 0
        return parts[turn:] + parts[:turn]

    def end(self) -> None:
        self._caller.presence.unwatch(self._gone)


class ShareSessions:
    def __init__(self, sessions_max: int, gone: Callable[[ShareSession], None]) -> None:
        """``gone`` is told of sessions whose connections were closed."""
        self._sessions_max = sessions_max
        self._tell_gone = gone
        self._sessions: dict[tuple[str, str], ShareSession] = {}

    def open(self, group_id: str, member_id: str, caller: Caller) -> ShareSession:
        before = self._sessions.get((group_id, member_id))
        if before is not None:
            self.close(before)
        if len(self._sessions) >= self._sessions_max:
            raise Refused(
                Fault.SHARE_SESSION_LIMIT_REACHED,
                f"There are {self._sessions_max} share sessions (group.share.max.share.sessions).",
            )
        session = ShareSession(group_id, member_id, caller, self._gone)
        if before is not None:
            session.acquired_from |= before.acquired_from
        self._sessions[group_id, member_id] = session
        return session

    def require(self, group_id: str, member_id: str, epoch: int) -> ShareSession:
        """The session that a request belongs to, which counts it; the last one always does."""
        session = self._sessions.get((group_id, member_id))
        if session is None:
            raise Refused(Fault.SHARE_SESSION_NOT_FOUND)
        if epoch == EPOCH_LAST:
            self.close(session)
        elif epoch != session.epoch:
            raise Refused(Fault.INVALID_SHARE_SESSION_EPOCH)
        else:
            session.advance()
        return session

    def close(self, session: ShareSession) -> None:
        session.end()
        self._sessions.pop((session.group_id, session.member_id), None)

    def _gone(self, session: ShareSession) -> None:
        self.close(session)
        self._tell_gone(session)
