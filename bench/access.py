"""What a decision about a right costs: processor time for one question, with more and more lists.

Run ``python -m bench.access``. Of the lists two thirds are literal and one third prefixed, of fifty lengths;
they are about a thousand principals. "Asked before" is the common question, whose answer is remembered;
"new" is asked for the first time, as by somebody who makes names up. "With an audit" is the common one while
an audit is told of it. Time is the thread's own, the best of many short rounds: other work only ever makes it
slower.
"""

import time
from collections.abc import Callable

from rich.console import Console
from rich.table import Table

from trivium.core.access import Access, Anonymous, Operation, Resource
from trivium.core.acls.authorizer import Authorizer
from trivium.core.acls.entry import AccessControlEntry, PatternType, Permission, ResourceType
from trivium.core.acls.rules import Rules
from trivium.core.caller import Caller

ROUNDS = 200
QUESTIONS = 500
PRINCIPALS = 1_000
TARGET_US = 3.0


def entries(number: int) -> list[AccessControlEntry]:
    made = []
    for each in range(number):
        is_prefix = each % 3 == 2
        name = f"topic-{each // PRINCIPALS}-{'x' * (each % 50)}" if is_prefix else f"topic-{each}"
        made.append(
            AccessControlEntry(
                ResourceType.TOPIC,
                name,
                PatternType.PREFIXED if is_prefix else PatternType.LITERAL,
                f"User:{each % PRINCIPALS}",
                "*",
                Operation.READ,
                Permission.DENY if each % 10 == 9 else Permission.ALLOW,
            )
        )
    return made


def cost_us(ask: Callable[[], object]) -> float:
    best = float("inf")
    for _ in range(ROUNDS):
        begun = time.thread_time_ns()
        for _ in range(QUESTIONS):
            ask()
        best = min(best, (time.thread_time_ns() - begun) / QUESTIONS / 1_000)
    return best


class Silent:
    """An audit that keeps nothing: what it costs to be told."""

    def decided(self, *_: object) -> None:
        pass

    def came(self, *_: object) -> None:
        pass


def measured(number: int) -> tuple[float, float, float]:
    access = Access(anonymous=Anonymous.DENY, authorizer=Authorizer(Rules(entries(number))))
    caller = Caller(principal="User:7", host="10.0.0.7")
    names = iter([f"unheard-of-topic-{each}" for each in range(ROUNDS * QUESTIONS)])
    known = cost_us(lambda: access.allows(caller, Operation.READ, Resource.TOPIC, "topic-7"))
    new = cost_us(lambda: access.allows(caller, Operation.READ, Resource.TOPIC, next(names)))
    access.witness = Silent()
    told = cost_us(lambda: access.allows(caller, Operation.READ, Resource.TOPIC, "topic-7"))
    return known, new, told


def main() -> None:
    table = Table("lists", "asked before", "new", "with an audit", title="One decision, microseconds")
    for number in (0, 100, 10_000, 100_000):
        known, new, told = measured(number)
        table.add_row(f"{number:,}", f"{known:.2f}", f"{new:.2f}", f"{told:.2f}")
    Console().print(table, f"Target: at most {TARGET_US} with 10,000 lists.")


if __name__ == "__main__":
    main()
