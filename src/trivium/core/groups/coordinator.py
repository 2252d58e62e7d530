"""The group coordinator: its topic, its shards, and which of their parts carries out which command."""

from collections.abc import Callable, Iterator

from trivium.core.access import Access
from trivium.core.caller import Caller
from trivium.core.cluster import OFFSETS_TOPIC, SHARE_STATE_TOPIC, Cluster
from trivium.core.commands.command import Handler, Reply, Routes
from trivium.core.commands.consumer_groups import ConsumerHeartbeat, DescribeConsumerGroups
from trivium.core.commands.groups import (
    CoordinatorKind,
    DeleteGroups,
    DescribeGroups,
    FindCoordinators,
    Heartbeat,
    JoinGroup,
    LeaveGroup,
    ListedGroups,
    ListGroups,
    SyncGroup,
)
from trivium.core.commands.offsets import CommitOffsets, DeleteOffsets, FetchOffsets
from trivium.core.commands.share_groups import (
    AlterShareOffsets,
    DeleteShareOffsets,
    DescribeShareGroups,
    DescribeShareOffsets,
    ShareHeartbeat,
)
from trivium.core.commands.topics import NewTopic, Node
from trivium.core.faults import Fault, Refused
from trivium.core.groups.consumer.rules import PROTOCOLS, ConsumerRules
from trivium.core.groups.enabling import CONSUMER_GROUPS, SHARE_GROUPS, left_out, where_agreed
from trivium.core.groups.finding import Finding
from trivium.core.groups.listing import Listing
from trivium.core.groups.offsets import Place
from trivium.core.groups.rules import group_rules
from trivium.core.groups.shard import Shard
from trivium.core.groups.shards import Shards
from trivium.core.groups.share.rules import ShareRules
from trivium.core.groups.share.states import ShareStates
from trivium.core.internal_topic import InternalTopic
from trivium.core.settings import Settings, whole
from trivium.core.timers import Timers
from trivium.messages.schema import Message
from trivium.records.compression import Compression

NewTopicRecords = Callable[[NewTopic], list[tuple[Message, int]]]


class GroupCoordinator:
    def __init__(
        self,
        cluster: Cluster,
        settings: Settings,
        access: Access,
        timers: Timers,
        new_topic_records: NewTopicRecords,
        new_uuid: Callable[[], str],
    ) -> None:
        self.topic = topic = _offsets_topic(cluster, settings, new_topic_records)
        rules, consumer_rules = group_rules(settings), ConsumerRules(settings)
        self.share_rules = ShareRules(settings)
        share_topic = _share_state_topic(cluster, settings, new_topic_records)
        self.share_states = ShareStates(share_topic, cluster, self.share_rules, timers)
        """Where share groups stand: whoever gives their members records asks here."""
        self._shards = Shards(
            topic,
            rules,
            consumer_rules,
            self.share_rules,
            self.share_states,
            cluster,
            access,
            timers,
            new_uuid,
        )
        self._listing = Listing(self._shards, access, consumer_rules, cluster)
        self.finding = finding = Finding(topic, access, lambda: Node(cluster.node_id))
        finding.add(CoordinatorKind.SHARE_PARTITION, share_topic)
        of, for_new = self._shards.of, self._shards.for_new
        self.routes: Routes = {
            FindCoordinators: finding.find,
            JoinGroup: _named(_in_shard(for_new, lambda shard: shard.join)),
            SyncGroup: _named(_in_shard(of, lambda shard: shard.sync)),
            Heartbeat: _named(_in_shard(of, lambda shard: shard.beat)),
            LeaveGroup: _named(_in_shard(of, lambda shard: shard.leave)),
            CommitOffsets: _in_shard(for_new, lambda shard: shard.committing.commit),
            DeleteOffsets: _named(_in_shard(of, lambda shard: shard.committing.delete)),
            FetchOffsets: self._listing.fetch_offsets,
            ListGroups: self._list,
            DescribeGroups: self._listing.describe,
            DeleteGroups: self._listing.delete,
        }
        consumer_routes: Routes = {
            ConsumerHeartbeat: _in_shard(for_new, lambda shard: shard.consumers.heartbeats.beat),
            DescribeConsumerGroups: self._listing.describe_consumers,
        }
        share_routes: Routes = {
            ShareHeartbeat: _in_shard(for_new, lambda shard: shard.shares.heartbeats.beat),
            AlterShareOffsets: _in_shard(for_new, lambda shard: shard.shares.standing.alter),
            DeleteShareOffsets: _in_shard(of, lambda shard: shard.shares.standing.delete),
            DescribeShareOffsets: self._listing.describe_share_offsets,
            DescribeShareGroups: self._listing.describe_shares,
        }
        self.routes |= (
            where_agreed(CONSUMER_GROUPS, cluster, consumer_routes)
            if consumer_rules.is_spoken
            else left_out(f"Consumer groups are left out of {PROTOCOLS}.", consumer_routes)
        )
        self.routes |= where_agreed(SHARE_GROUPS, cluster, share_routes)

    def start(self) -> None:
        """Begin to work in the background: once, when the metadata is complete."""
        self._shards.start()
        self.share_states.start()

    def spare(self, is_spared: Callable[[str], bool]) -> None:
        """The offsets of these groups do not expire."""
        self._shards.is_spared = is_spared

    def transaction_ended(self, partition: int, producer_id: int, *, committed: bool) -> None:
        """A marker has been written to a partition of the coordinator's topic."""
        self._shards.transaction_ended(partition, producer_id, committed=committed)

    def committed(self) -> Iterator[tuple[str, Place, int]]:
        """Group, partition and offset of every commit that is known by now, for whoever watches the lag."""
        for shard in self._shards.loaded:
            for group_id in shard.offsets:
                for place, committed in shard.offsets.of(group_id).items():
                    yield group_id, place, committed.offset

    def _list(self, command: ListGroups, caller: Caller, reply: Reply[ListedGroups]) -> None:
        try:
            self._listing.list_groups(command, caller, reply)
        except Refused as refused:
            reply(command.refused(refused.fault))


