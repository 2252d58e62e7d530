"""FindCoordinator: which node looks after a group or a transactional id. In a cluster of one it is this one,
if it can at all.
"""

from collections.abc import Callable

from trivium.core.access import NOT_AUTHORIZED, Access, Operation, Resource
from trivium.core.caller import Caller
from trivium.core.commands.command import Reply
from trivium.core.commands.groups import CoordinatorKind, FindCoordinators, FoundCoordinator
from trivium.core.commands.topics import Node
from trivium.core.faults import Fault, Refused
from trivium.core.groups.share.share_partition import is_share_key
from trivium.core.internal_topic import InternalTopic

_RESOURCES = {
    CoordinatorKind.GROUP: Resource.GROUP,
    CoordinatorKind.TRANSACTION: Resource.TRANSACTIONAL_ID,
    CoordinatorKind.SHARE_PARTITION: Resource.CLUSTER,
}
_NOT_COORDINATED = {
    CoordinatorKind.TRANSACTION: (
        Fault.COORDINATOR_NOT_AVAILABLE,
        "This broker coordinates no transactions.",
    ),
}
"""What is said of kinds for which nobody has added a topic."""


class Finding:
    def __init__(self, topic: InternalTopic, access: Access, this_node: Callable[[], Node]) -> None:
        self._topics = {CoordinatorKind.GROUP: topic}
        self._access = access
        self._this_node = this_node

    def add(self, kind: CoordinatorKind, topic: InternalTopic) -> None:
        """The coordinator of this kind keeps its state in this topic."""
        self._topics[kind] = topic

    def find(self, command: FindCoordinators, caller: Caller, reply: Reply[list[FoundCoordinator]]) -> None:
        topic = self._topics.get(command.kind)
        if topic is None:
            reply(command.refused(*_NOT_COORDINATED[command.kind]))
            return
        try:
            topic.ensure(lambda fault: reply(self._found(command, caller, fault)))
        except Refused:
            reply(command.refused(Fault.COORDINATOR_NOT_AVAILABLE))

    def _found(
        self, command: FindCoordinators, caller: Caller, fault: Fault | None
    ) -> list[FoundCoordinator]:
        if fault is not None:
            return command.refused(Fault.COORDINATOR_NOT_AVAILABLE)
        return [self._find_one(key, command.kind, caller) for key in command.keys]

    def _find_one(self, key: str, kind: CoordinatorKind, caller: Caller) -> FoundCoordinator:
        resource = _RESOURCES[kind]
        if not self._access.allows(caller, Operation.DESCRIBE, resource, key):
            return FoundCoordinator(key, NOT_AUTHORIZED[resource])
        if kind is CoordinatorKind.SHARE_PARTITION and not is_share_key(key):
            return FoundCoordinator(key, Fault.INVALID_REQUEST, f"{key} does not name a share partition.")
        topic = self._topics[kind]
        try:
            topic.check(topic.partition_of(key))
        except Refused:
            return FoundCoordinator(key, Fault.COORDINATOR_NOT_AVAILABLE)
        return FoundCoordinator(key, node=self._this_node())
