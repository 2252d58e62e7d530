"""The authorizer decides as Kafka does (S9): the oracle looks at every entry, the index does not."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.core.acls import oracle
from trivium.core.acls.authorizer import Authorizer
from trivium.core.acls.entry import (
    IMPLIED,
    AccessControlEntry,
    Operation,
    PatternType,
    Permission,
    ResourceType,
)
from trivium.core.acls.rules import REMEMBERED_MAX, Rules, Verdict
from trivium.core.rights import Resource

NAMES = ["a", "ab", "abc", "b", "*", "äb"]
PRINCIPALS = ["User:ann", "User:bob", "User:*", "Group:ann"]
HOSTS = ["10.0.0.1", "10.0.0.2", "*"]
KINDS = [ResourceType.TOPIC, ResourceType.GROUP, ResourceType.CLUSTER]
ASKED = [each for each in Operation if each is not Operation.ALL]

entries = st.builds(
    AccessControlEntry,
    st.sampled_from(KINDS),
    st.sampled_from(NAMES),
    st.sampled_from(PatternType),
    st.sampled_from(PRINCIPALS),
    st.sampled_from(HOSTS),
    st.sampled_from(Operation),
    st.sampled_from(Permission),
)
questions = st.tuples(
    st.sampled_from(PRINCIPALS),
    st.sampled_from(HOSTS[:2]),
    st.sampled_from(ASKED),
    st.sampled_from(KINDS),
    st.sampled_from([*NAMES, "abcd", ""]),
)


@settings(max_examples=300)
@given(
    st.lists(st.tuples(st.booleans(), entries), max_size=15),
    st.lists(questions, min_size=1, max_size=10),
    st.booleans(),
)
def test_rules_decide_as_the_oracle_after_every_change(
    changes: list[tuple[bool, AccessControlEntry]],
    asked: list[tuple[str, str, Operation, ResourceType, str]],
    is_open: bool,
) -> None:
    """S9: entries come and go, the same one twice too; what is remembered never outlives them."""
    there: list[AccessControlEntry] = []
    rules = Rules()
    authorizer = Authorizer(rules, is_open_without_entries=is_open)
    for is_new, entry in changes:
        if is_new:
            there.append(entry)
            rules.add(entry)
        elif there:
            rules.remove(there.pop(0))
        for principal, host, operation, kind, name in asked:
            said = authorizer.verdict(principal, host, operation, Resource(kind), name)
            expected = oracle.decides(
                there, principal, host, operation, kind, name, open_without_entries=is_open
            )
            assert (said is Verdict.ALLOWED) == expected, (principal, host, operation, kind, name)


def entry(
    name: str = "orders",
    pattern: PatternType = PatternType.LITERAL,
    operation: Operation = Operation.READ,
    permission: Permission = Permission.ALLOW,
    principal: str = "User:ann",
    host: str = "*",
) -> AccessControlEntry:
    return AccessControlEntry(ResourceType.TOPIC, name, pattern, principal, host, operation, permission)


def verdict(rules: Rules, operation: Operation = Operation.READ, name: str = "orders") -> Verdict:
    return rules.verdict("User:ann", "10.0.0.1", operation, ResourceType.TOPIC, name)


@pytest.mark.parametrize("operation", [each for each in Operation if each is not Operation.ALL])
def test_allow_implies_what_kafka_says_and_deny_implies_nothing(operation: Operation) -> None:
    allowing = Rules([entry(operation=operation)])
    denying = Rules([entry(operation=Operation.ALL), entry(operation=operation, permission=Permission.DENY)])
    for asked in ASKED:
        is_implied = asked in IMPLIED.get(operation, ())
        assert (verdict(allowing, asked) is Verdict.ALLOWED) == (asked is operation or is_implied)
        assert (verdict(denying, asked) is Verdict.DENIED) == (asked is operation)


def test_remembered_decision_is_forgotten_when_an_entry_comes_or_goes() -> None:
    rules = Rules()
    assert verdict(rules) is Verdict.NOTHING_APPLIES
    rules.add(entry())
    assert verdict(rules) is Verdict.ALLOWED
    deny = entry(name="or", pattern=PatternType.PREFIXED, permission=Permission.DENY)
    rules.add(deny)
    assert verdict(rules) is Verdict.DENIED
    rules.remove(deny)
    assert verdict(rules) is Verdict.ALLOWED
    rules.remove(entry())
    assert verdict(rules) is Verdict.NOTHING_APPLIES


def test_names_that_peers_invent_do_not_fill_the_memory() -> None:
    rules = Rules([entry()])
    for number in range(REMEMBERED_MAX + 10):
        verdict(rules, name=str(number))
    assert len(rules._remembered) <= REMEMBERED_MAX


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ([], False),
        ([entry(operation=Operation.WRITE)], True),
        ([entry(operation=Operation.WRITE, host="10.0.0.9")], False),
        ([entry(operation=Operation.WRITE, principal="User:*")], True),
        ([entry(operation=Operation.READ)], False),
        ([entry(), entry("*", operation=Operation.ALL, permission=Permission.DENY)], False),
        ([entry("*", operation=Operation.WRITE), entry("*", permission=Permission.DENY)], True),
        (
            [
                entry(operation=Operation.WRITE),
                entry("or", PatternType.PREFIXED, Operation.WRITE, Permission.DENY),
            ],
            False,
        ),
        (
            [
                entry("orders", PatternType.PREFIXED, Operation.WRITE),
                entry("orders", PatternType.LITERAL, Operation.WRITE, Permission.DENY),
            ],
            True,
        ),
        (
            [
                entry("*", PatternType.LITERAL, Operation.WRITE),
                entry("o", PatternType.PREFIXED, Operation.WRITE, Permission.DENY),
            ],
            True,
        ),
    ],
)
def test_writing_somewhere_is_allowed_unless_denies_cover_all_of_it(
    said: list[AccessControlEntry], expected: bool
) -> None:
    """KIP-679."""
    assert Authorizer(Rules(said)).may_write_somewhere("User:ann", "10.0.0.1") is expected
