"""A member of a classic group: what it has said of itself, what it was given, what it waits for."""

from collections.abc import Iterable

from trivium.core.commands.command import Reply
from trivium.core.commands.groups import Joined, JoinGroup, Protocol, Synced
from trivium.core.faults import Fault
from trivium.core.timers import Timer

NO_ASSIGNMENT = b""


class Member:
    """Held replies are answered once: by ``joined`` and ``synced``, or by being refused."""

    __slots__ = (
        "_join_reply",
        "_sync_reply",
        "assignment",
        "client_host",
        "client_id",
        "instance_id",
        "is_new",
        "member_id",
        "protocols",
        "rebalance_timeout_ms",
        "session",
        "session_timeout_ms",
    )

    def __init__(
        self,
        member_id: str,
        instance_id: str | None,
        client_id: str,
        client_host: str,
        session_timeout_ms: int,
        rebalance_timeout_ms: int,
        protocols: Iterable[Protocol],
        assignment: bytes = NO_ASSIGNMENT,
    ) -> None:
        self.member_id = member_id
        self.instance_id = instance_id
        self.client_id = client_id
        self.client_host = client_host
        self.session_timeout_ms = session_timeout_ms
        self.rebalance_timeout_ms = rebalance_timeout_ms
        self.protocols = tuple(protocols)
        self.assignment = assignment
        self.is_new = False
        """Has not seen a generation yet, so that it cannot beat its heart while it waits for one."""
        self.session: Timer | None = None
        self._join_reply: Reply[Joined] | None = None
        self._sync_reply: Reply[Synced] | None = None

    def update(self, command: JoinGroup) -> None:
        """What a member that joins again has to say."""
        self.protocols = tuple(command.protocols)
        self.session_timeout_ms = command.session_timeout_ms
        self.rebalance_timeout_ms = command.rebalance_timeout_ms

    def metadata(self, protocol_name: str | None) -> bytes:
        for protocol in self.protocols:
            if protocol.name == protocol_name:
                return protocol.metadata
        return b""

    # -- waiting ---------------------------------------------------------------------------------

    @property
    def is_joining(self) -> bool:
        return self._join_reply is not None

    @property
    def is_syncing(self) -> bool:
        return self._sync_reply is not None

    def wait_for_join(self, reply: Reply[Joined]) -> None:
        """Hold the reply. One that is held already belongs to a request that the client has given up."""
        self.joined(Joined(self.member_id, Fault.REBALANCE_IN_PROGRESS))
        self._join_reply = reply

    def wait_for_sync(self, reply: Reply[Synced]) -> None:
        self.synced(Synced(Fault.REBALANCE_IN_PROGRESS))
        self._sync_reply = reply

    def joined(self, result: Joined) -> None:
        reply, self._join_reply = self._join_reply, None
        if reply is not None:
            reply(result)

    def synced(self, result: Synced) -> bool:
        """Whether anybody waited for it."""
        reply, self._sync_reply = self._sync_reply, None
        if reply is None:
            return False
        reply(result)
        return True

    def end_session(self) -> None:
        if self.session is not None:
            self.session.cancel()
            self.session = None

    def dismiss(self, fault: Fault, member_id: str | None = None) -> None:
        """The member is one no longer; whoever waits in its name is told why."""
        self.end_session()
        self.joined(Joined(self.member_id if member_id is None else member_id, fault))
        self.synced(Synced(fault))
