"""The authorizer against an oracle that looks at every entry (S9), by plain dice: ten million decisions with
``make abuse N=100``. The slice by hypothesis, which finds the smallest case, is ``tests/core/acls``'.
"""

from random import Random
from typing import NamedTuple

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
ENTRIES_MAX = 12
CHANGES = 40
"""Of one town."""
QUESTIONS = 20
"""Between two changes."""


class Town(NamedTuple):
    """The few words that everything is about for a while: so entries meet each other, and questions them."""

    kinds: list[ResourceType]
    names: list[str]
    principals: list[str]
    hosts: list[str]
    operations: list[Operation]

    @classmethod
    def somewhere(cls, dice: Random) -> "Town":
        some = dice.choice((Operation.DESCRIBE, Operation.DESCRIBE_CONFIGS))
        return cls(
            dice.sample(KINDS, 2),
            dice.sample(NAMES, 4),
            dice.sample(PRINCIPALS, 2),
            dice.sample(HOSTS, 2),
            [some, *dice.sample(ASKED, 3)],
        )

    def entry(self, dice: Random) -> AccessControlEntry:
        return AccessControlEntry(
            dice.choice(self.kinds),
            dice.choice([name for name in (*self.names, "*") if name]),
            dice.choice(list(PatternType)),
            dice.choice([*self.principals, "User:*"]),
            dice.choice([*self.hosts, "*"]),
            dice.choice([*self.operations, Operation.ALL]),
            dice.choice(list(Permission)),
        )


@seeded
def test_authorizer_decides_as_the_oracle_through_a_long_life(seed: int) -> None:
    dice = Random(seed)
    there: list[AccessControlEntry] = []
    rules = Rules()
    authorizers = [Authorizer(rules, is_open_without_entries=is_open) for is_open in (False, True)]
    seen = {True: 0, False: 0}
    for change in range(amount(20_000, 100_000) // QUESTIONS):
        if change % CHANGES == 0:
            town = Town.somewhere(dice)
            while there:
                rules.remove(there.pop())
        if there and (len(there) >= ENTRIES_MAX or dice.random() < 0.45):
            rules.remove(there.pop(dice.randrange(len(there))))
        else:
            there.append(town.entry(dice))
            rules.add(there[-1])
        for _ in range(QUESTIONS):
            is_open = dice.random() < 0.3
            principal, host = dice.choice(town.principals), dice.choice(town.hosts)
            kind, name, operation = (
                dice.choice(town.kinds),
                dice.choice(town.names),
                dice.choice(town.operations),
            )
            if kind is ResourceType.USER and operation in AS_CLUSTER:
                continue
            verdict = authorizers[is_open].verdict(principal, host, operation, Resource(kind), name)
            expected = oracle.decides(
                there, principal, host, operation, kind, name, open_without_entries=is_open
            )
            question = (principal, host, operation, kind, name, is_open)
            assert (verdict is Verdict.ALLOWED) == expected, (question, there)
            seen[expected] += 1
    assert min(seen.values()) > sum(seen.values()) // 10, "both answers are common"
