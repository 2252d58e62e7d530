"""``__trivium``: what Kafka has no record for. Users with their tokens; streams, their topics and groups;
queries, and what they have committed last.

Numbers of users, streams, topics and groups are given once and never again, also after what had them is gone:
whoever gives numbers keeps the next one (``CounterValue``, and ``next_…_id`` of the parent). Times are
microseconds since 1970. A set of rights is a bit for each, in the order in which Iggy's clients write them.
"""

from typing import Final

from trivium.messages.schema import Message, Struct, field
from trivium.messages.stored.keyed_log import KeyedLog
from trivium.messages.types import Bool, Bytes, Int8, Int16, Int64, String, UInt32, Uuid

COUNTS_USERS: Final = 1
COUNTS_STREAMS: Final = 2


class CounterKey(Message, key=0, versions="0"):
    counts: Int8


class CounterValue(Message, key=0, versions="0", flexible="0+"):
    next_id: UInt32


class UserKey(Message, key=1, versions="0"):
    user_id: UInt32


class StoredTopicPermissions(Struct):
    topic_id: UInt32
    rights: Int16


class StoredStreamPermissions(Struct):
    stream_id: UInt32
    rights: Int16
    topics: list[StoredTopicPermissions]


class UserValue(Message, key=1, versions="0", flexible="0+"):
    username: String
    is_active: Bool
    created_at_us: Int64
    password_hash: String
    """In the form that names its algorithm, its parameters and its salt."""
    has_permissions: Bool
    rights: Int16
    streams: list[StoredStreamPermissions]


class TokenKey(Message, key=2, versions="0"):
    user_id: UInt32
    name: String


class TokenValue(Message, key=2, versions="0", flexible="0+"):
    token_hash: Bytes
    expires_at_us: Int64
    """0 for never."""


class StreamKey(Message, key=3, versions="0"):
    stream_id: UInt32


class StreamValue(Message, key=3, versions="0", flexible="0+"):
    name: String
    created_at_us: Int64
    next_topic_id: UInt32


class StreamTopicKey(Message, key=4, versions="0"):
    stream_id: UInt32
    topic_id: UInt32


class StreamTopicValue(Message, key=4, versions="0", flexible="0+"):
    name: String
    kafka_name: String
    kafka_id: Uuid
    created_at_us: Int64
    compression: Int8
    message_expiry_us: Int64
    """As it was asked for: 0 for the broker's default, -1 for never."""
    size_bytes_max: Int64
    """As it was asked for: 0 for the broker's default, -1 for unlimited."""
    replication_factor: Int16
    next_group_id: UInt32
    successor_id: Uuid = field(default=bytes(16), tag=0)
    """The id that it will have in Kafka once it is purged, written before that happens."""


class StreamGroupKey(Message, key=5, versions="0"):
    stream_id: UInt32
    topic_id: UInt32
    group_id: UInt32


class StreamGroupValue(Message, key=5, versions="0", flexible="0+"):
    name: String
    created_at_us: Int64


class QueryKey(Message, key=6, versions="0"):
    query_id: String


class StoredPrepared(Struct):
    transactional_id: String
    producer_id: Int64
    producer_epoch: Int16


class QueryValue(Message, key=6, versions="0", flexible="0+"):
    """The decision to commit a batch: it is made when this record is durable."""

    batch_id: Int64
    committed_at_ms: Int64
    prepared: list[StoredPrepared]


OWN_LOG: Final = KeyedLog(
    (CounterKey, CounterValue),
    (UserKey, UserValue),
    (TokenKey, TokenValue),
    (StreamKey, StreamValue),
    (StreamTopicKey, StreamTopicValue),
    (StreamGroupKey, StreamGroupValue),
    (QueryKey, QueryValue),
)
