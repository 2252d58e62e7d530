"""Topics as they are: described by name and by id, all at once or page by page.

Asking for a topic may bring it into being, if the broker and the client want that: the answer comes when it
is there, so that a client need not ask twice.
"""

from collections.abc import Callable, Mapping, Sequence

from trivium.core.access import CLUSTER_NAME, Access, Operation, Resource
from trivium.core.caller import Caller
from trivium.core.cluster import INTERNAL_TOPICS, Cluster
from trivium.core.commands.command import Reply, Routes, TopicRef
from trivium.core.commands.topics import (
    Cursor,
    DescribedTopic,
    DescribedTopics,
    DescribeTopics,
    DescribeTopicsPage,
    NewTopic,
    StreamPlace,
    TopicsPage,
)
from trivium.core.faults import Fault, Refused
from trivium.core.metadata_topics import Partition, Topic
from trivium.core.nodes import this_node
from trivium.core.settings import Settings, whole
from trivium.core.topic_creation import TopicCreation
from trivium.core.topic_names import check_topic_name


class TopicDirectory:
    def __init__(
        self,
        cluster: Cluster,
        settings: Settings,
        access: Access,
        creation: TopicCreation,
        place_with: Callable[[bytes], StreamPlace | None] = lambda _topic_id: None,
    ) -> None:
        self._cluster = cluster
        self._settings = settings
        self._access = access
        self._creation = creation
        self._place_with = place_with
        self.routes: Routes = {DescribeTopics: self.describe, DescribeTopicsPage: self.describe_page}

    # -- all at once -----------------------------------------------------------------------------

    def describe(self, command: DescribeTopics, caller: Caller, reply: Reply[DescribedTopics]) -> None:
        faults: dict[TopicRef, Refused] = {}
        new = self._missing(command, caller, faults)

        def answer(_fault: Fault | None = None) -> None:
            reply(self._described(command, caller, faults))

        if not new:
            answer()
            return
        try:
            self._creation.create_automatically(new, faults, answer)
        except Refused:
            answer()

    def _missing(
        self, command: DescribeTopics, caller: Caller, faults: dict[TopicRef, Refused]
    ) -> list[NewTopic]:
        """The topics that this question brings into being; ``faults`` learns of those that it may not."""
        if not command.may_create or not self._settings.broker("auto.create.topics.enable"):
            return []
        missing = []
        for name in dict.fromkeys(command.topics or ()):
            if not isinstance(name, str) or name in self._cluster.image.topics.by_name:
                continue
            if name in INTERNAL_TOPICS or not self._allows(caller, Operation.DESCRIBE, name):
                continue
            if self._may_create(caller, name):
                missing.append(NewTopic(name))
            else:
                faults[name] = Refused(Fault.NOT_AUTHORIZED_TOPIC)
        return missing

    def _may_create(self, caller: Caller, name: str) -> bool:
        return self._access.allows(caller, Operation.CREATE, Resource.CLUSTER, CLUSTER_NAME) or self._allows(
            caller, Operation.CREATE, name
        )

    def _described(
        self, command: DescribeTopics, caller: Caller, faults: dict[TopicRef, Refused]
    ) -> DescribedTopics:
        wanted: Sequence[TopicRef] = (
            self._shown(caller) if command.topics is None else list(dict.fromkeys(command.topics))
        )
        topics = []
        for ref in wanted:
            described = self._describe_one(ref, caller, faults.get(ref), command.with_operations)
            if described.fault is not Fault.NOT_AUTHORIZED_TOPIC or command.topics is not None:
                topics.append(described)
        return DescribedTopics(
            topics,
            [this_node(self._cluster, self._settings)],
            self._cluster.node_id,
            self._cluster.cluster_id,
            self._access.operations(caller, Resource.CLUSTER, CLUSTER_NAME)
            if command.with_cluster_operations
            else None,
        )

    # -- page by page ----------------------------------------------------------------------------

    def describe_page(self, command: DescribeTopicsPage, caller: Caller, reply: Reply[TopicsPage]) -> None:
        cursor = command.cursor
        names = command.topics if command.topics is not None else self._shown(caller)
        wanted = sorted(name for name in set(names) if cursor is None or name >= cursor.topic)
        if cursor is not None and (
            cursor.partition < 0 or (command.topics is not None and cursor.topic not in wanted)
        ):
            reply(command.refused(Fault.INVALID_REQUEST))
            return
        room = max(
            1, min(command.partitions_max, whole(self._settings.broker, "max.request.partition.size.limit"))
        )
        page: list[DescribedTopic] = []
        unseen: list[DescribedTopic] = []
        for name in wanted:
            if not room:
                reply(TopicsPage(page + unseen, Cursor(name, 0)))
                return
            described = self._describe_one(name, caller, None, with_operations=True)
            if described.fault is Fault.NOT_AUTHORIZED_TOPIC:
                # Behind all others, so that its place does not tell whether it exists.
                if command.topics is not None:
                    unseen.append(described)
                continue
            begin = cursor.partition if cursor is not None and name == cursor.topic else 0
            shown, index_next = _slice(described.partitions, begin, room)
            place = self._place_with(described.topic_id)
            page.append(described._replace(partitions=shown, place=place))
            if index_next is not None:
                reply(TopicsPage(page + unseen, Cursor(name, index_next)))
                return
            room -= len(shown)
        reply(TopicsPage(page + unseen))

    # -- one topic -------------------------------------------------------------------------------

    def _describe_one(
        self, ref: TopicRef, caller: Caller, fault: Refused | None, with_operations: bool
    ) -> DescribedTopic:
        try:
            if fault is not None:
                raise fault
            topic = self._find(ref, caller)
        except Refused as refused:
            operations = None
            if with_operations and isinstance(ref, str) and refused.fault is not Fault.NOT_AUTHORIZED_TOPIC:
                operations = self._access.operations(caller, Resource.TOPIC, ref)
            return DescribedTopic(ref, refused.fault, refused.message, operations=operations)
        return DescribedTopic(
            ref,
            name=topic.name,
            topic_id=topic.topic_id,
            is_internal=topic.name in INTERNAL_TOPICS,
            partitions=topic.partitions,
            offline=frozenset(
                index for index in topic.partitions if self._cluster.storage.is_offline(topic.name, index)
            ),
            operations=self._access.operations(caller, Resource.TOPIC, topic.name)
            if with_operations
            else None,
        )

    def _find(self, ref: TopicRef, caller: Caller) -> Topic:
        """A topic that the caller may see. Whether another one exists is not told (promise S11)."""
        if isinstance(ref, str):
            if not self._allows(caller, Operation.DESCRIBE, ref):
                raise Refused(Fault.NOT_AUTHORIZED_TOPIC)
            check_topic_name(ref)
            return self._cluster.topic(ref)
        topic = self._cluster.topic(ref)
        if not self._allows(caller, Operation.DESCRIBE, topic.name):
            raise Refused(Fault.UNKNOWN_TOPIC_ID)
        return topic

    def _shown(self, caller: Caller) -> list[str]:
        """All that the caller may see."""
        shows = self._access.shows
        return sorted(
            name
            for name in self._cluster.image.topics.by_name
            if shows(caller, Operation.DESCRIBE, Resource.TOPIC, name)
        )

    def _allows(self, caller: Caller, operation: Operation, topic: str) -> bool:
        return self._access.allows(caller, operation, Resource.TOPIC, topic)


def _slice(
    partitions: Mapping[int, Partition], begin: int, room: int
) -> tuple[Mapping[int, Partition], int | None]:
    """So many partitions from ``begin`` on, and the first that had no room."""
    indexes = [index for index in sorted(partitions) if index >= begin]
    shown = {index: partitions[index] for index in indexes[:room]}
    return shown, indexes[room] if len(indexes) > room else None
