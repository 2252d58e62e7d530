"""Delegation tokens of a cluster (KIP-48): made, listed, prolonged and ended."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from trivium.client.cluster import Cluster
from trivium.client.errors import Refused
from trivium.messages.api.create_delegation_token import (
    CreatableRenewers,
    CreateDelegationTokenRequest,
    CreateDelegationTokenResponse,
)
from trivium.messages.api.describe_delegation_token import (
    DescribeDelegationTokenOwner,
    DescribeDelegationTokenRequest,
    DescribeDelegationTokenResponse,
)
from trivium.messages.api.expire_delegation_token import (
    ExpireDelegationTokenRequest,
    ExpireDelegationTokenResponse,
)
from trivium.messages.api.renew_delegation_token import (
    RenewDelegationTokenRequest,
    RenewDelegationTokenResponse,
)
from trivium.messages.errors import ErrorCode

_SUBJECT: Final = "token"
_AS_CONFIGURED: Final = -1
AT_ONCE: Final = -1


@dataclass(frozen=True, slots=True)
class Token:
    """``hmac`` is its secret: whoever has it is its owner."""

    token_id: str
    owner: str
    renewers: tuple[str, ...]
    issued_at_ms: int
    expires_at_ms: int
    ends_at_ms: int
    """However often it is renewed."""
    hmac: bytes = field(repr=False)


def create_token(
    cluster: Cluster,
    *,
    owner: str | None = None,
    renewers: Sequence[str] = (),
    lifetime_ms: int = _AS_CONFIGURED,
) -> Token:
    """One by which others log in as ``owner``, such as ``User:ann``; None: as oneself."""
    kind, name = _parts(owner) if owner is not None else ("", "")
    answer = cluster.call(
        cluster.controller,
        CreateDelegationTokenRequest(
            owner_principal_type=kind,
            owner_principal_name=name,
            renewers=[
                CreatableRenewers(principal_type=kind, principal_name=name)
                for kind, name in map(_parts, renewers)
            ],
            max_lifetime_ms=lifetime_ms,
        ),
        CreateDelegationTokenResponse,
        codes=lambda response: [response.error_code],
    )
    _check(answer.error_code)
    return Token(
        answer.token_id,
        f"{answer.principal_type}:{answer.principal_name}",
        tuple(renewers),
        answer.issue_timestamp_ms,
        answer.expiry_timestamp_ms,
        answer.max_timestamp_ms,
        answer.hmac,
    )


def describe_tokens(cluster: Cluster, owners: Sequence[str] | None = None) -> list[Token]:
    """Those that one may see, all or of these owners."""
    wanted = None
    if owners is not None:
        wanted = [
            DescribeDelegationTokenOwner(principal_type=kind, principal_name=name)
            for kind, name in map(_parts, owners)
        ]
    answer = cluster.call(
        cluster.controller,
        DescribeDelegationTokenRequest(owners=wanted),
        DescribeDelegationTokenResponse,
        codes=lambda response: [response.error_code],
    )
    _check(answer.error_code)
    return [
        Token(
            each.token_id,
            f"{each.principal_type}:{each.principal_name}",
            tuple(f"{renewer.principal_type}:{renewer.principal_name}" for renewer in each.renewers),
            each.issue_timestamp,
            each.expiry_timestamp,
            each.max_timestamp,
            each.hmac,
        )
        for each in answer.tokens
    ]


def renew_token(cluster: Cluster, hmac: bytes, period_ms: int = _AS_CONFIGURED) -> int:
    """For so long from now on; when it expires then, in milliseconds since 1970."""
    answer = cluster.call(
        cluster.controller,
        RenewDelegationTokenRequest(hmac=hmac, renew_period_ms=period_ms),
        RenewDelegationTokenResponse,
        codes=lambda response: [response.error_code],
    )
    _check(answer.error_code)
    return answer.expiry_timestamp_ms


def expire_token(cluster: Cluster, hmac: bytes, period_ms: int = AT_ONCE) -> int:
    """End it, at once or after so long."""
    answer = cluster.call(
        cluster.controller,
        ExpireDelegationTokenRequest(hmac=hmac, expiry_time_period_ms=period_ms),
        ExpireDelegationTokenResponse,
        codes=lambda response: [response.error_code],
    )
    _check(answer.error_code)
    return answer.expiry_timestamp_ms


def _check(code: int) -> None:
    if code:
        raise Refused(ErrorCode(code), _SUBJECT)


def _parts(principal: str) -> tuple[str, str]:
    kind, _, name = principal.partition(":")
    return kind, name
