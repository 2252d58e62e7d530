"""Committed offsets in ``__consumer_offsets``.

Keys of type 0 are from before Kafka 0.9 and of type 1 from then on; both mean the same.
"""

from trivium.messages.schema import Message, field
from trivium.messages.types import Int32, Int64, String, Uuid
from trivium.wire.uuid_text import ZERO_UUID


class LegacyOffsetCommitKey(Message, key=0, versions="0"):
    group: String
    topic: String
    partition: Int32


class LegacyOffsetCommitValue(Message, key=0, versions="0"):
    offset: Int64
    metadata: String
    commit_timestamp: Int64


class OffsetCommitKey(Message, key=1, versions="0"):
    group: String
    topic: String
    partition: Int32


class OffsetCommitValue(Message, key=1, versions="0-4", flexible="4+"):
    offset: Int64
    leader_epoch: Int32 = field("3+", default=-1, ignorable=True)
    metadata: String
    commit_timestamp: Int64
    expire_timestamp: Int64 = field("1", default=-1, ignorable=True)
    topic_id: Uuid = field("4+", default=ZERO_UUID, tag=0, ignorable=True)
