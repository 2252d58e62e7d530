"""By what people show who they are: passwords, tokens that others have signed, tickets of Kerberos.

It owns the threads that check them, which are slow on purpose or wait for others, and must never hold up the
loop. Who somebody is, and what that person may do, is the core's (``core.users``).
"""

import asyncio
from typing import TYPE_CHECKING, Final

from trivium.core.settings import Settings, whole
from trivium.core.timers import Timers
from trivium.server.configuration.configuration import Configuration
from trivium.server.password_queue import PasswordQueue
from trivium.server.worker import Worker

if TYPE_CHECKING:
    from trivium.core.users.authentication import Bearers
    from trivium.core.users.kerberos import Kerberos
    from trivium.core.users.people import Delegating, Failing
    from trivium.server.bearer_tokens import JwksTokens
    from trivium.server.kerberos import Keytab, KeytabTickets
    from trivium.server.passwords import ArgonPasswords

PASSWORD_NICENESS: Final = 10
"""By how much hashing stands back: on a busy machine it gets a tenth of what the loop gets."""


class Credentials:
    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        configuration: Configuration,
        settings: Settings,
        keytab: "Keytab | None",
    ) -> None:
        """``keytab``: where listeners offer GSSAPI."""
        self._loop = loop
        self._configuration = configuration
        self._settings = settings
        self._keytab = keytab
        self._worker = Worker(loop, "passwords", niceness=PASSWORD_NICENESS)
        self._queue = PasswordQueue(loop, self._worker)
        self._jwks: JwksTokens | None = None
        self._tickets: KeytabTickets | None = None

    async def stop(self) -> None:
        """What is being checked is waited for, nothing else."""
        self._queue.clear()
        await self._worker.drain()
        self.end_threads()

    def end_threads(self) -> None:
        self._worker.close()
        if self._jwks is not None:
            self._jwks.close()
        if self._tickets is not None:
            self._tickets.close()

    def passwords(self) -> "ArgonPasswords":
        from trivium.server.passwords import ArgonPasswords

        return ArgonPasswords(self._queue)

    @property
    def delegation_key(self) -> str | None:
        return self._configuration.static_settings.get("delegation.token.secret.key")

    def delegating(self) -> "Delegating":
        from trivium.core.users.people import Delegating

        return Delegating(
            self.delegation_key,
            whole(self._settings.broker, "delegation.token.max.lifetime.ms"),
            whole(self._settings.broker, "delegation.token.expiry.time.ms"),
        )

    def failing(self, timers: Timers) -> "Failing":
        """What becomes of who gets it wrong."""
        from trivium.core.users.people import Failing

        return Failing(
            timers,
            whole(self._settings.broker, "connection.failed.authentication.delay.ms"),
            self._configuration.limits.failed_logins_per_minute,
        )

    def bearers(self) -> "Bearers | None":
        """Who may come in by tokens that others have signed, if anybody."""
        settings = self._configuration.static_settings
        source = settings.get("sasl.oauthbearer.jwks.endpoint.url")
        if source is None:
            return None
        from trivium.core.users.authentication import Bearers
        from trivium.core.users.bearer import BearerRules
        from trivium.server.bearer_tokens import JwksTokens

        audiences = settings.get("sasl.oauthbearer.expected.audience", "").split(",")
        self._jwks = JwksTokens(
            self._loop, source, whole(self._settings.broker, "sasl.oauthbearer.jwks.endpoint.refresh.ms")
        )
        return Bearers(
            self._jwks,
            BearerRules(
                settings.get("sasl.oauthbearer.expected.issuer"),
                frozenset(each.strip() for each in audiences if each.strip()),
                settings.get("sasl.oauthbearer.sub.claim.name", "sub"),
                whole(self._settings.broker, "sasl.oauthbearer.clock.skew.seconds"),
            ),
        )

    def kerberos(self) -> "Kerberos | None":
        """Who may come in by tickets, if anybody."""
        keytab, settings = self._keytab, self._configuration.kerberos
        if keytab is None or settings is None:
            return None
        from trivium.core.users.kerberos import Kerberos
        from trivium.core.users.kerberos_names import LocalNames
        from trivium.server.kerberos import KeytabTickets

        self._tickets = KeytabTickets(self._loop, keytab)
        return Kerberos(
            self._tickets,
            LocalNames.parse(settings.rules, keytab.principal.realm),
            keytab.principal.service,
        )
