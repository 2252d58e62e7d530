"""SASL: from what a peer says of itself to who it is, one step at a time.

    PLAIN             name and password, checked against the hash of the directory
    SCRAM-SHA-256     ``scram``, by the credentials of the metadata log, or by a delegation token
    SCRAM-SHA-512
    OAUTHBEARER       ``bearer``, by a token that somebody else has signed
    GSSAPI            ``kerberos``, by a ticket

Whatever goes wrong is one answer, ``INVALID_CREDENTIALS``: a wrong name, a wrong password, a message that is
none. Only who has proven itself hears that its user is inactive. What is dear to check is ``THROTTLED`` for
an address that has failed too often, and when too many others wait.
"""

from base64 import b64encode
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from trivium.core.caller import Caller
from trivium.core.commands.command import Reply, Routes
from trivium.core.commands.sasl import Authenticate, SaslStep
from trivium.core.commands.users import LoggedIn, LogIn
from trivium.core.faults import Fault
from trivium.core.metadata_access import ScramCredential, ScramMechanism
from trivium.core.ports import Asker, BearerTokens, Clock, Passwords
from trivium.core.users import scram
from trivium.core.users.attempts import Attempts
from trivium.core.users.bearer import OAUTHBEARER, BearerRules, judge, read_message
from trivium.core.users.credentials import ScramStore
from trivium.core.users.delegation import Delegation
from trivium.core.users.kerberos import GSSAPI, Kerberos, Progress
from trivium.core.users.logging_in import LoggingIn

PLAIN: Final = "PLAIN"
PLAIN_BYTES_MAX: Final = 4_096


class Bearers(NamedTuple):
    """Who says whether a bearer's token is signed, and what it has to say."""

    tokens: BearerTokens
    rules: BearerRules


Step = Callable[[Authenticate, Caller, Reply[SaslStep]], None]

_FAILED: Final = SaslStep(Fault.INVALID_CREDENTIALS)
_THROTTLED: Final = SaslStep(Fault.THROTTLED)


