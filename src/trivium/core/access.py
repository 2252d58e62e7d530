"""Who may do what: every command carries its row, and this is where rows are decided.

A row says which right a command needs and on what. Some commands need it once (their group, the cluster) and
are refused as a whole; others name many things, and whoever carries them out asks for each by ``allows``.
A command that needs no right says why. A command without a row does not pass the tests.

``Access.allows`` is the one place where it is decided, for every protocol (promise S10). In this order:

1. A user that is gone or inactive may do nothing; the first user, and super users, may do everything.
2. With an authorizer, an entry that denies wins, then one that allows (``acls.rules``).
3. What a user's own rights permit (Iggy's, ``users.permits``) is permitted.
4. With an authorizer, a resource without any entry is open if ``allow.everyone.if.no.acl.found`` says so.

Without an authorizer, who has logged in without being a user of this node (by a certificate, say) may do
everything, as with Kafka, and who has not logged in what ``Anonymous`` says.
"""

from collections.abc import Callable, Mapping
from enum import Enum
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol

from trivium.core.acls.authorizer import Authorizer
from trivium.core.acls.entry import Operation as Operation
from trivium.core.acls.rules import Verdict
from trivium.core.caller import ANONYMOUS, Caller
from trivium.core.faults import Fault
from trivium.core.rights import CLUSTER_NAME as CLUSTER_NAME
from trivium.core.rights import OPERATIONS as OPERATIONS
from trivium.core.rights import Resource as Resource
from trivium.core.users.permits import Nowhere, Places, permits
from trivium.core.users.user import User, UserStatus

if TYPE_CHECKING:
    from trivium.core.audit import Witness

NOT_AUTHORIZED = {
    Resource.TOPIC: Fault.NOT_AUTHORIZED_TOPIC,
    Resource.GROUP: Fault.NOT_AUTHORIZED_GROUP,
    Resource.CLUSTER: Fault.NOT_AUTHORIZED_CLUSTER,
    Resource.TRANSACTIONAL_ID: Fault.NOT_AUTHORIZED_TRANSACTIONAL_ID,
    Resource.DELEGATION_TOKEN: Fault.NOT_AUTHORIZED_TOKEN,
    Resource.STREAM: Fault.NOT_AUTHORIZED_STREAM,
    Resource.USER: Fault.NOT_AUTHORIZED_USER,
}


class Row(NamedTuple):
    """The right that a command needs. ``name_of`` gives the one thing it is needed on; None: one of many,
    asked for by whoever carries the command out. ``free`` is why no right is needed.
    """

    operation: Operation
    resource: Resource
    name_of: Callable[[Any], str] | None = None
    free: str | None = None


def on_cluster(operation: Operation) -> Row:
    return Row(operation, Resource.CLUSTER, lambda _command: CLUSTER_NAME)


def on_group(operation: Operation) -> Row:
    return Row(operation, Resource.GROUP, attrgetter("group_id"))


def on_transactional_id(operation: Operation) -> Row:
    return Row(operation, Resource.TRANSACTIONAL_ID, attrgetter("transactional_id"))


def on_each(operation: Operation, resource: Resource) -> Row:
    return Row(operation, resource)


def for_everybody(why: str) -> Row:
    return Row(Operation.DESCRIBE, Resource.CLUSTER, free=why)


class Anonymous(Enum):
    """What callers may do who have not logged in, and speak a protocol that lets them ask all the same."""

    AUTO = "auto"
    """Everything, until there is a user beside the first one: then nothing."""
    ALLOW = "allow"
    DENY = "deny"


LOGIN_REQUIRED: Final = frozenset(("iggy",))
"""Protocols in which nobody is served before it has said who it is, whatever ``Anonymous`` says."""


class Users(Protocol):
    """The part of ``users.directory`` that decides."""

    @property
    def by_id(self) -> Mapping[int, User]: ...
    @property
    def is_only_root(self) -> bool: ...


