"""Delegation tokens (KIP-48): short-lived secrets by which somebody lets others log in as itself.

Principals are written as ``User:NAME``. Times are milliseconds since 1970.
"""

from collections.abc import Sequence
from typing import ClassVar, NamedTuple

from trivium.core.access import Row, for_everybody
from trivium.core.commands.command import Command, command
from trivium.core.faults import Fault


class DelegatedToken(NamedTuple):
    """``hmac`` is the secret."""

    token_id: str
    owner: str
    requester: str
    renewers: Sequence[str]
    issued_at_ms: int
    expires_at_ms: int
    ends_at_ms: int
    """It cannot be renewed beyond."""
    hmac: bytes

    def __repr__(self) -> str:
        return f"DelegatedToken(token_id={self.token_id!r}, owner={self.owner!r})"


class CreatedDelegation(NamedTuple):
    fault: Fault | None = None
    token: DelegatedToken | None = None


@command
class CreateDelegationToken(Command[CreatedDelegation]):
    ROW: ClassVar[Row] = for_everybody("everybody may have tokens of its own; for others, it is asked for")
    owner: str | None
    """None: the caller itself."""
    renewers: Sequence[str]
    lifetime_ms: int
    """Below 0: as long as the node allows."""

    def refused(self, fault: Fault, message: str | None = None) -> CreatedDelegation:
        return CreatedDelegation(fault)


class ProlongedDelegation(NamedTuple):
    fault: Fault | None = None
    expires_at_ms: int = -1


@command
class RenewDelegationToken(Command[ProlongedDelegation]):
    ROW: ClassVar[Row] = for_everybody("who has the secret may try; only its owner and renewers succeed")
    SECRET: ClassVar[frozenset[str]] = frozenset({"hmac"})
    hmac: bytes
    period_ms: int
    """Below 0: as long as the node says."""

    def refused(self, fault: Fault, message: str | None = None) -> ProlongedDelegation:
        return ProlongedDelegation(fault)


@command
class ExpireDelegationToken(Command[ProlongedDelegation]):
    ROW: ClassVar[Row] = for_everybody("who has the secret may try; only its owner and renewers succeed")
    SECRET: ClassVar[frozenset[str]] = frozenset({"hmac"})
    hmac: bytes
    period_ms: int
    """Below 0: at once."""

    def refused(self, fault: Fault, message: str | None = None) -> ProlongedDelegation:
        return ProlongedDelegation(fault)


class DescribedDelegations(NamedTuple):
    fault: Fault | None = None
    tokens: Sequence[DelegatedToken] = ()


@command
class DescribeDelegationTokens(Command[DescribedDelegations]):
    ROW: ClassVar[Row] = for_everybody("everybody sees its own; for those of others, it is asked for each")
    owners: Sequence[str] | None = None
    """None: of everybody."""

    def refused(self, fault: Fault, message: str | None = None) -> DescribedDelegations:
        return DescribedDelegations(fault)