class Authentication:
    def __init__(
        self,
        logging_in: LoggingIn,
        credentials: ScramStore,
        delegation: Delegation,
        passwords: Passwords,
        attempts: Attempts,
        bearers: Bearers | None,
        clock: Clock,
        new_nonce: Callable[[], str],
        decoy_key: bytes,
        kerberos: Kerberos | None = None,
    ) -> None:
        """``decoy_key`` is secret and the same for as long as the node runs. Without ``bearers`` there is no
        OAUTHBEARER, without ``kerberos`` no GSSAPI.
        """
        self._logging_in = logging_in
        self._credentials = credentials
        self._delegation = delegation
        self._passwords = passwords
        self._attempts = attempts
        self._bearers = bearers
        self._clock = clock
        self._new_nonce = new_nonce
        self._decoy_key = decoy_key
        self._kerberos = kerberos
        self._steps: Mapping[str, Step] = {
            PLAIN: self._plain,
            **dict.fromkeys(scram.MECHANISMS, self._scram),
            **({} if bearers is None else {OAUTHBEARER: self._bearer}),
            **({} if kerberos is None else {GSSAPI: self._ticket}),
        }
        self.routes: Routes = {Authenticate: self.step}

    def step(self, command: Authenticate, caller: Caller, reply: Reply[SaslStep]) -> None:
        step = self._steps.get(command.mechanism)
        if step is None:
            reply(SaslStep(Fault.UNKNOWN_MECHANISM))
        else:
            step(command, caller, reply)

    def _plain(self, command: Authenticate, caller: Caller, reply: Reply[SaslStep]) -> None:
        """authzid NUL name NUL password; the first may be left out, or be the name."""
        try:
            parts = command.message.decode().split("\0")
        except UnicodeDecodeError:
            parts = []
        if len(parts) != 3 or len(command.message) > PLAIN_BYTES_MAX or parts[0] not in ("", parts[1]):
            reply(_FAILED)
            return
        _, username, password = parts
        self._logging_in.log_in(LogIn(username, password), caller, lambda logged_in: reply(_ended(logged_in)))

    def _bearer(self, command: Authenticate, caller: Caller, reply: Reply[SaslStep]) -> None:
        assert self._bearers is not None
        tokens, rules = self._bearers
        found = read_message(command.message)
        if found is None:
            reply(_FAILED)
            return
        if self._attempts.are_used_up(caller.host):
            reply(_THROTTLED)
            return
        token, authzid = found

        def judged(claims: Mapping[str, Any] | None) -> None:
            bearer = None if claims is None else judge(claims, authzid, rules, self._clock.wall_ms())
            if bearer is None:
                self._attempts.failed(caller.host)
                reply(_FAILED)
                return
            step = _ended(self._logging_in.welcome(bearer.username, caller))
            reply(step._replace(lifetime_ms=bearer.lifetime_ms))

        tokens.claims(token, judged)

    def _ticket(self, command: Authenticate, caller: Caller, reply: Reply[SaslStep]) -> None:
        assert self._kerberos is not None
        if self._attempts.are_used_up(caller.host):
            reply(_THROTTLED)
            return

        def judged(progress: Progress) -> None:
            if progress.username is not None:
                reply(_ended(self._logging_in.welcome(progress.username, caller)))
            elif progress.exchange is not None:
                reply(SaslStep(answer=progress.answer, exchange=progress.exchange))
            else:
                self._attempts.failed(caller.host)
                reply(_FAILED)

        self._kerberos.step(command.exchange, command.message, judged)

    def _scram(self, command: Authenticate, caller: Caller, reply: Reply[SaslStep]) -> None:
        try:
            if command.exchange is None:
                self._begin_scram(scram.MECHANISMS[command.mechanism], command.message, caller, reply)
            else:
                answer = scram.finish(command.exchange, command.message)
                reply(self._proven(command.exchange, answer, caller))
        except scram.Broken:
            if command.exchange is not None and command.exchange.is_token:
                self._attempts.failed(caller.host)
            reply(_FAILED)

    def _begin_scram(
        self, mechanism: ScramMechanism, message: bytes, caller: Caller, reply: Reply[SaslStep]
    ) -> None:
        first = scram.read_first(message)

        def begin(credential: ScramCredential | None) -> None:
            answer, exchange = scram.begin(mechanism, first, credential, self._new_nonce(), self._decoy_key)
            reply(SaslStep(answer=answer, exchange=exchange))

        if not first.is_token:
            begin(self._credentials.of(first.username).get(mechanism))
            return
        # The secret of a token is its password. A token that does not count takes the same work.
        if self._attempts.are_used_up(caller.host):
            reply(_THROTTLED)
            return
        token_id = first.username
        is_valid = self._delegation.valid(token_id) is not None
        password = b64encode(self._delegation.secret_of(token_id)).decode() if is_valid else ""
        salt = scram.salt_of(mechanism, token_id, self._decoy_key)

        def salted(made: ScramCredential | None) -> None:
            if made is None:
                reply(_THROTTLED)
            else:
                begin(made if is_valid else None)

        self._passwords.salt(mechanism, password, salt, Asker(token_id, caller.host), salted)

    def _proven(self, exchange: scram.Exchange, answer: bytes, caller: Caller) -> SaslStep:
        if exchange.is_token:
            token = self._delegation.valid(exchange.username)
            if token is None:
                return _FAILED
            logged_in = self._logging_in.welcome(token.owner.partition(":")[2], caller)
            step = _ended(logged_in._replace(is_by_token=True), answer)
            return step._replace(lifetime_ms=self._delegation.remaining_ms(token))
        if self._credentials.of(exchange.username).get(exchange.mechanism) != exchange.credential:
            # It was changed or taken away meanwhile: what has been proven is worth nothing any more.
            return _FAILED
        return _ended(self._logging_in.welcome(exchange.username, caller), answer)


def _ended(logged_in: LoggedIn, answer: bytes = b"") -> SaslStep:
    if logged_in.fault is not None:
        return SaslStep(logged_in.fault)
    return SaslStep(answer=answer, logged_in=logged_in)
