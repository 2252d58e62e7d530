"""A group coordinator in a world of memory, with short words for what its tests say often."""

from collections.abc import Iterable, Mapping
from itertools import count

from tests.core.fakes import FakeLog, World
from trivium.core.caller import Caller
from trivium.core.cluster import OFFSETS_TOPIC
from trivium.core.commands.groups import (
    DescribedGroup,
    DescribeGroups,
    Heartbeat,
    Joined,
    JoinGroup,
    LeaveGroup,
    Leaver,
    Left,
    Protocol,
    Synced,
    SyncGroup,
)
from trivium.core.commands.offsets import (
    CommitOffsets,
    CommittedPart,
    FetchOffsets,
    GroupOffsetsWanted,
    OffsetToCommit,
)
from trivium.core.faults import Fault
from trivium.core.groups.coordinator import GroupCoordinator
from trivium.core.timers import Timers
from trivium.messages.consumer_protocol import ConsumerProtocolSubscription, encode_subscription
from trivium.messages.stored.metadata_topics import RemoveTopicRecord

CALLER = Caller(client_id="client", host="10.0.0.7")
SESSION_MS = 10_000
REBALANCE_MS = 60_000
INITIAL_DELAY_MS = 3000

STATIC = {"offsets.topic.num.partitions": "1"}
"""One partition is enough, unless a test is about them."""


def subscription(*topics: str) -> bytes:
    return encode_subscription(ConsumerProtocolSubscription(topics=list(topics)), 0)


RANGE = (Protocol("range", subscription("t")),)


class Coordinated:
    def __init__(self, static: Mapping[str, str] | None = None) -> None:
        self.world = World({**STATIC, **(static or {})})
        self._uuids = count(1)
        self._begin()
        self.world.create_topic("t", 4)

    def _begin(self) -> None:
        world = self.world
        self.coordinator = GroupCoordinator(
            world.cluster,
            world.settings,
            world.access,
            world.timers,
            world.topics.new_topic_records,
            lambda: str(next(self._uuids)),
        )
        world.add(self.coordinator.routes)
        self.coordinator.start()

    def restart(self) -> None:
        """What is in the logs survives; whoever was waiting is never answered."""
        self.world.timers = Timers(self.world.clock)
        self.world.cluster.removed.clear()
        self._begin()
        self.pass_time(100)

    def pass_time(self, milliseconds: int) -> None:
        self.world.pass_time(milliseconds)

    def delete_topic(self, name: str) -> None:
        topic_id = self.world.image.topics.by_name[name].topic_id
        self.world.cluster.commit([(RemoveTopicRecord(topic_id=topic_id), 0)], lambda _fault: None)

    @property
    def log(self) -> FakeLog:
        return self.world.log(OFFSETS_TOPIC)

    # -- members ---------------------------------------------------------------------------------

    def join(
        self,
        member_id: str = "",
        *,
        group_id: str = "g",
        instance_id: str | None = None,
        protocols: Iterable[Protocol] = RANGE,
        protocol_type: str = "consumer",
        session_timeout_ms: int = SESSION_MS,
        rebalance_timeout_ms: int = REBALANCE_MS,
        wants_member_id: bool = False,
        can_skip_assignment: bool = True,
    ) -> list[Joined]:
        return self.world.submit(
            JoinGroup(
                group_id,
                member_id,
                instance_id,
                session_timeout_ms,
                rebalance_timeout_ms,
                protocol_type,
                list(protocols),
                wants_member_id,
                can_skip_assignment,
            ),
            CALLER,
        )

    def sync(
        self,
        member: Joined,
        assignments: Mapping[str, bytes] | None = None,
        *,
        group_id: str = "g",
        instance_id: str | None = None,
        generation: int | None = None,
        protocol_type: str | None = "consumer",
        protocol_name: str | None = "range",
    ) -> list[Synced]:
        return self.world.submit(
            SyncGroup(
                group_id,
                member.member_id,
                instance_id,
                member.generation if generation is None else generation,
                protocol_type,
                protocol_name,
                list((assignments or {}).items()),
            ),
            CALLER,
        )

    def beat(
        self, member: Joined, *, generation: int | None = None, instance_id: str | None = None
    ) -> Fault | None:
        return self.world.execute(
            Heartbeat(
                "g", member.member_id, instance_id, member.generation if generation is None else generation
            ),
            CALLER,
        )

    def leave(self, *leavers: Leaver | Joined, group_id: str = "g") -> Left:
        members = [Leaver(each.member_id) if isinstance(each, Joined) else each for each in leavers]
        return self.world.execute(LeaveGroup(group_id, members), CALLER)

    def stable(self, size: int = 1, **joining: str) -> list[Joined]:
        """A group of this many members, all of which have their assignments: their own id."""
        replies = [self.join(**joining) for _ in range(size)]  # type: ignore[arg-type]
        self.pass_time(INITIAL_DELAY_MS * 2)
        members = [reply[0] for reply in replies]
        leader = next(member for member in members if member.members)
        assignments = {member.member_id: member.member_id.encode() for member in members}
        name = leader.protocol_name
        self.sync(leader, assignments, protocol_name=name)
        for member in members:
            if member is not leader:
                self.sync(member, protocol_name=name)
        return members

    def describe(self, group_id: str = "g") -> DescribedGroup:
        return self.world.execute(DescribeGroups([group_id]), CALLER)[0]

    @property
    def state(self) -> str:
        return self.describe().state

    # -- offsets ---------------------------------------------------------------------------------

    def commit(
        self,
        offset: int,
        member: Joined | None = None,
        *,
        group_id: str = "g",
        topic: str | bytes = "t",
        partition: int = 0,
        generation: int | None = None,
        metadata: str | None = None,
        retention_ms: int | None = None,
        committed_at_ms: int | None = None,
    ) -> list[list[CommittedPart]]:
        own = -1 if member is None else member.generation
        return self.world.submit(
            CommitOffsets(
                group_id,
                [OffsetToCommit(topic, partition, offset, 3, metadata, committed_at_ms)],
                "" if member is None else member.member_id,
                None,
                own if generation is None else generation,
                retention_ms,
            ),
            CALLER,
        )

    def offsets(self, group_id: str = "g") -> dict[tuple[str, int], int]:
        """Everything that the group has committed."""
        [group] = self.world.execute(FetchOffsets([GroupOffsetsWanted(group_id, None)]), CALLER)
        assert group.fault is None
        return {(str(found.topic), found.partition): found.offset for found in group.offsets}
