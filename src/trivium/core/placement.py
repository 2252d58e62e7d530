"""Leaders and replicas in a cluster of one: there is nobody else, so little can change and all can be asked.

A directory that came from a larger cluster may name other replicas, or a reassignment that never ended. Both
can be tidied up here: to be on this broker alone is the one assignment that there is.
"""

from collections.abc import Iterator

from trivium.core.assignments import check_assignment
from trivium.core.caller import Caller
from trivium.core.cluster import Cluster
from trivium.core.commands.command import Reply, Routes
from trivium.core.commands.placement import (
    Elected,
    ElectLeaders,
    ListedReassignments,
    ListReassignments,
    PlacedPart,
    Reassigned,
    Reassigning,
    Reassignment,
    ReassignPartitions,
)
from trivium.core.faults import Fault, Refused
from trivium.core.metadata_topics import NO_LEADER, Partition, Topic
from trivium.messages.schema import Message
from trivium.messages.stored.metadata_topics import PartitionChangeRecord
from trivium.wire.uuid_text import ZERO_UUID

PARTITION_CHANGE_VERSION = 1
"""The one that names directories (KIP-858)."""


class Placement:
    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self.routes: Routes = {
            ElectLeaders: self.elect,
            ReassignPartitions: self.reassign,
            ListReassignments: self.list_reassignments,
        }

    # -- leaders ---------------------------------------------------------------------------------

    def elect(self, command: ElectLeaders, caller: Caller, reply: Reply[Elected]) -> None:
        asked = command.parts
        results = []
        for topic, index in self._all() if asked is None else asked:
            result = self._elect(topic, index, command.unclean)
            if asked is not None or result.fault is not Fault.ELECTION_NOT_NEEDED:
                results.append(result)
        reply(Elected(results, sorted(self._cluster.image.topics.by_name) if asked is None else ()))

    def _elect(self, topic: str, index: int, unclean: bool) -> PlacedPart:
        try:
            partition = self._partition(topic, index)
        except Refused as refused:
            found = topic in self._cluster.image.topics.by_name
            what = f"partition as {topic}-{index}" if found else f"topic as {topic}"
            return PlacedPart(topic, index, refused.fault, f"No such {what}")
        if partition.leader == (partition.replicas[0] if not unclean else self._cluster.node_id):
            return PlacedPart(
                topic,
                index,
                Fault.ELECTION_NOT_NEEDED,
                "Leader election not needed for topic partition.",
            )
        # Every partition is led by this broker since it started: another one that would be preferred is gone.
        assert partition.leader != NO_LEADER
        return PlacedPart(
            topic, index, Fault.PREFERRED_LEADER_NOT_AVAILABLE, "The preferred leader was not available."
        )

    # -- replicas --------------------------------------------------------------------------------

    def reassign(self, command: ReassignPartitions, caller: Caller, reply: Reply[Reassigned]) -> None:
        results: list[PlacedPart] = []
        records: list[tuple[Message, int]] = []
        for part in command.parts:
            try:
                records += self._reassignment(part, command.may_change_count)
                results.append(PlacedPart(part.topic, part.partition))
            except Refused as refused:
                results.append(PlacedPart(part.topic, part.partition, refused.fault, refused.message))
        if not records:
            reply(Reassigned(results))
            return
        try:
            self._cluster.commit(
                records, lambda fault: reply(Reassigned(results) if fault is None else command.refused(fault))
            )
        except Refused as refused:
            reply(command.refused(refused.fault, refused.message))

    def _reassignment(self, part: Reassignment, may_change_count: bool) -> list[tuple[Message, int]]:
        """The change that puts the partition there; nothing if it is there already."""
        topic = self._cluster.image.topics.by_name.get(part.topic)
        if topic is None:
            raise Refused(Fault.UNKNOWN_TOPIC, f"Unable to find a topic named {part.topic}.")
        before = topic.partitions.get(part.partition)
        if before is None:
            raise Refused(Fault.UNKNOWN_TOPIC, f"Unable to find partition {part.topic}:{part.partition}.")
        if part.replicas is None:
            if not _is_under_way(before):
                raise Refused(Fault.NO_REASSIGNMENT_IN_PROGRESS)
        else:
            check_assignment(part.replicas, self._cluster.node_id)
            if not may_change_count and len(part.replicas) != len(before.replicas):
                raise Refused(
                    Fault.INVALID_REPLICATION_FACTOR,
                    f"{part.topic}-{part.partition} has {len(before.replicas)} replica(s), "
                    f"and the request does not allow {len(part.replicas)}.",
                )
        alone = (self._cluster.node_id,)
        if before.replicas == alone and not _is_under_way(before):
            return []
        return [(_on_this_broker_alone(topic, part.partition, alone), PARTITION_CHANGE_VERSION)]

    def list_reassignments(
        self, command: ListReassignments, caller: Caller, reply: Reply[ListedReassignments]
    ) -> None:
        under_way = []
        for topic, index in self._all() if command.parts is None else command.parts:
            try:
                partition = self._partition(topic, index)
            except Refused:
                continue
            if _is_under_way(partition):
                under_way.append(
                    Reassigning(
                        topic,
                        index,
                        partition.replicas,
                        partition.adding_replicas,
                        partition.removing_replicas,
                    )
                )
        reply(ListedReassignments(under_way))

    # -- both ------------------------------------------------------------------------------------

    def _all(self) -> Iterator[tuple[str, int]]:
        for name, topic in sorted(self._cluster.image.topics.by_name.items()):
            for index in sorted(topic.partitions):
                yield name, index

    def _partition(self, topic: str, index: int) -> Partition:
        partition = self._cluster.topic(topic).partitions.get(index)
        if partition is None:
            raise Refused(Fault.UNKNOWN_TOPIC)
        return partition


def _is_under_way(partition: Partition) -> bool:
    return bool(partition.adding_replicas or partition.removing_replicas)


def _on_this_broker_alone(topic: Topic, index: int, alone: tuple[int, ...]) -> PartitionChangeRecord:
    return PartitionChangeRecord(
        partition_id=index,
        topic_id=topic.topic_id,
        isr=list(alone),
        replicas=list(alone),
        removing_replicas=[],
        adding_replicas=[],
        directories=[ZERO_UUID],
    )
