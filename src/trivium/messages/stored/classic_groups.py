"""Classic groups in ``__consumer_offsets``: one record holds a group with all its members."""

from trivium.messages.schema import Message, Struct, field
from trivium.messages.types import Bytes, Int32, Int64, String


class GroupMetadataKey(Message, key=2, versions="0"):
    group: String


class MemberMetadata(Struct):
    member_id: String
    group_instance_id: String | None = field("3+", default=None, ignorable=True)
    client_id: String
    client_host: String
    rebalance_timeout: Int32 = field("1+", default=-1, ignorable=True)
    session_timeout: Int32
    subscription: Bytes
    assignment: Bytes


class GroupMetadataValue(Message, key=2, versions="0-4", flexible="4+"):
    protocol_type: String
    generation: Int32
    protocol: String | None
    leader: String | None
    current_state_timestamp: Int64 = field("2+", default=-1, ignorable=True)
    members: list[MemberMetadata]
