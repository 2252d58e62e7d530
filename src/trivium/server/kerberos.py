"""Kerberos by the library of this machine (package ``gssapi``, the extra ``kerberos``): the core's port
``Tickets``.

The keytab is read by the library when a ticket comes, so that keys may be replaced while the node runs.
Everything happens in a thread of its own: keys are read from a file, and so is what was shown before.
The package is imported only where a listener offers GSSAPI; without it such a node does not start, and says
what to install.
"""

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, TypeVar

from trivium.core.ports import Accepted
from trivium.core.users.kerberos_names import Principal
from trivium.server.configuration.kerberos import KerberosSettings
from trivium.server.errand import Errand
from trivium.server.event_log import events
from trivium.server.listeners import CannotListen
from trivium.server.worker import Worker

if TYPE_CHECKING:
    import gssapi

Result = TypeVar("Result")

WAITING_MAX: Final = 1_000
"""Messages that wait for the thread; one more is refused."""
NICENESS: Final = 10

MISSING: Final = (
    "Clients are to log in by GSSAPI, and there is no package for it: pip install 'trivium[kerberos]', on "
    "Debian after apt install gcc python3-dev libkrb5-dev, or take GSSAPI and its keytab out of the settings."
)


class Keytab:
    """The key that tickets for this node are made with."""

    def __init__(self, settings: KerberosSettings) -> None:
        """``CannotListen``, with a sentence, if there is no such key."""
        try:
            import gssapi
        except ImportError as error:
            raise CannotListen(MISSING) from error
        self.gssapi = gssapi
        try:
            name = gssapi.Name(settings.principal, gssapi.NameType.kerberos_principal)
            principal = Principal.parse(str(name.canonicalize(gssapi.MechType.kerberos)))
            self.credentials = gssapi.Credentials(
                name=name,
                usage="accept",
                mechs=[gssapi.MechType.kerberos],
                store={"keytab": f"FILE:{settings.keytab}"},
            )
        except gssapi.exceptions.GSSError as error:
            raise CannotListen(
                f"{settings.keytab} has no key that can be used for {settings.principal} ({reason(error)}): "
                f"list its keys by klist -k {settings.keytab}."
            ) from error
        if principal is None:
            raise CannotListen(
                f"{settings.principal} is no principal to be known by: write SERVICE/HOST@REALM, such as "
                "kafka/broker.example.com@EXAMPLE.COM."
            )
        self.principal = principal


class KeytabTickets:
    """The core's port ``Tickets``."""

    def __init__(self, loop: asyncio.AbstractEventLoop, keytab: Keytab) -> None:
        self._worker = Worker(loop, "tickets", niceness=NICENESS)
        self._waiting = 0
        self._gssapi = keytab.gssapi
        self._credentials = keytab.credentials

    def accept(self, context: Any, token: bytes, done: Callable[[Accepted | None], None]) -> None:
        self._ask(lambda: self._accepted(context, token), done)

    def wrap(self, context: Any, message: bytes, done: Callable[[bytes | None], None]) -> None:
        self._ask(lambda: bytes(context.wrap(message, False).message), done)

    def unwrap(self, context: Any, message: bytes, done: Callable[[bytes | None], None]) -> None:
        self._ask(lambda: bytes(context.unwrap(message).message), done)

    def close(self) -> None:
        self._worker.close()

    def _ask(self, job: Callable[[], Result], done: Callable[[Result | None], None]) -> None:
        if self._waiting >= WAITING_MAX:
            done(None)
            return
        self._waiting += 1
        errand = Errand()
        errand.hold(self._one_less)

        def answered(result: Result | None) -> None:
            errand.end()
            done(result)

        errand.go(self._worker.run, lambda: self._trusted(job), answered)

    def _one_less(self) -> None:
        self._waiting -= 1

    # -- in the thread ---------------------------------------------------------------------------

    def _accepted(self, context: "gssapi.SecurityContext | None", token: bytes) -> Accepted:
        if context is None:
            context = self._gssapi.SecurityContext(creds=self._credentials, usage="accept")
        answer = context.step(token) or b""
        return Accepted(context, answer, str(context.initiator_name) if context.complete else None)

    def _trusted(self, job: Callable[[], Result]) -> Result | None:
        try:
            return job()
        except self._gssapi.exceptions.GSSError as error:
            text = reason(error)
            events.seldom("a login by Kerberos failed", kind=text, reason=text)
            return None


def reason(error: "gssapi.exceptions.GSSError") -> str:
    """What Kerberos itself says of it, without the numbers around it."""
    texts = error.get_all_statuses(error.min_code, False) or error.get_all_statuses(error.maj_code, True)
    return "; ".join(texts).rstrip(".")
