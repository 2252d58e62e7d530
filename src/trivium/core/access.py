"""Who may do what: every command carries its row, and this is where rows are decided.

A row says which right a command needs and on what. Some commands need it once (their group, the cluster) and
are refused as a whole; others name many things, and whoever carries them out asks for each by ``allows``.
A command that needs no right says why. A command without a row does not pass the tests.

``Access.allows`` is the one place where it is decided, for every protocol. Users have Iggy's rights:
each of the broker's operations is permitted by some of them.
"""

from collections.abc import Callable, Mapping
from enum import Enum, auto
from operator import attrgetter
from typing import Any, Final, NamedTuple, Protocol

from trivium.core.caller import Caller
from trivium.core.faults import Fault
from trivium.core.users.permissions import Permissions, Tree, anywhere, tree_at
from trivium.core.users.user import User, UserStatus

CLUSTER_NAME = "kafka-cluster"
"""The name under which Kafka's rights speak of the cluster itself."""


class Operation(Enum):
    READ = auto()
    WRITE = auto()
    CREATE = auto()
    DELETE = auto()
    ALTER = auto()
    DESCRIBE = auto()
    CLUSTER_ACTION = auto()
    DESCRIBE_CONFIGS = auto()
    ALTER_CONFIGS = auto()
    IDEMPOTENT_WRITE = auto()


class Resource(Enum):
    TOPIC = auto()
    GROUP = auto()
    CLUSTER = auto()
    TRANSACTIONAL_ID = auto()
    STREAM = auto()
    """By its name; the empty name is all streams together."""
    USER = auto()
    """The empty name is all users together."""


NOT_AUTHORIZED = {
    Resource.TOPIC: Fault.NOT_AUTHORIZED_TOPIC,
    Resource.GROUP: Fault.NOT_AUTHORIZED_GROUP,
    Resource.CLUSTER: Fault.NOT_AUTHORIZED_CLUSTER,
    Resource.TRANSACTIONAL_ID: Fault.NOT_AUTHORIZED_TRANSACTIONAL_ID,
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


OPERATIONS: Final = {
    Resource.TOPIC: frozenset(
        (
            Operation.READ,
            Operation.WRITE,
            Operation.CREATE,
            Operation.DELETE,
            Operation.ALTER,
            Operation.DESCRIBE,
            Operation.DESCRIBE_CONFIGS,
            Operation.ALTER_CONFIGS,
        )
    ),
    Resource.GROUP: frozenset(
        (
            Operation.READ,
            Operation.DELETE,
            Operation.DESCRIBE,
            Operation.DESCRIBE_CONFIGS,
            Operation.ALTER_CONFIGS,
        )
    ),
    Resource.CLUSTER: frozenset(
        (
            Operation.CREATE,
            Operation.ALTER,
            Operation.DESCRIBE,
            Operation.CLUSTER_ACTION,
            Operation.DESCRIBE_CONFIGS,
            Operation.ALTER_CONFIGS,
            Operation.IDEMPOTENT_WRITE,
        )
    ),
    Resource.TRANSACTIONAL_ID: frozenset((Operation.DESCRIBE, Operation.WRITE)),
    Resource.STREAM: frozenset((Operation.CREATE, Operation.DELETE, Operation.ALTER, Operation.DESCRIBE)),
    Resource.USER: frozenset((Operation.CREATE, Operation.DELETE, Operation.ALTER, Operation.DESCRIBE)),
}
"""What can be done to what."""


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


class Places(Protocol):
    """Where rights apply: streams and topics by number. None where there is no such stream, or topic."""

    def stream_id(self, name: str) -> int | None: ...
    def place_of(self, topic: str) -> tuple[int | None, int | None]: ...


class Access:
    """The one decision function, for every door. Without users and streams everybody may do everything."""

    def __init__(
        self,
        users: Users | None = None,
        places: Places | None = None,
        anonymous: Anonymous = Anonymous.AUTO,
    ) -> None:
        self._users = users
        self._places = places
        self._is_open = anonymous is Anonymous.ALLOW or (anonymous is Anonymous.AUTO and users is None)
        self._is_auto = anonymous is Anonymous.AUTO

    def allows(self, caller: Caller, operation: Operation, resource: Resource, name: str) -> bool:
        if caller.user_id is None:
            # Asked for every partition that a Kafka client writes: nothing is worked out here.
            return caller.protocol not in LOGIN_REQUIRED and (
                self._is_open or (self._is_auto and self._users is not None and self._users.is_only_root)
            )
        user = None if self._users is None else self._users.by_id.get(caller.user_id)
        if user is None or user.status is not UserStatus.ACTIVE:
            return False
        if user.is_root:
            return True
        return user.permissions is not None and self._permits(user.permissions, operation, resource, name)

    def _permits(self, permissions: Permissions, operation: Operation, resource: Resource, name: str) -> bool:
        if operation not in OPERATIONS[resource]:
            return False
        if resource is Resource.TOPIC:
            stream_id, topic_id = (None, None) if self._places is None else self._places.place_of(name)
            return _permits_topic(tree_at(permissions, stream_id, topic_id), operation)
        if resource is Resource.STREAM:
            stream_id = None if self._places is None else self._places.stream_id(name)
            tree = tree_at(permissions, stream_id)
            return tree.sees_stream if operation is Operation.DESCRIBE else tree.manages_stream
        if resource is Resource.CLUSTER:
            return _permits_cluster(permissions, operation)
        at = permissions.everywhere
        if resource is Resource.USER:
            return at.manage_users or (operation is Operation.DESCRIBE and at.read_users)
        if resource is Resource.GROUP:
            return _permits_group(permissions, operation)
        return any(tree.sends for tree in anywhere(permissions))

    def is_removed(self, caller: Caller) -> bool:
        """Whether the caller has logged in as a user that is there no more."""
        return caller.user_id is not None and (self._users is None or caller.user_id not in self._users.by_id)

    def operations(self, caller: Caller, resource: Resource, name: str) -> frozenset[Operation]:
        """Everything that the caller may do to it (KIP-430)."""
        return frozenset(
            operation for operation in OPERATIONS[resource] if self.allows(caller, operation, resource, name)
        )


def _permits_topic(tree: Tree, operation: Operation) -> bool:
    if operation is Operation.READ:
        return tree.polls
    if operation is Operation.WRITE:
        return tree.sends
    if operation is Operation.CREATE:
        return tree.creates_topics
    if operation is Operation.DESCRIBE_CONFIGS:
        return tree.sees_topic
    if operation is Operation.DESCRIBE:
        # As with Kafka: whoever may use a topic may know that it is there.
        return tree.sees_topic or tree.polls or tree.sends
    return tree.manages_topic


def _permits_cluster(permissions: Permissions, operation: Operation) -> bool:
    at = permissions.everywhere
    if operation in (Operation.DESCRIBE, Operation.DESCRIBE_CONFIGS):
        return at.manage_servers or at.read_servers
    if operation is Operation.CREATE:
        # A topic of any name, in any stream.
        return at.manage_streams or at.manage_topics
    if operation is Operation.IDEMPOTENT_WRITE:
        return any(tree.sends for tree in anywhere(permissions))
    return at.manage_servers


def _permits_group(permissions: Permissions, operation: Operation) -> bool:
    """Rights do not speak of groups: who may read anything may be in a group. What it reads and commits
    there is asked for each topic besides.
    """
    if operation in (Operation.READ, Operation.DESCRIBE, Operation.DESCRIBE_CONFIGS):
        return any(tree.polls for tree in anywhere(permissions))
    return tree_at(permissions).creates_topics
