"""The authorizer against an oracle that looks at every entry (S9), by plain dice: ten million decisions with
``make abuse N=100``. The slice by hypothesis, which finds the smallest case, is ``tests/core/acls``'.
"""

from random import Random

from tests.abuse.amount import amount, seeded
from tests.core.acls import oracle
from trivium.core.acls.authorizer import Authorizer
from trivium.core.acls.entry import AccessControlEntry, Operation, PatternType, Permission, ResourceType
from trivium.core.acls.rules import Rules, Verdict
from trivium.core.rights import Resource

NAMES = ["a", "ab", "abc", "abcd", "b", "ba", "", "*", "äb", "ä", "a.b", "a.", "kafka-cluster"]
PATTERNS = [name for name in NAMES if name]
PRINCIPALS = ["User:ann", "User:bob", "User:*", "Group:ann", "User:", "User:Ann"]
HOSTS = ["10.0.0.1", "10.0.0.2", "::1"]
KINDS = list(ResourceType)
ASKED = [operation for operation in Operation if operation is not Operation.ALL]
AS_CLUSTER = (Operation.CREATE, Operation.ALTER, Operation.DELETE, Operation.DESCRIBE)
"""Of a user these are matters of the cluster, for which Kafka has no entries of their own."""
ENTRIES_MAX = 25
QUESTIONS = 20
"""Between two changes."""


def entry(dice: Random) -> AccessControlEntry:
    return AccessControlEntry(
        dice.choice(KINDS),
        dice.choice(PATTERNS),
        dice.choice(list(PatternType)),
        dice.choice(PRINCIPALS),
        dice.choice([*HOSTS, "*", "*"]),
        dice.choice(list(Operation)),
        dice.choice(list(Permission)),
    )


@seeded
def test_authorizer_decides_as_the_oracle_through_a_long_life(seed: int) -> None:
    dice = Random(seed)
    there: list[AccessControlEntry] = []
    rules = Rules()
    authorizers = [Authorizer(rules, is_open_without_entries=is_open) for is_open in (False, True)]
    seen = {True: 0, False: 0}
    for _ in range(amount(20_000, 100_000) // QUESTIONS):
        if there and (len(there) >= ENTRIES_MAX or dice.random() < 0.45):
            rules.remove(there.pop(dice.randrange(len(there))))
        else:
            there.append(entry(dice))
            rules.add(there[-1])
        for _ in range(QUESTIONS):
            is_open = dice.random() < 0.3
            principal, host = dice.choice(PRINCIPALS), dice.choice(HOSTS)
            kind, name, operation = dice.choice(KINDS), dice.choice(NAMES), dice.choice(ASKED)
            if kind is ResourceType.USER and operation in AS_CLUSTER:
                continue
            verdict = authorizers[is_open].verdict(principal, host, operation, Resource(kind), name)
            expected = oracle.decides(
                there, principal, host, operation, kind, name, open_without_entries=is_open
            )
            question = (principal, host, operation, kind, name, is_open)
            assert (verdict is Verdict.ALLOWED) == expected, (question, there)
            seen[expected] += 1
    assert min(seen.values()) > sum(seen.values()) // 50, "both answers are common"
