"""Users and rights as the metadata log tells them: SCRAM credentials, access control entries, tokens.

A code that nobody has given a meaning is refused, not skipped: it might have been a deny.
"""

from dataclasses import dataclass, field
from enum import IntEnum
from typing import NamedTuple, TypeVar

from trivium.core.acls.entry import AccessControlEntry, Operation, PatternType, Permission, ResourceType
from trivium.core.acls.rules import Rules
from trivium.messages.stored.metadata_access import (
    AccessControlEntryRecord,
    DelegationTokenRecord,
    RemoveAccessControlEntryRecord,
    RemoveDelegationTokenRecord,
    RemoveUserScramCredentialRecord,
    UserScramCredentialRecord,
)
from trivium.wire.errors import DecodeError
from trivium.wire.uuid_text import uuid_to_text

Code = TypeVar("Code", bound=IntEnum)


@dataclass(slots=True)
class AccessControlEntries:
    by_id: dict[bytes, AccessControlEntry] = field(default_factory=dict)
    rules: Rules = field(default_factory=Rules, compare=False, repr=False)
    """The same, for deciding. A picture of the entries (``metadata_snapshot.still``) decides nothing."""

    def add(self, record: AccessControlEntryRecord) -> None:
        entry = AccessControlEntry(
            _meaning(ResourceType, record.resource_type),
            record.resource_name,
            _meaning(PatternType, record.pattern_type),
            record.principal,
            record.host,
            _meaning(Operation, record.operation),
            _meaning(Permission, record.permission_type),
        )
        replaced = self.by_id.get(record.id)
        if replaced is not None:
            self.rules.remove(replaced)
        self.by_id[record.id] = entry
        self.rules.add(entry)

    def remove(self, record: RemoveAccessControlEntryRecord) -> None:
        entry = self.by_id.pop(record.id, None)
        if entry is None:
            raise DecodeError(f"no access control entry has the id {uuid_to_text(record.id)}")
        self.rules.remove(entry)


class ScramMechanism(IntEnum):
    SCRAM_SHA_256 = 1
    SCRAM_SHA_512 = 2

    @property
    def hash_name(self) -> str:
        """As ``hashlib`` calls it."""
        return "sha256" if self is ScramMechanism.SCRAM_SHA_256 else "sha512"


@dataclass(frozen=True, slots=True)
class ScramCredential:
    """What proves a user's password without being it (RFC 5802). The keys stay out of ``repr`` (S15)."""

    iterations: int
    salt: bytes = field(repr=False)
    stored_key: bytes = field(repr=False)
    server_key: bytes = field(repr=False)


@dataclass(slots=True)
class ScramCredentials:
    by_user: dict[str, dict[ScramMechanism, ScramCredential]] = field(default_factory=dict)

    def set(self, record: UserScramCredentialRecord) -> None:
        mechanism = _meaning(ScramMechanism, record.mechanism)
        self.by_user.setdefault(record.name, {})[mechanism] = ScramCredential(
            record.iterations, record.salt, record.stored_key, record.server_key
        )

    def remove(self, record: RemoveUserScramCredentialRecord) -> None:
        mechanism = _meaning(ScramMechanism, record.mechanism)
        credentials = self.by_user.get(record.name, {})
        if credentials.pop(mechanism, None) is None:
            raise DecodeError(f"user {record.name} has no {mechanism.name} credential to remove")
        if not credentials:
            del self.by_user[record.name]


class DelegationToken(NamedTuple):
    """A token that ``owner`` may log in with. Its secret is no part of the log."""

    token_id: str
    owner: str
    requester: str
    renewers: tuple[str, ...]
    issue_timestamp: int
    max_timestamp: int
    expiration_timestamp: int


@dataclass(slots=True)
class DelegationTokens:
    by_id: dict[str, DelegationToken] = field(default_factory=dict)

    def set(self, record: DelegationTokenRecord) -> None:
        """Issue a token, or renew it: the record is the same."""
        self.by_id[record.token_id] = DelegationToken(
            record.token_id,
            record.owner,
            record.requester,
            tuple(record.renewers),
            record.issue_timestamp,
            record.max_timestamp,
            record.expiration_timestamp,
        )

    def remove(self, record: RemoveDelegationTokenRecord) -> None:
        # Kafka does not ask whether the token is still there: it may have expired at the same time.
        self.by_id.pop(record.token_id, None)


def _meaning(codes: type[Code], code: int) -> Code:
    try:
        return codes(code)
    except ValueError as error:
        raise DecodeError(f"{code} is no {codes.__name__} of an access control record") from error
