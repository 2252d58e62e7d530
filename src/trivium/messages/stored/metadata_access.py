"""Users, rights, tokens and quotas in the metadata log."""

from trivium.messages.schema import Message, Struct
from trivium.messages.types import Bool, Bytes, Float64, Int8, Int32, Int64, String, Uuid


class AccessControlEntryRecord(Message, key=18, versions="0", flexible="0+"):
    id: Uuid
    resource_type: Int8
    resource_name: String
    pattern_type: Int8
    principal: String
    host: String
    operation: Int8
    permission_type: Int8


class RemoveAccessControlEntryRecord(Message, key=19, versions="0", flexible="0+"):
    id: Uuid


class UserScramCredentialRecord(Message, key=11, versions="0", flexible="0+"):
    name: String
    mechanism: Int8
    salt: Bytes
    stored_key: Bytes
    server_key: Bytes
    iterations: Int32


class RemoveUserScramCredentialRecord(Message, key=22, versions="0", flexible="0+"):
    name: String
    mechanism: Int8


class DelegationTokenRecord(Message, key=10, versions="0", flexible="0+"):
    owner: String
    requester: String
    renewers: list[String]
    issue_timestamp: Int64
    max_timestamp: Int64
    expiration_timestamp: Int64
    token_id: String


class RemoveDelegationTokenRecord(Message, key=26, versions="0", flexible="0+"):
    token_id: String


class EntityData(Struct):
    entity_type: String
    entity_name: String | None


class ClientQuotaRecord(Message, key=14, versions="0", flexible="0+"):
    entity: list[EntityData]
    key: String
    value: Float64
    remove: Bool
