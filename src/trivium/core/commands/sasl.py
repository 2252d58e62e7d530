"""Proving who one is by SASL, step by step, and the credentials that SCRAM needs.

A session hands over what its peer has sent and gets what it shall answer; what lies between two steps is an
``Exchange`` that only the core understands.
"""

from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple

from trivium.core.access import Operation, Row, for_everybody, on_cluster
from trivium.core.commands.command import Command, command
from trivium.core.commands.users import LoggedIn
from trivium.core.faults import Fault


class SaslStep(NamedTuple):
    """``exchange``: there is more to come. ``logged_in``: it is done."""

    fault: Fault | None = None
    answer: bytes = b""
    exchange: Any = None
    logged_in: LoggedIn | None = None
    lifetime_ms: int | None = None
    """How long the proof counts; None: as long as the connection."""


@command
class Authenticate(Command[SaslStep]):
    """Answered later where a password has to be checked. Unknown users take as long as others."""

    ROW: ClassVar[Row] = for_everybody("this is how one becomes somebody")
    SECRET: ClassVar[frozenset[str]] = frozenset({"message", "exchange"})
    mechanism: str
    message: bytes
    exchange: Any = None
    """Of the step before; None for the first."""

    def refused(self, fault: Fault, message: str | None = None) -> SaslStep:
        return SaslStep(fault)


# -- credentials -------------------------------------------------------------------------------------


class ScramFacts(NamedTuple):
    mechanism: int
    iterations: int


class DescribedScram(NamedTuple):
    username: str
    fault: Fault | None
    message: str | None = None
    credentials: Sequence[ScramFacts] = ()


@command
class DescribeScramCredentials(Command[list[DescribedScram]]):
    """None, or an empty list: of everybody."""

    ROW: ClassVar[Row] = on_cluster(Operation.DESCRIBE)
    usernames: Sequence[str] | None = None

    def refused(self, fault: Fault, message: str | None = None) -> list[DescribedScram]:
        return [DescribedScram("", fault, message)]


class ScramDeletion(NamedTuple):
    username: str
    mechanism: int


class ScramUpsertion(NamedTuple):
    username: str
    mechanism: int
    iterations: int
    salt: bytes
    salted_password: bytes

    def __repr__(self) -> str:
        return f"ScramUpsertion(username={self.username!r}, mechanism={self.mechanism})"


class AlteredScram(NamedTuple):
    username: str
    fault: Fault | None
    message: str | None = None


@command
class AlterScramCredentials(Command[list[AlteredScram]]):
    ROW: ClassVar[Row] = on_cluster(Operation.ALTER)
    SECRET: ClassVar[frozenset[str]] = frozenset({"upsertions"})
    deletions: Sequence[ScramDeletion]
    upsertions: Sequence[ScramUpsertion]

    def refused(self, fault: Fault, message: str | None = None) -> list[AlteredScram]:
        changes: list[ScramDeletion | ScramUpsertion] = [*self.deletions, *self.upsertions]
        names = dict.fromkeys(each.username for each in changes)
        return [AlteredScram(name, fault, message) for name in names]
