"""Delegation tokens: made, renewed, ended and shown, as Kafka has them in its metadata log (KIP-48, KIP-373).

A token is an id that anybody may know and a secret, the HMAC of the id by the node's own key
(``delegation.token.secret.key``). The log holds no secrets: who has it and not the key can log in as nobody.

Who has come in by a token makes no tokens, and looks at none. Expired ones go when a new one is made,
and by themselves (``token_expiry``).
"""

import hmac
from collections.abc import Callable
from typing import Final

from trivium.core.access import Access, Operation, Resource
from trivium.core.caller import ANONYMOUS, Caller
from trivium.core.cluster import Cluster
from trivium.core.commands.command import Reply, Routes
from trivium.core.commands.delegation import (
    CreatedDelegation,
    CreateDelegationToken,
    DelegatedToken,
    DescribedDelegations,
    DescribeDelegationTokens,
    ExpireDelegationToken,
    ProlongedDelegation,
    RenewDelegationToken,
)
from trivium.core.faults import Fault, Refused
from trivium.core.metadata_access import DelegationToken
from trivium.core.refusing import refusing
from trivium.core.users.token_expiry import is_over
from trivium.messages.schema import Message
from trivium.messages.stored.metadata_access import DelegationTokenRecord, RemoveDelegationTokenRecord

TOKENS_MAX: Final = 100_000
"""All of them are held in memory."""
RENEWERS_MAX: Final = 100
_USER: Final = "User:"
_RECORD_VERSION: Final = 0


