"""All shards of the coordinator: where a group lies, and when its partition is read.

A partition is read when somebody asks for one of its groups, and all of them soon after a start, one at a
time, so that nobody waits for them longer than for one. Without ``__consumer_offsets`` there are no groups:
it is made when one is to be.
"""

from collections.abc import Callable, Iterable
from contextlib import suppress

from trivium.core.access import Access
from trivium.core.cluster import Cluster
from trivium.core.faults import Refused
from trivium.core.groups.consumer.rules import ConsumerRules
from trivium.core.groups.rules import GroupRules
from trivium.core.groups.shard import Shard, coordinator_fault
from trivium.core.groups.share.rules import ShareRules
from trivium.core.groups.share.states import ShareStates
from trivium.core.internal_topic import InternalTopic
from trivium.core.metadata_topics import Topic
from trivium.core.timers import Timers

_NOWHERE = -1
LOAD_PAUSE_MS = 1
"""Between two partitions at a start: whatever else is due comes first."""


class Shards:
    def __init__(
        self,
        topic: InternalTopic,
        rules: GroupRules,
        consumer_rules: ConsumerRules,
        share_rules: ShareRules,
        share_states: ShareStates,
        cluster: Cluster,
        access: Access,
        timers: Timers,
        new_uuid: Callable[[], str],
    ) -> None:
        self._topic = topic
        self._rules = rules
        self._consumer_rules = consumer_rules
        self._share_rules = share_rules
        self._share_states = share_states
        self._cluster = cluster
        self._access = access
        self._timers = timers
        self._new_uuid = new_uuid
        self._by_partition: dict[int, Shard] = {}
        self._none = self._new(_NOWHERE)
        """Where groups are looked for before there is any: it stays empty."""
        self.is_spared: Callable[[str], bool] = lambda _group_id: False
        """Groups whose offsets do not expire: another protocol keeps them for as long as it likes."""
        cluster.removed.append(self._topic_removed)
        cluster.dropped.append(self._partition_dropped)

    def start(self) -> None:
        """Read everything soon, and look from time to time whose offsets have expired."""
        self._load_next(0)
        self._timers.after(self._rules.retention_check_interval_ms, self._expire)

    # -- finding ---------------------------------------------------------------------------------

    def of(self, group_id: str) -> Shard:
        """The shard of a group, read from its partition if need be. ``Refused`` if that is not possible."""
        if not self._topic.exists:
            return self._none
        return self._shard(self._topic.partition_of(group_id))

    def for_new(self, group_id: str) -> Shard:
        """The same for a command that may bring a group into being."""
        try:
            self._topic.ensure()
        except Refused as refused:
            raise Refused(coordinator_fault(refused.fault), refused.message) from refused
        return self.of(group_id)

    def all(self) -> list[Shard]:
        partitions = self._topic.partitions if self._topic.exists else 0
        return [self._shard(partition) for partition in range(partitions)]

    @property
    def loaded(self) -> Iterable[Shard]:
        """Those that have been read, without reading any for this."""
        return self._by_partition.values()

    def transaction_ended(self, partition: int, producer_id: int, *, committed: bool) -> None:
        """Offsets that a transaction had pending count from now on, or never will."""
        shard = self._by_partition.get(partition)
        if shard is not None:
            # One that has not been read yet finds the marker by itself.
            shard.offsets.end_transaction(producer_id, committed=committed)

    def _shard(self, partition: int) -> Shard:
        shard = self._by_partition.get(partition)
        if shard is None:
            self._by_partition[partition] = shard = self._new(partition)
            try:
                shard.load()
            except Refused as refused:
                del self._by_partition[partition]
                raise Refused(coordinator_fault(refused.fault), refused.message) from refused
        return shard

    def _new(self, partition: int) -> Shard:
        return Shard(
            self._topic,
            partition,
            rules=self._rules,
            consumer_rules=self._consumer_rules,
            share_rules=self._share_rules,
            share_states=self._share_states,
            cluster=self._cluster,
            access=self._access,
            timers=self._timers,
            new_uuid=self._new_uuid,
            given_up=self._given_up,
        )

    def _given_up(self, shard: Shard) -> None:
        if self._by_partition.get(shard.partition) is shard:
            del self._by_partition[shard.partition]

    # -- in the background -----------------------------------------------------------------------

    def _load_next(self, partition: int) -> None:
        if self._topic.exists and partition < self._topic.partitions:
            # Whoever asks for a group of a partition that cannot be read hears why.
            with suppress(Refused):
                self._shard(partition)
            self._timers.after(LOAD_PAUSE_MS, lambda: self._load_next(partition + 1))

    def _expire(self) -> None:
        for shard in list(self._by_partition.values()):
            shard.retention.expire(shard.now(), self.is_spared)
        self._timers.after(self._rules.retention_check_interval_ms, self._expire)

    def _topic_removed(self, topic: Topic) -> None:
        for shard in list(self._by_partition.values()):
            # A shard that has not been read yet finds out by itself.
            shard.retention.forget_where(lambda place, _topic_id: place[0] == topic.name)
            shard.shares.forget_missing()

    def _partition_dropped(self, topic: Topic, index: int) -> None:
        for shard in list(self._by_partition.values()):
            shard.retention.forget_where(lambda place, _topic_id: place == (topic.name, index))
            shard.shares.forget_missing()
