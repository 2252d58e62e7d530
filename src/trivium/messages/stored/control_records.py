"""Control records: they stand in a log among the data and tell readers about the log itself.

    key     int16 version, int16 type
    value   int16 version, then the rest of the message

Types 0 and 1 end a transaction in a partition; the others stand in the metadata log and its snapshots.
The version in front belongs to the message in the latter and not in the former, on disk it is the same.
"""

import struct
from enum import IntEnum
from typing import Final

from trivium.messages.codec import decode, encode
from trivium.messages.schema import Message, Struct, field
from trivium.messages.types import Int16, Int32, Int64, String, UInt16, Uuid
from trivium.wire.buffer import Buffer
from trivium.wire.errors import DecodeError, EncodeError
from trivium.wire.uuid_text import ZERO_UUID


class LeaderChangeVoter(Struct):
    voter_id: Int32
    voter_directory_id: Uuid = field("1+", default=ZERO_UUID)


class LeaderChangeMessage(Message, versions="0-1", flexible="0+"):
    version: Int16
    leader_id: Int32
    voters: list[LeaderChangeVoter]
    granting_voters: list[LeaderChangeVoter]


class SnapshotHeaderRecord(Message, versions="0", flexible="0+"):
    version: Int16
    last_contained_log_timestamp: Int64


class SnapshotFooterRecord(Message, versions="0", flexible="0+"):
    version: Int16


class KRaftVersionRecord(Message, versions="0", flexible="0+"):
    version: Int16
    kraft_version: Int16


class Endpoint(Struct):
    name: String
    host: String
    port: UInt16


class KRaftVersionFeature(Struct):
    min_supported_version: Int16
    max_supported_version: Int16


class Voter(Struct):
    voter_id: Int32
    voter_directory_id: Uuid
    endpoints: list[Endpoint]
    kraft_version_feature: KRaftVersionFeature


class VotersRecord(Message, versions="0", flexible="0+"):
    version: Int16
    voters: list[Voter]


class EndTxnMarker(Message, versions="0"):
    coordinator_epoch: Int32


class ControlRecordType(IntEnum):
    ABORT = 0
    COMMIT = 1
    LEADER_CHANGE = 2
    SNAPSHOT_HEADER = 3
    SNAPSHOT_FOOTER = 4
    KRAFT_VERSION = 5
    KRAFT_VOTERS = 6


CONTROL_RECORDS: Final[dict[ControlRecordType, type[Message]]] = {
    ControlRecordType.ABORT: EndTxnMarker,
    ControlRecordType.COMMIT: EndTxnMarker,
    ControlRecordType.LEADER_CHANGE: LeaderChangeMessage,
    ControlRecordType.SNAPSHOT_HEADER: SnapshotHeaderRecord,
    ControlRecordType.SNAPSHOT_FOOTER: SnapshotFooterRecord,
    ControlRecordType.KRAFT_VERSION: KRaftVersionRecord,
    ControlRecordType.KRAFT_VOTERS: VotersRecord,
}

_KEY: Final = struct.Struct(">hh")
_VERSION: Final = struct.Struct(">h")
_KEY_VERSION: Final = 0


def decode_control_key(key: Buffer) -> ControlRecordType:
    """Which control record this is. Later versions of the key may be longer; the type stays where it is."""
    if len(key) < _KEY.size:
        raise DecodeError(f"the key of a control record has 4 bytes, not {len(key)}")
    version, kind = _KEY.unpack_from(key)
    if version < 0:
        raise DecodeError(f"the key of a control record has version {version}")
    try:
        return ControlRecordType(kind)
    except ValueError as error:
        raise DecodeError(f"control record type {kind} is unknown") from error


def encode_control_key(kind: ControlRecordType) -> bytes:
    return _KEY.pack(_KEY_VERSION, kind)


def decode_control_value(kind: ControlRecordType, value: Buffer) -> tuple[int, Message]:
    """The version of a control record's value, and the value."""
    if len(value) < _VERSION.size:
        raise DecodeError(f"the value of a control record of {len(value)} bytes holds no version")
    cls = CONTROL_RECORDS[kind]
    version: int = _VERSION.unpack_from(value)[0]
    message, _ = decode(cls, version, value, _VERSION.size if cls is EndTxnMarker else 0)
    return version, message


def encode_control_value(message: Message, version: int) -> bytes:
    """The value of a control record. Where the version is a field, the message has to agree with it."""
    if isinstance(message, EndTxnMarker):
        return _VERSION.pack(version) + encode(message, version)
    value = encode(message, version)
    if _VERSION.unpack_from(value)[0] != version:
        raise EncodeError(f"{type(message).__name__} says another version than {version}")
    return value