class Delegation:
    def __init__(
        self,
        cluster: Cluster,
        access: Access,
        new_id: Callable[[], str],
        *,
        key: str | None,
        lifetime_ms_max: int,
        expiry_ms: int,
    ) -> None:
        """Without a ``key`` there are no tokens. One that is not renewed expires after ``expiry_ms``."""
        self._cluster = cluster
        self._access = access
        self._new_id = new_id
        self._key = None if key is None else key.encode()
        self._lifetime_ms_max = lifetime_ms_max
        self._expiry_ms = expiry_ms
        self.routes: Routes = {
            CreateDelegationToken: refusing(self.create),
            RenewDelegationToken: refusing(self.renew),
            ExpireDelegationToken: refusing(self.expire),
            DescribeDelegationTokens: refusing(self.describe),
        }

    # -- logging in ------------------------------------------------------------------------------

    def valid(self, token_id: str) -> DelegationToken | None:
        """The token of this id, if it counts now."""
        token = self._cluster.image.tokens.by_id.get(token_id)
        return None if self._key is None or token is None or self._is_over(token) else token

    def secret_of(self, token_id: str) -> bytes:
        assert self._key is not None
        return hmac.digest(self._key, token_id.encode(), "sha512")

    def remaining_ms(self, token: DelegationToken) -> int:
        return token.expiration_timestamp - self._now_ms

    # -- commands --------------------------------------------------------------------------------

    def create(self, command: CreateDelegationToken, caller: Caller, reply: Reply[CreatedDelegation]) -> None:
        self._check_caller(caller)
        owner = command.owner or caller.principal
        for principal in (owner, *command.renewers):
            if not principal.startswith(_USER) or principal == _USER:
                raise Refused(Fault.INVALID_PRINCIPAL)
        if owner != caller.principal and not self._access.allows(
            caller, Operation.CREATE_TOKENS, Resource.USER, owner
        ):
            raise Refused(Fault.NOT_AUTHORIZED_TOKEN)
        over = [token for token in self._cluster.image.tokens.by_id.values() if self._is_over(token)]
        if len(self._cluster.image.tokens.by_id) - len(over) >= TOKENS_MAX:
            raise Refused(Fault.POLICY_VIOLATION)
        if len(command.renewers) > RENEWERS_MAX:
            raise Refused(Fault.INVALID_REQUEST)
        now_ms = self._now_ms
        lifetime_ms = self._lifetime_ms_max
        if command.lifetime_ms >= 0:
            lifetime_ms = min(lifetime_ms, command.lifetime_ms)
        ends_at_ms = now_ms + lifetime_ms
        token = DelegationToken(
            self._new_id(),
            owner,
            caller.principal,
            tuple(command.renewers),
            now_ms,
            ends_at_ms,
            min(ends_at_ms, now_ms + self._expiry_ms),
        )
        records = [*(RemoveDelegationTokenRecord(token_id=each.token_id) for each in over), _record(token)]
        told = self._told(token)
        self._commit(
            records, lambda fault: reply(CreatedDelegation(fault, None if fault is not None else told))
        )

    def renew(self, command: RenewDelegationToken, caller: Caller, reply: Reply[ProlongedDelegation]) -> None:
        token = self._own(command.hmac, caller)
        period_ms = self._expiry_ms if command.period_ms < 0 else command.period_ms
        self._prolong(token, period_ms, reply)

    def expire(
        self, command: ExpireDelegationToken, caller: Caller, reply: Reply[ProlongedDelegation]
    ) -> None:
        token = self._own(command.hmac, caller)
        if command.period_ms >= 0:
            self._prolong(token, command.period_ms, reply)
            return
        now_ms = self._now_ms
        self._commit(
            [RemoveDelegationTokenRecord(token_id=token.token_id)],
            lambda fault: reply(ProlongedDelegation(fault, now_ms)),
        )

    def describe(
        self, command: DescribeDelegationTokens, caller: Caller, reply: Reply[DescribedDelegations]
    ) -> None:
        self._check_caller(caller)
        wanted = None if command.owners is None else frozenset(command.owners)
        found = [
            self._told(token)
            for token in self._cluster.image.tokens.by_id.values()
            if (wanted is None or token.owner in wanted)
            and not self._is_over(token)
            and self._may_see(token, caller)
        ]
        reply(DescribedDelegations(None, found))

    # -- rules -----------------------------------------------------------------------------------

    @property
    def _now_ms(self) -> int:
        return self._cluster.clock.wall_ms()

    def _is_over(self, token: DelegationToken) -> bool:
        return is_over(token, self._now_ms)

    def _check_caller(self, caller: Caller) -> None:
        if caller.principal == ANONYMOUS or caller.is_by_token:
            raise Refused(Fault.TOKEN_REQUEST_NOT_ALLOWED)
        if self._key is None:
            raise Refused(Fault.TOKENS_DISABLED)

    def _own(self, secret: bytes, caller: Caller) -> DelegationToken:
        """The token with this secret, if the caller may have to do with it."""
        self._check_caller(caller)
        for token in self._cluster.image.tokens.by_id.values():
            if hmac.compare_digest(self.secret_of(token.token_id), secret):
                if caller.principal not in (token.owner, token.requester, *token.renewers):
                    raise Refused(Fault.TOKEN_OF_ANOTHER)
                if self._is_over(token):
                    raise Refused(Fault.TOKEN_EXPIRED)
                return token
        raise Refused(Fault.UNKNOWN_TOKEN)

    def _may_see(self, token: DelegationToken, caller: Caller) -> bool:
        if caller.principal in (token.owner, token.requester, *token.renewers):
            return True
        return self._access.allows(
            caller, Operation.DESCRIBE, Resource.DELEGATION_TOKEN, token.token_id
        ) or self._access.allows(caller, Operation.DESCRIBE_TOKENS, Resource.USER, token.owner)

    def _prolong(self, token: DelegationToken, period_ms: int, reply: Reply[ProlongedDelegation]) -> None:
        expires_at_ms = min(token.max_timestamp, self._now_ms + period_ms)
        self._commit(
            [_record(token._replace(expiration_timestamp=expires_at_ms))],
            lambda fault: reply(ProlongedDelegation(fault, expires_at_ms)),
        )

    def _commit(self, records: list[Message], done: Callable[[Fault | None], None]) -> None:
        self._cluster.commit([(record, _RECORD_VERSION) for record in records], done)

    def _told(self, token: DelegationToken) -> DelegatedToken:
        return DelegatedToken(
            token.token_id,
            token.owner,
            token.requester,
            token.renewers,
            token.issue_timestamp,
            token.expiration_timestamp,
            token.max_timestamp,
            self.secret_of(token.token_id),
        )


def _record(token: DelegationToken) -> Message:
    return DelegationTokenRecord(
        owner=token.owner,
        requester=token.requester,
        renewers=list(token.renewers),
        issue_timestamp=token.issue_timestamp,
        max_timestamp=token.max_timestamp,
        expiration_timestamp=token.expiration_timestamp,
        token_id=token.token_id,
    )