class Access:
    """The one decision function, for every door. Without users, streams and an authorizer everybody may do
    everything.
    """

    def __init__(
        self,
        users: Users | None = None,
        places: Places | None = None,
        anonymous: Anonymous = Anonymous.AUTO,
        authorizer: Authorizer | None = None,
    ) -> None:
        self._users = users
        self._places = places or Nowhere()
        self.authorizer = authorizer
        self.witness: Witness | None = None
        """Who keeps the audit."""
        self._anonymous = anonymous
        self._is_open = anonymous is Anonymous.ALLOW or (anonymous is Anonymous.AUTO and users is None)
        self._is_auto = anonymous is Anonymous.AUTO

    def know(self, users: Users, places: Places) -> None:
        """There are users and streams from now on."""
        self._users, self._places = users, places
        self._is_open = self._anonymous is Anonymous.ALLOW

    def allows(self, caller: Caller, operation: Operation, resource: Resource, name: str) -> bool:
        """Whether the caller may do what it is about to do. The audit hears of it."""
        is_allowed = self._holds(caller, operation, resource, name) or (
            operation is Operation.IDEMPOTENT_WRITE and self._may_write_somewhere(caller)
        )
        if self.witness is not None:
            self.witness.decided(caller, operation, resource, name, is_allowed, self.reason)
        return is_allowed

    def shows(self, caller: Caller, operation: Operation, resource: Resource, name: str) -> bool:
        """The same for one of many that the caller has not asked for by its name: what it may not see is left
        out, and nobody has tried anything.
        """
        return self._holds(caller, operation, resource, name)

    def reason(self, caller: Caller, operation: Operation, resource: Resource, name: str) -> str:
        """Why it is decided so, in a few words."""
        user = self._user(caller)
        if caller.user_id is not None and user is None:
            return "the user is removed or inactive"
        if user is not None and user.is_root:
            return "the first user may do everything"
        if user is None and caller.principal == ANONYMOUS and not self._may_come_in(caller):
            return "nobody has logged in"
        if self.authorizer is not None:
            principal = caller.principal if user is None else _principal(user)
            if principal in self.authorizer.super_users:
                return "a super user may do everything"
            verdict = self.authorizer.verdict(principal, caller.host, operation, resource, name)
            if verdict is Verdict.ALLOWED:
                return "a list allows it, or none is about it and that is open"
            if verdict is Verdict.DENIED:
                return "a list denies it"
        if user is not None:
            return (
                "by the user's own rights" if self._holds(caller, operation, resource, name) else "no right"
            )
        if self.authorizer is not None:
            return "no list allows it"
        return (
            "lists do not count here, and strangers may come in" if self._is_open_to(caller) else "no login"
        )

    def _holds(self, caller: Caller, operation: Operation, resource: Resource, name: str) -> bool:
        """Whether the caller has the right itself, not one that stands in for it."""
        if caller.user_id is None:
            if self.authorizer is None:
                return self._is_open_to(caller)
            if not self._may_come_in(caller):
                return False
            verdict = self.authorizer.verdict(caller.principal, caller.host, operation, resource, name)
            return verdict is Verdict.ALLOWED
        user = self._user(caller)
        if user is None:
            return False
        if user.is_root:
            return True
        if self.authorizer is not None:
            verdict = self.authorizer.verdict(_principal(user), caller.host, operation, resource, name)
            if verdict is Verdict.ALLOWED or verdict is Verdict.DENIED:
                return verdict is Verdict.ALLOWED
        return user.permissions is not None and permits(
            user.permissions, self._places, operation, resource, name
        )

    def _is_open_to(self, caller: Caller) -> bool:
        """For somebody who is no user, where lists do not count. Asked for every partition that a Kafka
        client writes: nothing is worked out here.
        """
        return caller.protocol not in LOGIN_REQUIRED and (
            self._is_open
            or caller.principal != ANONYMOUS
            or (self._is_auto and self._users is not None and self._users.is_only_root)
        )

    def _may_write_somewhere(self, caller: Caller) -> bool:
        user = self._user(caller)
        if self.authorizer is None or (user is None and not self._may_come_in(caller)):
            return False
        principal = caller.principal if user is None else _principal(user)
        return self.authorizer.may_write_somewhere(principal, caller.host)

    def _may_come_in(self, caller: Caller) -> bool:
        """Whether somebody who is no user of this node is asked about at all."""
        return caller.user_id is None and (
            caller.principal != ANONYMOUS
            or not (self._anonymous is Anonymous.DENY or caller.protocol in LOGIN_REQUIRED)
        )

    def _user(self, caller: Caller) -> User | None:
        """The user that has logged in, unless it has gone or sleeps."""
        if caller.user_id is None or self._users is None:
            return None
        user = self._users.by_id.get(caller.user_id)
        return None if user is None or user.status is not UserStatus.ACTIVE else user

    def is_removed(self, caller: Caller) -> bool:
        """Whether the caller has logged in as a user that is there no more."""
        return caller.user_id is not None and (self._users is None or caller.user_id not in self._users.by_id)

    def operations(self, caller: Caller, resource: Resource, name: str) -> frozenset[Operation]:
        """Everything that the caller may do to it (KIP-430)."""
        return frozenset(
            operation for operation in OPERATIONS[resource] if self._holds(caller, operation, resource, name)
        )


def _principal(user: User) -> str:
    """As entries call it; by the name that it has now."""
    return f"User:{user.username}"
