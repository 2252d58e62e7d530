"""What consumers tell each other through a classic group: subscriptions and assignments.

To the broker both are opaque bytes inside JoinGroup and SyncGroup; tools and the console read them.

    int16 version, then the body of that version

0   first version
1   subscription gains owned_partitions (KIP-429)
2   subscription gains generation_id (KIP-792)
3   subscription gains rack_id (KIP-881)

A version newer than the newest known is read as that: what it added stands behind what is known.
"""

import struct
from typing import Final, TypeVar

from trivium.messages.codec import decode, encode
from trivium.messages.schema import Message, Struct, field
from trivium.messages.types import Bytes, Int32, String
from trivium.wire.buffer import Buffer
from trivium.wire.errors import DecodeError


class TopicPartition(Struct):
    topic: String
    partitions: list[Int32]


class ConsumerProtocolSubscription(Message, versions="0-3"):
    topics: list[String]
    user_data: Bytes | None = None
    owned_partitions: list[TopicPartition] = field("1+", default_factory=list, ignorable=True)
    generation_id: Int32 = field("2+", default=-1, ignorable=True)
    rack_id: String | None = field("3+", default=None, ignorable=True)


class ConsumerProtocolAssignment(Message, versions="0-3"):
    assigned_partitions: list[TopicPartition]
    user_data: Bytes | None = None


_VERSION: Final = struct.Struct(">h")
M = TypeVar("M", ConsumerProtocolSubscription, ConsumerProtocolAssignment)


def decode_subscription(data: Buffer) -> tuple[int, ConsumerProtocolSubscription]:
    """What a member wants to read: the version it was written in, and the subscription."""
    return _decode_newest_known(ConsumerProtocolSubscription, data)


def decode_assignment(data: Buffer) -> tuple[int, ConsumerProtocolAssignment]:
    """What a member is to read: the version it was written in, and the assignment."""
    return _decode_newest_known(ConsumerProtocolAssignment, data)


def encode_subscription(subscription: ConsumerProtocolSubscription, version: int) -> bytes:
    return _VERSION.pack(version) + encode(subscription, version)


def encode_assignment(assignment: ConsumerProtocolAssignment, version: int) -> bytes:
    return _VERSION.pack(version) + encode(assignment, version)


def _decode_newest_known(cls: type[M], data: Buffer) -> tuple[int, M]:
    if len(data) < _VERSION.size:
        raise DecodeError(f"{cls.__name__}: {len(data)} bytes hold no version")
    version: int = _VERSION.unpack_from(data)[0]
    message, _ = decode(cls, min(version, cls.VERSIONS.last), data, _VERSION.size)
    return version, message
