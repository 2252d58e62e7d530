"""Share partitions as records of ``__share_group_state``, as Kafka 4.3 writes them, and back.

A snapshot says everything, an update what has changed since. The topic is not compacted: an update does not
stand for those before it. It is cut off where nothing is needed any more instead.
"""

from collections.abc import Sequence
from typing import Final

from trivium.core.commands.share_groups import NO_START_OFFSET
from trivium.core.groups.share.flight import Flight, Run, State
from trivium.core.groups.share.share_partition import ShareKey, SharePartition
from trivium.core.internal_topic import KeyedRecord
from trivium.messages.stored.share_state import (
    SHARE_STATE,
    ShareSnapshotKey,
    ShareSnapshotValue,
    ShareUpdateKey,
    ShareUpdateValue,
    StateBatch,
)

VALUE_VERSION: Final = 0


def snapshot_record(
    partition: SharePartition, flight: Flight | None, leader_epoch: int, wall_ms: int
) -> KeyedRecord:
    value = ShareSnapshotValue(
        snapshot_epoch=partition.snapshot_epoch,
        state_epoch=partition.state_epoch,
        leader_epoch=leader_epoch,
        start_offset=NO_START_OFFSET if flight is None else flight.start_offset,
        delivery_complete_count=0 if flight is None else flight.finished_count,
        create_timestamp=partition.created_ms,
        write_timestamp=wall_ms,
        state_batches=[] if flight is None else _batches(flight.stored()),
    )
    return _snapshot_key(partition.key), SHARE_STATE.encode_value(value, VALUE_VERSION)


def update_record(
    partition: SharePartition, flight: Flight, changed: Sequence[Run], leader_epoch: int
) -> KeyedRecord:
    group_id, topic_id, number = partition.key
    key = ShareUpdateKey(group_id=group_id, topic_id=topic_id, partition=number)
    value = ShareUpdateValue(
        snapshot_epoch=partition.snapshot_epoch,
        leader_epoch=leader_epoch,
        start_offset=flight.start_offset,
        delivery_complete_count=flight.finished_count,
        state_batches=_batches(changed),
    )
    return SHARE_STATE.encode_key(key), SHARE_STATE.encode_value(value, VALUE_VERSION)


def tombstone(key: ShareKey) -> KeyedRecord:
    return _snapshot_key(key), None


def _snapshot_key(key: ShareKey) -> bytes:
    group_id, topic_id, number = key
    return SHARE_STATE.encode_key(ShareSnapshotKey(group_id=group_id, topic_id=topic_id, partition=number))


def _batches(runs: Sequence[Run]) -> list[StateBatch]:
    return [
        StateBatch(
            first_offset=run.first,
            last_offset=run.last,
            delivery_state=run.state,
            delivery_count=run.deliveries,
        )
        for run in runs
    ]


# -- and back --------------------------------------------------------------------------------------


def partition_from(key: ShareKey, value: ShareSnapshotValue, offset: int) -> SharePartition:
    partition = SharePartition(key, value.state_epoch, value.create_timestamp)
    partition.snapshot_epoch = value.snapshot_epoch
    partition.snapshot_offset = offset
    if value.start_offset != NO_START_OFFSET:
        partition.flight = Flight(value.start_offset)
        _put(partition.flight, value.state_batches)
    return partition


def replay_update(partition: SharePartition, value: ShareUpdateValue) -> None:
    partition.updates_count += 1
    if partition.flight is None:
        if value.start_offset == NO_START_OFFSET:
            return
        partition.flight = Flight(value.start_offset)
    _put(partition.flight, value.state_batches)
    partition.flight.advance(value.start_offset)


def _put(flight: Flight, batches: Sequence[StateBatch]) -> None:
    for batch in batches:
        flight.put(Run(batch.first_offset, batch.last_offset, _state(batch), batch.delivery_count))
    flight.settle()


def _state(batch: StateBatch) -> State:
    """Locks do not survive; a state of a later Kafka is one of records that are on their way out."""
    if batch.delivery_state in (State.AVAILABLE, State.ACQUIRED):
        return State.AVAILABLE
    return State.ACKNOWLEDGED if batch.delivery_state == State.ACKNOWLEDGED else State.ARCHIVED