def _offsets_topic(cluster: Cluster, settings: Settings, new_topic_records: NewTopicRecords) -> InternalTopic:
    return InternalTopic(
        cluster,
        OFFSETS_TOPIC,
        new_topic_records,
        lambda: whole(settings.broker, "offsets.topic.num.partitions"),
        {
            "compression.type": "producer",
            "cleanup.policy": "compact",
            "segment.bytes": str(whole(settings.broker, "offsets.topic.segment.bytes")),
        },
        Compression.of(whole(settings.broker, "offsets.topic.compression.codec")),
    )


def _share_state_topic(
    cluster: Cluster, settings: Settings, new_topic_records: NewTopicRecords
) -> InternalTopic:
    """It is not compacted: an update of a share partition does not stand for those before it."""
    return InternalTopic(
        cluster,
        SHARE_STATE_TOPIC,
        new_topic_records,
        lambda: whole(settings.broker, "share.coordinator.state.topic.num.partitions"),
        {
            "compression.type": "producer",
            "cleanup.policy": "delete",
            "retention.ms": "-1",
            "segment.bytes": str(whole(settings.broker, "share.coordinator.state.topic.segment.bytes")),
        },
        Compression.of(whole(settings.broker, "share.coordinator.state.topic.compression.codec")),
    )


def _in_shard(find: Callable[[str], Shard], handler_of: Callable[[Shard], Handler]) -> Handler:
    """Carried out by the shard of its group. Refusals come before any reply, and become one here."""

    def handle(command: JoinGroup, caller: Caller, reply: Reply[object]) -> None:
        try:
            handler_of(find(command.group_id))(command, caller, reply)
        except Refused as refused:
            reply(command.refused(refused.fault, refused.message))

    return handle


def _named(handler: Handler) -> Handler:
    """Members need a group with a name. Committing does not: old clients commit to the group without one."""

    def handle(command: JoinGroup, caller: Caller, reply: Reply[object]) -> None:
        if command.group_id:
            handler(command, caller, reply)
        else:
            reply(command.refused(Fault.INVALID_GROUP_ID))

    return handle
