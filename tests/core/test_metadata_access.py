"""Rights, users and tokens: added, replaced, removed, and refused where a code means nothing."""

import pytest

from trivium.core.acls.entry import AccessControlEntry, Operation, PatternType, Permission, ResourceType
from trivium.core.metadata_access import (
    AccessControlEntries,
    DelegationTokens,
    ScramCredential,
    ScramCredentials,
    ScramMechanism,
)
from trivium.messages.stored.metadata_access import (
    AccessControlEntryRecord,
    DelegationTokenRecord,
    RemoveAccessControlEntryRecord,
    RemoveDelegationTokenRecord,
    RemoveUserScramCredentialRecord,
    UserScramCredentialRecord,
)
from trivium.wire.errors import DecodeError

ENTRY_ID = bytes(15) + b"\x01"


def entry_record(**fields: object) -> AccessControlEntryRecord:
    given: dict[str, object] = {
        "id": ENTRY_ID,
        "resource_type": 2,
        "resource_name": "orders-",
        "pattern_type": 4,
        "principal": "User:bob",
        "host": "*",
        "operation": 3,
        "permission_type": 2,
    }
    return AccessControlEntryRecord(**(given | fields))  # type: ignore[arg-type]


def credential_record(mechanism: int, iterations: int = 4096) -> UserScramCredentialRecord:
    return UserScramCredentialRecord(
        name="bob",
        mechanism=mechanism,
        salt=b"salt",
        stored_key=b"stored-canary",
        server_key=b"server-canary",
        iterations=iterations,
    )


def test_access_control_entry_says_what_its_codes_mean() -> None:
    entries = AccessControlEntries()
    entries.add(entry_record())
    assert entries.by_id[ENTRY_ID] == AccessControlEntry(
        ResourceType.TOPIC, "orders-", PatternType.PREFIXED, "User:bob", "*", Operation.READ, Permission.DENY
    )
    entries.remove(RemoveAccessControlEntryRecord(id=ENTRY_ID))
    assert entries.by_id == {}


@pytest.mark.parametrize("field", ["resource_type", "pattern_type", "operation", "permission_type"])
@pytest.mark.parametrize("code", [-1, 0, 1, 100])
def test_access_control_entry_with_a_code_that_means_nothing_is_refused(field: str, code: int) -> None:
    """S9: what is not understood could have been a deny. 1 means "any", which is for filters only."""
    with pytest.raises(DecodeError, match=f"^{code} is no "):
        AccessControlEntries().add(entry_record(**{field: code}))


def test_access_control_entry_that_is_not_there_cannot_be_removed() -> None:
    with pytest.raises(DecodeError, match="no access control entry"):
        AccessControlEntries().remove(RemoveAccessControlEntryRecord(id=ENTRY_ID))


def test_user_has_one_credential_for_each_mechanism_the_last_one_set() -> None:
    users = ScramCredentials()
    for record in (credential_record(1), credential_record(2), credential_record(2, 8192)):
        users.set(record)
    assert {mechanism: each.iterations for mechanism, each in users.by_user["bob"].items()} == {
        ScramMechanism.SCRAM_SHA_256: 4096,
        ScramMechanism.SCRAM_SHA_512: 8192,
    }


def test_user_without_credentials_is_no_user() -> None:
    users = ScramCredentials()
    users.set(credential_record(1))
    users.remove(RemoveUserScramCredentialRecord(name="bob", mechanism=1))
    assert users.by_user == {}
    with pytest.raises(DecodeError, match="user bob has no SCRAM_SHA_256 credential"):
        users.remove(RemoveUserScramCredentialRecord(name="bob", mechanism=1))


def test_user_with_an_unknown_mechanism_is_refused() -> None:
    with pytest.raises(DecodeError, match="3 is no ScramMechanism"):
        ScramCredentials().set(credential_record(3))


def test_credential_when_printed_keeps_its_secrets() -> None:
    """S15: whatever is logged at DEBUG, keys are not in it."""
    shown = repr(ScramCredential(4096, b"salt", b"stored-canary", b"server-canary"))
    assert shown == "ScramCredential(iterations=4096)"


def test_token_when_renewed_has_the_new_expiration() -> None:
    tokens = DelegationTokens()
    for expiration in (1000, 2000):
        tokens.set(
            DelegationTokenRecord(
                owner="User:bob",
                requester="User:alice",
                renewers=["User:carol"],
                issue_timestamp=0,
                max_timestamp=5000,
                expiration_timestamp=expiration,
                token_id="t-1",
            )
        )
    assert tokens.by_id["t-1"].expiration_timestamp == 2000
    tokens.remove(RemoveDelegationTokenRecord(token_id="t-1"))
    tokens.remove(RemoveDelegationTokenRecord(token_id="t-1"))
    assert tokens.by_id == {}
