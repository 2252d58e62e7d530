"""What Iggy's rights permit, in the words of the broker: each operation is permitted by some of them."""

from typing import Protocol

from trivium.core.acls.entry import Operation
from trivium.core.rights import OPERATIONS, Resource
from trivium.core.users.permissions import Permissions, Tree, anywhere, tree_at


class Places(Protocol):
    """Where rights apply: streams and topics by number. None where there is no such stream, or topic."""

    def stream_id(self, name: str) -> int | None: ...
    def place_of(self, topic: str) -> tuple[int | None, int | None]: ...


class Nowhere:
    """There are no streams."""

    def stream_id(self, name: str) -> int | None:
        return None

    def place_of(self, topic: str) -> tuple[int | None, int | None]:
        return None, None


def permits(
    permissions: Permissions, places: Places, operation: Operation, resource: Resource, name: str
) -> bool:
    if operation not in OPERATIONS[resource]:
        return False
    if resource is Resource.TOPIC:
        return _permits_topic(tree_at(permissions, *places.place_of(name)), operation)
    if resource is Resource.STREAM:
        tree = tree_at(permissions, places.stream_id(name))
        return tree.sees_stream if operation is Operation.DESCRIBE else tree.manages_stream
    if resource is Resource.CLUSTER:
        return _permits_cluster(permissions, operation)
    at = permissions.everywhere
    if resource is Resource.USER or resource is Resource.DELEGATION_TOKEN:
        return at.manage_users or (operation is Operation.DESCRIBE and at.read_users)
    if resource is Resource.GROUP:
        return _permits_group(permissions, operation)
    return any(tree.sends for tree in anywhere(permissions))


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
