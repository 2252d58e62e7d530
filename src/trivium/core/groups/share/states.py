"""Where share groups stand in all partitions: the shards of ``__share_group_state``.

A shard is read when somebody asks for a partition of it. Without the topic there is nothing to read: it is
made when a group begins somewhere.
"""

from collections.abc import Callable, Iterable, Iterator

from trivium.core.all_done import AllDone
from trivium.core.cluster import Cluster
from trivium.core.coordinator_faults import coordinator_fault
from trivium.core.faults import Refused
from trivium.core.groups.share.flight import Flight, Span
from trivium.core.groups.share.rules import ShareRules
from trivium.core.groups.share.share_partition import ShareKey, SharePartition
from trivium.core.groups.share.state_shard import StateShard
from trivium.core.internal_topic import InternalTopic
from trivium.core.ports import Done
from trivium.core.timers import Timers


class ShareStates:
    def __init__(self, topic: InternalTopic, cluster: Cluster, rules: ShareRules, timers: Timers) -> None:
        self._topic = topic
        self._cluster = cluster
        self._rules = rules
        self._timers = timers
        self._shards: dict[int, StateShard] = {}

    def start(self) -> None:
        self._timers.after(self._rules.prune_interval_ms, self._prune)

    # -- looking ---------------------------------------------------------------------------------

    def find(self, key: ShareKey) -> SharePartition | None:
        """None if the group has never begun there. ``Refused`` if that cannot be read now."""
        return self._shard_of(key).partitions.get(key) if self._topic.exists else None

    # -- changing: ``Refused`` if it cannot be written; then nothing has happened -------------------

    def begin(self, keys: Iterable[ShareKey], state_epoch: int, start_offset: int | None, done: Done) -> None:
        """The group begins, or begins anew, in these partitions; see ``StateShard.begin``."""
        try:
            self._topic.ensure()
        except Refused as refused:
            raise Refused(coordinator_fault(refused.fault), refused.message) from refused
        self._in_shards(keys, done, lambda shard, own, one: shard.begin(own, state_epoch, start_offset, one))

    def store(self, partition: SharePartition, after: Flight, spans: Iterable[Span], done: Done) -> None:
        self._shard_of(partition.key).store(partition, after, list(spans), done)

    def retreat(self, partition: SharePartition, offset_end: int, done: Done) -> None:
        """A log ends here, sooner than the group has come: a crash has taken records from it."""
        if partition.flight is not None and partition.flight.end_offset > offset_end:
            after = partition.flight.copy()
            after.retreat(offset_end)
            self._shard_of(partition.key).rewrite(partition, after, done)

    def forget(self, keys: Iterable[ShareKey], done: Done) -> None:
        """The group does not stand anywhere in these partitions any more."""
        if self._topic.exists:
            self._in_shards(keys, done, lambda shard, own, one: shard.forget(own, one))
        else:
            done(None)

    def _in_shards(
        self,
        keys: Iterable[ShareKey],
        done: Done,
        change: Callable[[StateShard, list[ShareKey], Done], None],
    ) -> None:
        """Shard by shard. If one of them refuses, those before it have done it: doing it again is no harm."""
        waiting = AllDone(done)
        for shard, own in list(self._by_shard(keys)):
            change(shard, own, waiting.begin())
        waiting.all_begun()

    # -- shards ----------------------------------------------------------------------------------

    def _by_shard(self, keys: Iterable[ShareKey]) -> Iterator[tuple[StateShard, list[ShareKey]]]:
        by_number: dict[int, list[ShareKey]] = {}
        for key in keys:
            by_number.setdefault(self._topic.partition_of(key.text), []).append(key)
        for number, own in by_number.items():
            yield self._shard(number), own

    def _shard_of(self, key: ShareKey) -> StateShard:
        return self._shard(self._topic.partition_of(key.text))

    def _shard(self, number: int) -> StateShard:
        shard = self._shards.get(number)
        if shard is None:
            shard = StateShard(
                self._topic, number, self._cluster, self._rules.updates_per_snapshot, self._given_up
            )
            try:
                shard.load()
            except Refused as refused:
                raise Refused(coordinator_fault(refused.fault), refused.message) from refused
            self._shards[number] = shard
        return shard

    def _given_up(self, shard: StateShard) -> None:
        if self._shards.get(shard.number) is shard:
            del self._shards[shard.number]

    def _prune(self) -> None:
        for shard in list(self._shards.values()):
            shard.prune()
        self._timers.after(self._rules.prune_interval_ms, self._prune)
