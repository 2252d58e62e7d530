"""State of share partitions in ``__share_group_state``: a snapshot, then updates to it."""

from trivium.messages.schema import Message, Struct, field
from trivium.messages.stored.keyed_log import KeyedLog
from trivium.messages.types import Int8, Int16, Int32, Int64, String, Uuid


class ShareSnapshotKey(Message, key=0, versions="0"):
    group_id: String
    topic_id: Uuid
    partition: Int32


class StateBatch(Struct):
    first_offset: Int64
    last_offset: Int64
    delivery_state: Int8
    delivery_count: Int16


class ShareSnapshotValue(Message, key=0, versions="0", flexible="0+"):
    snapshot_epoch: Int32
    state_epoch: Int32
    leader_epoch: Int32
    start_offset: Int64
    delivery_complete_count: Int32 = field(default=-1, tag=0)
    create_timestamp: Int64
    write_timestamp: Int64
    state_batches: list[StateBatch]


class ShareUpdateKey(Message, key=1, versions="0"):
    group_id: String
    topic_id: Uuid
    partition: Int32


class ShareUpdateValue(Message, key=1, versions="0", flexible="0+"):
    snapshot_epoch: Int32
    leader_epoch: Int32
    start_offset: Int64
    delivery_complete_count: Int32 = field(default=-1, tag=0)
    state_batches: list[StateBatch]


SHARE_STATE = KeyedLog((ShareSnapshotKey, ShareSnapshotValue), (ShareUpdateKey, ShareUpdateValue))
