"""Writing answers. Everything is little-endian, times are microseconds since 1970, lists have no count.

    stream      id u32 | created u64 | topics u32 | size u64 | messages u64 | name
    topic       id u32 | created u64 | partitions u32 | expiry u64 | compression u8 | size limit u64
                | replication u8 | size u64 | messages u64 | name
    partition   id u32 | created u64 | segments u32 | last offset u64 | size u64 | messages u64
    group       id u32 | partitions u32 | members u32 | name
    member      id u32 | partitions u32 | partition u32 each
    client      id u32 | user u32 | transport u8 | address | groups u32
    user        id u32 | created u64 | status u8 | name

A name is a length of one byte, then UTF-8; an address has a length of four. The counts in a header equal the
entries that follow it: clients of 0.8 check that, and those of 0.5 hang if there is more.
"""

import struct
from collections.abc import Sequence
from typing import Final

from trivium.core.commands.clients import ClientFacts
from trivium.core.commands.stream_groups import StreamGroupFacts
from trivium.core.commands.streams import PartitionFacts, StreamFacts, StreamTopicFacts
from trivium.core.commands.users import UserFacts
from trivium.protocols.iggy.exchange import Call
from trivium.protocols.iggy.permissions_layout import write_permissions

U8: Final = struct.Struct("<B")
U32: Final = struct.Struct("<I")
U64: Final = struct.Struct("<Q")
_STREAM: Final = struct.Struct("<IQIQQ")
_TOPIC: Final = struct.Struct("<IQIQBQBQQ")
_PARTITION: Final = struct.Struct("<IQIQQQ")
_GROUP: Final = struct.Struct("<III")
_MEMBER: Final = struct.Struct("<II")
_CLIENT: Final = struct.Struct("<IIB")
_CLIENT_GROUP: Final = struct.Struct("<III")
_USER: Final = struct.Struct("<IQB")

NOBODY: Final = 0xFFFF_FFFF
"""The user of a client that has not logged in. For clients of 0.5 it is 0, since their users begin at 1."""
REPLICATION_FACTOR_MIN: Final = 1
"""What is shown of a topic that was given none: there is one replica."""
NO_PERMISSIONS: Final = bytes(4)
"""Four zeros, though the first would say it all: clients of 0.8 want a length, too."""


def text(value: str) -> bytes:
    data = value.encode()
    return U8.pack(len(data)) + data


def long_text(value: str) -> bytes:
    data = value.encode()
    return U32.pack(len(data)) + data


def stream(facts: StreamFacts, call: Call) -> bytes:
    return _STREAM.pack(
        call.shown(facts.stream_id),
        facts.created_at_us,
        facts.topics_count,
        facts.size_bytes,
        facts.messages_count,
    ) + text(facts.name)


def topic(facts: StreamTopicFacts, call: Call) -> bytes:
    return _TOPIC.pack(
        call.shown(facts.topic_id),
        facts.created_at_us,
        facts.partitions_count,
        facts.message_expiry_us,
        facts.compression,
        facts.size_bytes_max,
        max(facts.replication_factor, REPLICATION_FACTOR_MIN),
        facts.size_bytes,
        facts.messages_count,
    ) + text(facts.name)


def topic_details(facts: StreamTopicFacts, partitions: Sequence[PartitionFacts], call: Call) -> bytes:
    return topic(facts, call) + b"".join(
        _PARTITION.pack(
            call.shown(each.partition),
            each.created_at_us,
            each.segments_count,
            each.offset_last,
            each.size_bytes,
            each.messages_count,
        )
        for each in partitions
    )


def group(facts: StreamGroupFacts, call: Call) -> bytes:
    return _GROUP.pack(call.shown(facts.group_id), facts.partitions_count, len(facts.members)) + text(
        facts.name
    )


def group_details(facts: StreamGroupFacts, call: Call) -> bytes:
    parts = [group(facts, call)]
    for member in facts.members:
        # Clients of 0.5 know a member by the number of its connection.
        number = member.client_id if call.client.dialect.counts_from_one else member.member_id
        parts.append(_MEMBER.pack(number, len(member.partitions)))
        parts += [U32.pack(call.shown(partition)) for partition in member.partitions]
    return b"".join(parts)


def client(facts: ClientFacts, call: Call) -> bytes:
    if facts.user_id is not None:
        user_id = call.shown(facts.user_id)
    else:
        user_id = 0 if call.client.dialect.counts_from_one else NOBODY
    return (
        _CLIENT.pack(facts.client_id, user_id, facts.transport.value)
        + long_text(facts.address)
        + U32.pack(len(facts.groups))
    )


def client_details(facts: ClientFacts, call: Call) -> bytes:
    return client(facts, call) + b"".join(
        _CLIENT_GROUP.pack(call.shown(each.stream_id), call.shown(each.topic_id), call.shown(each.group_id))
        for each in facts.groups
    )


def user(facts: UserFacts, call: Call) -> bytes:
    return _USER.pack(call.shown(facts.user_id), facts.created_at_us, facts.status.value) + text(
        facts.username
    )


def user_details(facts: UserFacts, call: Call) -> bytes:
    if facts.permissions is None:
        return user(facts, call) + NO_PERMISSIONS
    permissions = write_permissions(facts.permissions, call)
    return user(facts, call) + b"\x01" + U32.pack(len(permissions)) + permissions
