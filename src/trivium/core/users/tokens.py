"""Personal access tokens: a user's own, to log in with instead of its password. Only hashes are kept."""

from collections.abc import Callable

from trivium.core.caller import Caller
from trivium.core.commands.command import Reply, Routes
from trivium.core.commands.users import (
    CreatedToken,
    CreateToken,
    DeleteToken,
    ListedTokens,
    ListTokens,
    TokenFacts,
)
from trivium.core.faults import Fault, Refused
from trivium.core.ports import Clock
from trivium.core.refusing import refusing
from trivium.core.trivium_log import Change, TriviumLog
from trivium.core.users.directory import UserDirectory, token_change, token_key
from trivium.core.users.logging_in import token_hash
from trivium.core.users.user import TOKENS_PER_USER_MAX, Token, User, check_token_name

EXPIRY_US_MAX = (1 << 63) - 1
"""What would expire later never does."""


class Tokens:
    def __init__(
        self, users: UserDirectory, log: TriviumLog, clock: Clock, new_token: Callable[[], str]
    ) -> None:
        self._users = users
        self._log = log
        self._clock = clock
        self._new_token = new_token
        self.routes: Routes = {
            CreateToken: refusing(self.create),
            ListTokens: refusing(self.list_tokens),
            DeleteToken: refusing(self.delete),
        }

    def create(self, command: CreateToken, caller: Caller, reply: Reply[CreatedToken]) -> None:
        user = self._caller(caller)
        check_token_name(command.name)
        now_us = self._clock.wall_ms() * 1000
        tokens = self._users.tokens_of(user.user_id)
        expired = [token for token in tokens if token.is_expired(now_us)]
        if any(token.name == command.name for token in tokens if token not in expired):
            raise Refused(Fault.TOKEN_EXISTS)
        if len(tokens) - len(expired) >= TOKENS_PER_USER_MAX:
            raise Refused(Fault.TOKENS_LIMIT_REACHED)
        text = self._new_token()
        expires_at_us = now_us + command.lifetime_us if command.lifetime_us else 0
        if expires_at_us > EXPIRY_US_MAX:
            expires_at_us = 0
        new = Token(user.user_id, command.name, token_hash(text), expires_at_us)
        changes: list[Change] = [*((token_key(token), None) for token in expired), token_change(new)]
        self._log.commit(
            changes, lambda fault: reply(CreatedToken(None, text) if fault is None else CreatedToken(fault))
        )

    def list_tokens(self, command: ListTokens, caller: Caller, reply: Reply[ListedTokens]) -> None:
        tokens = self._users.tokens_of(self._caller(caller).user_id)
        reply(ListedTokens(None, [TokenFacts(token.name, token.expires_at_us) for token in tokens]))

    def delete(self, command: DeleteToken, caller: Caller, reply: Reply[Fault | None]) -> None:
        token = self._users.token(self._caller(caller).user_id, command.name)
        if token is None:
            raise Refused(Fault.UNKNOWN_TOKEN)
        self._log.commit([(token_key(token), None)], reply)

    def _caller(self, caller: Caller) -> User:
        if caller.user_id is None:
            raise Refused(Fault.NOT_AUTHENTICATED)
        user = self._users.find(caller.user_id)
        if user is None:
            raise Refused(Fault.USER_REMOVED)
        return user
