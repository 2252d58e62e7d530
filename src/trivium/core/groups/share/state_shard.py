"""The share partitions whose state lies in one partition of ``__share_group_state``.

As with every coordinator: records are written first, and if that is refused nothing has happened; then the
state changes; whoever asked hears of it when they are durable. If they never will be, the shard is given up,
and the next who asks reads the partition anew.
"""

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import Final

from trivium.core.cluster import Cluster
from trivium.core.coordinator_faults import coordinator_fault
from trivium.core.faults import Fault, Refused
from trivium.core.groups.share.flight import Flight, Span
from trivium.core.groups.share.share_partition import ShareKey, SharePartition
from trivium.core.groups.share.state_records import (
    partition_from,
    replay_update,
    snapshot_record,
    tombstone,
    update_record,
)
from trivium.core.internal_topic import InternalTopic, KeyedRecord, TransactionEnd
from trivium.core.ports import Done
from trivium.messages.stored.share_state import (
    SHARE_STATE,
    ShareSnapshotKey,
    ShareSnapshotValue,
    ShareUpdateKey,
    ShareUpdateValue,
)
from trivium.wire.errors import DecodeError

STALE_RECORDS: Final = 10_000
"""A snapshot that lies so many records back is written anew, so that what is before it can be cut off."""


class StateShard:
    def __init__(
        self,
        topic: InternalTopic,
        number: int,
        cluster: Cluster,
        updates_per_snapshot: int,
        given_up: "Callable[[StateShard], None]",
    ) -> None:
        self._topic = topic
        self.number = number
        self._cluster = cluster
        self._updates_per_snapshot = updates_per_snapshot
        self._given_up = given_up
        self.partitions: dict[ShareKey, SharePartition] = {}

    # -- changing --------------------------------------------------------------------------------

    def begin(self, keys: Iterable[ShareKey], state_epoch: int, start_offset: int | None, done: Done) -> None:
        """These partitions begin, or begin anew, at this offset; None: it is decided by the first reader."""
        now_ms = self._cluster.clock.wall_ms()
        begun = [SharePartition(key, state_epoch, now_ms) for key in keys]
        for partition in begun:
            before = self.partitions.get(partition.key)
            partition.snapshot_epoch = 0 if before is None else before.snapshot_epoch + 1
            partition.flight = None if start_offset is None else Flight(start_offset)
        self._snapshot(begun, done)
        for partition in begun:
            before = self.partitions.get(partition.key)
            self.partitions[partition.key] = partition
            if before is not None:
                before.die()

    def store(self, partition: SharePartition, after: Flight, spans: Sequence[Span], done: Done) -> None:
        """The flight of a partition is to be another; what has changed lies in these spans."""
        if partition.updates_count >= self._updates_per_snapshot:
            self.rewrite(partition, after, done)
            return
        changed = [run for span in spans for run in after.stored(span)]
        self._write([update_record(partition, after, changed, self._leader_epoch(partition))], done)
        partition.updates_count += 1
        partition.flight = after

    def rewrite(self, partition: SharePartition, after: Flight, done: Done) -> None:
        """The same with a snapshot, which says everything and may also take a start back."""
        before = partition.flight
        partition.snapshot_epoch += 1
        partition.flight = after
        try:
            self._snapshot([partition], done)
        except Refused:
            partition.snapshot_epoch -= 1
            partition.flight = before
            raise

    def forget(self, keys: Iterable[ShareKey], done: Done) -> None:
        gone = [key for key in keys if key in self.partitions]
        if not gone:
            done(None)
            return
        self._write([tombstone(key) for key in gone], done)
        for key in gone:
            self.partitions.pop(key).die()

    def prune(self) -> None:
        """Cut off what no start needs. What cannot be done now is done the next time."""
        with suppress(Refused):
            log = self._cluster.partition(self._topic.name, self.number).log
            stale = [
                each
                for each in self.partitions.values()
                if each.snapshot_offset < log.log_end_offset - STALE_RECORDS
            ]
            for partition in stale:
                partition.snapshot_epoch += 1
            if stale:
                self._snapshot(stale, _nobody_waits)
            needed = min(
                (each.snapshot_offset for each in self.partitions.values()), default=log.log_end_offset
            )
            if needed > log.log_start_offset:
                log.delete_before(needed, _nobody_waits)

    def _snapshot(self, partitions: Sequence[SharePartition], done: Done) -> None:
        now_ms = self._cluster.clock.wall_ms()
        offset = self._cluster.partition(self._topic.name, self.number).log.log_end_offset
        self._write(
            [snapshot_record(each, each.flight, self._leader_epoch(each), now_ms) for each in partitions],
            done,
        )
        for partition in partitions:
            # That of the first of them, for all: one that lies a little further is not cut off earlier.
            partition.snapshot_offset = offset
            partition.updates_count = 0

    def _leader_epoch(self, partition: SharePartition) -> int:
        topic = self._cluster.image.topics.by_id.get(partition.key.topic_id)
        placed = None if topic is None else topic.partitions.get(partition.key.partition)
        return 0 if placed is None else placed.leader_epoch

    def _write(self, records: Sequence[KeyedRecord], done: Done) -> None:
        try:
            self._topic.append(self.number, records, lambda fault: self._written(fault, done))
        except Refused as refused:
            raise Refused(coordinator_fault(refused.fault), refused.message) from refused

    def _written(self, fault: Fault | None, done: Done) -> None:
        if fault is not None:
            self.close()
            self._given_up(self)
        done(None if fault is None else coordinator_fault(fault))

    def close(self) -> None:
        """Nobody may use this shard any more."""
        partitions, self.partitions = self.partitions, {}
        for partition in partitions.values():
            partition.die()

    # -- replaying -------------------------------------------------------------------------------

    def load(self) -> None:
        """Become what the partition says. ``Refused`` if it cannot be read."""
        try:
            for entry in self._topic.replay(self.number):
                if not isinstance(entry, TransactionEnd):
                    self._replay(entry.key, entry.value, entry.offset)
        except DecodeError as error:
            raise Refused(
                Fault.COORDINATOR_NOT_AVAILABLE,
                f"{self._topic.name}-{self.number} cannot be read: {error}",
            ) from error

    def _replay(self, key_data: bytes, value_data: bytes | None, offset: int) -> None:
        key = SHARE_STATE.decode_key(key_data)
        value = SHARE_STATE.decode_value(key, value_data)
        assert isinstance(key, ShareSnapshotKey | ShareUpdateKey)
        share_key = ShareKey(key.group_id, key.topic_id, key.partition)
        if isinstance(value, ShareSnapshotValue):
            self.partitions[share_key] = partition_from(share_key, value, offset)
        elif isinstance(value, ShareUpdateValue):
            partition = self.partitions.get(share_key)
            # Without one, what it changes was forgotten, or the snapshot was never asked for.
            if partition is not None:
                replay_update(partition, value)
        elif isinstance(key, ShareSnapshotKey):
            self.partitions.pop(share_key, None)


def _nobody_waits(_fault: Fault | None) -> None:
    """If it was never written, the shard is given up, and read anew."""
