"""Entries and Iggy's rights in one decision: the same answer at every door (S10)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.core.acls import oracle
from tests.core.test_access import QUESTIONS, OneUser, SomePlaces, trees
from tests.core.test_access import oracle as iggy_oracle
from trivium.core.access import Access, Anonymous, Operation, Resource
from trivium.core.acls.authorizer import Authorizer
from trivium.core.acls.entry import AccessControlEntry, PatternType, Permission, ResourceType
from trivium.core.acls.rules import Rules
from trivium.core.caller import Caller
from trivium.core.rights import CLUSTER_NAME
from trivium.core.users.permissions import EVERYTHING, Permissions
from trivium.core.users.user import User, UserStatus

DOORS = ("kafka", "iggy", "rustlog")
ON_CLUSTER = {"CREATE": "ALTER", "DELETE": "ALTER", "ALTER": "ALTER", "DESCRIBE": "DESCRIBE"}


def entry(
    operation: Operation = Operation.READ,
    permission: Permission = Permission.ALLOW,
    kind: ResourceType = ResourceType.TOPIC,
    name: str = "t",
    principal: str = "User:ann",
) -> AccessControlEntry:
    return AccessControlEntry(kind, name, PatternType.LITERAL, principal, "*", operation, permission)


def at_doors(caller: Caller, access: Access, operation: Operation, resource: Resource, name: str) -> bool:
    """The answer, which is the same at all doors."""
    answers = {
        access.allows(
            Caller(principal=caller.principal, protocol=door, user_id=caller.user_id),
            operation,
            resource,
            name,
        )
        for door in DOORS
    }
    assert len(answers) == 1
    return answers.pop()


ANN = Caller(principal="User:ann", user_id=1)

some_entries = st.lists(
    st.builds(
        AccessControlEntry,
        st.sampled_from([ResourceType.TOPIC, ResourceType.CLUSTER]),
        st.sampled_from(["t", "a.t", "a.", CLUSTER_NAME, "*"]),
        st.sampled_from(PatternType),
        st.sampled_from(["User:ann", "User:*", "User:bob"]),
        st.sampled_from(["127.0.0.1", "*", "10.0.0.1"]),
        st.sampled_from(Operation),
        st.sampled_from(Permission),
    ),
    max_size=6,
)


@given(some_entries, trees, st.lists(st.sampled_from(QUESTIONS), min_size=1, max_size=10))
def test_user_may_do_what_entries_allow_or_its_rights_permit_and_nothing_that_an_entry_denies(
    entries: list[AccessControlEntry], tree: Permissions, asked: list[tuple[Operation, Resource, str]]
) -> None:
    """S9, S10."""
    access = Access(OneUser(tree), SomePlaces(), authorizer=Authorizer(Rules(entries)))
    for operation, resource, name in asked:
        as_acl = (operation, ResourceType(resource) if resource is not Resource.STREAM else None, name)
        if resource is Resource.STREAM and operation is Operation.CREATE:
            as_acl = (Operation.CREATE, ResourceType.CLUSTER, CLUSTER_NAME)
        elif resource in (Resource.STREAM, Resource.USER) and operation.name in ON_CLUSTER:
            as_acl = (Operation[ON_CLUSTER[operation.name]], ResourceType.CLUSTER, CLUSTER_NAME)
        acl_operation, kind, acl_name = as_acl
        assert kind is not None
        question = ("User:ann", "127.0.0.1", acl_operation, kind, acl_name)
        allowed = oracle.decides(entries, *question)
        allowing = [each._replace(permission=Permission.ALLOW, operation=Operation.ALL) for each in entries]
        is_denied = not oracle.decides(
            [each for each in entries if each.permission is Permission.DENY] + allowing, *question
        ) and oracle.decides(allowing, *question)
        expected = allowed or (not is_denied and iggy_oracle(tree, operation, resource, name))
        assert at_doors(ANN, access, operation, resource, name) == expected, (operation, resource, name)


def test_deny_wins_over_every_right_of_iggy() -> None:
    everything = OneUser(EVERYTHING)
    rules = Rules([entry(Operation.WRITE, Permission.DENY)])
    access = Access(everything, SomePlaces(), authorizer=Authorizer(rules))
    assert at_doors(ANN, access, Operation.READ, Resource.TOPIC, "t")
    assert not at_doors(ANN, access, Operation.WRITE, Resource.TOPIC, "t")
    assert at_doors(ANN, access, Operation.WRITE, Resource.TOPIC, "u")


def test_first_user_and_super_users_are_above_entries() -> None:
    users = OneUser(None)
    users.by_id[0] = User(0, "iggy", UserStatus.ACTIVE, 0, "", EVERYTHING)
    rules = Rules([entry(Operation.ALL, Permission.DENY, principal="User:*")])
    access = Access(users, SomePlaces(), authorizer=Authorizer(rules, frozenset(("User:ann", "User:CN=x"))))
    root = Caller(principal="User:iggy", user_id=0)
    assert at_doors(root, access, Operation.READ, Resource.TOPIC, "t")
    assert at_doors(ANN, access, Operation.READ, Resource.TOPIC, "t")
    assert access.allows(Caller(principal="User:CN=x"), Operation.READ, Resource.TOPIC, "t")


def test_user_is_judged_by_the_name_that_it_has_now() -> None:
    users = OneUser(None)
    rules = Rules([entry()])
    access = Access(users, SomePlaces(), authorizer=Authorizer(rules))
    assert access.allows(ANN, Operation.READ, Resource.TOPIC, "t")
    users.by_id[1] = User(1, "anna", UserStatus.ACTIVE, 0, "", None)
    assert not access.allows(ANN, Operation.READ, Resource.TOPIC, "t")
    users.by_id[1] = User(1, "ann", UserStatus.INACTIVE, 0, "", None)
    assert not access.allows(ANN, Operation.READ, Resource.TOPIC, "t")


@pytest.mark.parametrize(("anonymous", "expected"), [("auto", True), ("allow", True), ("deny", False)])
def test_stranger_is_judged_by_entries_unless_none_may_come_in(anonymous: str, expected: bool) -> None:
    rules = Rules([entry(principal="User:ANONYMOUS")])
    access = Access(OneUser(None), SomePlaces(), Anonymous(anonymous), Authorizer(rules))
    for door in ("kafka", "rustlog"):
        stranger = Caller(protocol=door)
        assert access.allows(stranger, Operation.READ, Resource.TOPIC, "t") is expected
        assert not access.allows(stranger, Operation.WRITE, Resource.TOPIC, "t")
    assert not access.allows(Caller(protocol="iggy"), Operation.READ, Resource.TOPIC, "t")


def test_who_came_by_a_certificate_is_judged_by_entries_or_by_none() -> None:
    guest = Caller(principal="User:CN=guest")
    assert Access(anonymous=Anonymous.DENY).allows(guest, Operation.READ, Resource.TOPIC, "t")
    access = Access(anonymous=Anonymous.DENY, authorizer=Authorizer(Rules()))
    assert not access.allows(guest, Operation.READ, Resource.TOPIC, "t")


def test_who_may_write_a_topic_may_be_an_idempotent_producer() -> None:
    """KIP-679; what it may do to the cluster is not said to be more for it (KIP-430)."""
    access = Access(OneUser(None), SomePlaces(), authorizer=Authorizer(Rules([entry(Operation.WRITE)])))
    assert at_doors(ANN, access, Operation.IDEMPOTENT_WRITE, Resource.CLUSTER, CLUSTER_NAME)
    assert access.operations(ANN, Resource.CLUSTER, CLUSTER_NAME) == frozenset()
    reader = Access(OneUser(None), SomePlaces(), authorizer=Authorizer(Rules([entry()])))
    assert not at_doors(ANN, reader, Operation.IDEMPOTENT_WRITE, Resource.CLUSTER, CLUSTER_NAME)


def test_operations_of_a_topic_are_those_that_entries_allow() -> None:
    access = Access(OneUser(None), SomePlaces(), authorizer=Authorizer(Rules([entry()])))
    assert access.operations(ANN, Resource.TOPIC, "t") == {Operation.READ, Operation.DESCRIBE}


@pytest.mark.parametrize(
    ("resource", "operation", "needed"),
    [
        (Resource.STREAM, Operation.CREATE, Operation.CREATE),
        (Resource.STREAM, Operation.DESCRIBE, Operation.DESCRIBE),
        (Resource.STREAM, Operation.ALTER, Operation.ALTER),
        (Resource.STREAM, Operation.DELETE, Operation.ALTER),
        (Resource.USER, Operation.CREATE, Operation.ALTER),
        (Resource.USER, Operation.DESCRIBE, Operation.DESCRIBE),
        (Resource.USER, Operation.ALTER, Operation.ALTER),
        (Resource.USER, Operation.DELETE, Operation.ALTER),
    ],
)
def test_streams_and_users_are_matters_of_the_cluster(
    resource: Resource, operation: Operation, needed: Operation
) -> None:
    for given_right in (Operation.CREATE, Operation.DESCRIBE, Operation.ALTER, Operation.READ):
        rules = Rules([entry(given_right, kind=ResourceType.CLUSTER, name=CLUSTER_NAME)])
        access = Access(OneUser(None), SomePlaces(), authorizer=Authorizer(rules))
        implied = needed is Operation.DESCRIBE and given_right in (Operation.ALTER, Operation.READ)
        expected = given_right is needed or implied
        assert at_doors(ANN, access, operation, resource, "a") is expected, given_right
