"""``__cluster_metadata``: the log of which every KRaft node's picture of the cluster is the sum.

    key     none
    value   uvarint frame version (1), uvarint type, uvarint version, then the record in that version

The type stands in the value, not in the key (mission 001.25, 001.26).
"""

from typing import Final

from trivium.messages.codec import decode, encode
from trivium.messages.schema import Message
from trivium.messages.stored import (
    metadata_access,
    metadata_brokers,
    metadata_topics,
    metadata_transactions,
)
from trivium.wire.buffer import Buffer
from trivium.wire.errors import DecodeError
from trivium.wire.varint import encode_uvarint, read_uvarint

FRAME_VERSION: Final = 1

METADATA_RECORDS: Final[dict[int, type[Message]]] = {
    record.API_KEY: record
    for record in (
        metadata_topics.TopicRecord,
        metadata_topics.PartitionRecord,
        metadata_topics.PartitionChangeRecord,
        metadata_topics.RemoveTopicRecord,
        metadata_topics.ConfigRecord,
        metadata_topics.ClearElrRecord,
        metadata_brokers.RegisterBrokerRecord,
        metadata_brokers.UnregisterBrokerRecord,
        metadata_brokers.FenceBrokerRecord,
        metadata_brokers.UnfenceBrokerRecord,
        metadata_brokers.BrokerRegistrationChangeRecord,
        metadata_brokers.RegisterControllerRecord,
        metadata_brokers.FeatureLevelRecord,
        metadata_brokers.ProducerIdsRecord,
        metadata_brokers.ZkMigrationStateRecord,
        metadata_access.AccessControlEntryRecord,
        metadata_access.RemoveAccessControlEntryRecord,
        metadata_access.UserScramCredentialRecord,
        metadata_access.RemoveUserScramCredentialRecord,
        metadata_access.DelegationTokenRecord,
        metadata_access.RemoveDelegationTokenRecord,
        metadata_access.ClientQuotaRecord,
        metadata_transactions.BeginTransactionRecord,
        metadata_transactions.EndTransactionRecord,
        metadata_transactions.AbortTransactionRecord,
        metadata_transactions.NoOpRecord,
    )
}


def decode_metadata_record(value: Buffer) -> tuple[int, int, Message]:
    """The type, the version and the record."""
    frame_version, pos = read_uvarint(value, 0)
    if frame_version != FRAME_VERSION:
        raise DecodeError(f"a metadata record of frame version {frame_version}, {FRAME_VERSION} is known")
    kind, pos = read_uvarint(value, pos)
    version, pos = read_uvarint(value, pos)
    if kind not in METADATA_RECORDS:
        raise DecodeError(f"metadata record type {kind} is unknown")
    record, pos = decode(METADATA_RECORDS[kind], version, value, pos)
    if pos != len(value):
        raise DecodeError(f"{type(record).__name__}: {len(value) - pos} bytes left over")
    return kind, version, record


def encode_metadata_record(record: Message, version: int) -> bytes:
    kind = encode_uvarint(record.API_KEY)
    return encode_uvarint(FRAME_VERSION) + kind + encode_uvarint(version) + encode(record, version)
