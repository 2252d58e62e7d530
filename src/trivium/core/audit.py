"""What an audit is told: who came in or did not, and what each was allowed or not, with the reason.

Every decision about a right and every proof of identity passes here (mission 003.36), whatever the door.
What is told never holds a secret (S15): names, addresses and reasons, and no field of a command besides the
name that somebody claims. What is done with it, and how much of it is kept, is the ``Witness``'s to say.
"""

from collections.abc import Callable
from typing import Any, Protocol

from trivium.core.acls.entry import Operation
from trivium.core.caller import Caller
from trivium.core.commands.command import Command, Handler, Routes
from trivium.core.commands.sasl import Authenticate, SaslStep
from trivium.core.commands.users import LoggedIn, LogIn, LogInByCertificate, LogInWithToken
from trivium.core.rights import Resource

Reason = Callable[[Caller, Operation, Resource, str], str]
"""Why it was decided so: worked out only for those who write it down."""


class Witness(Protocol):
    def decided(
        self,
        caller: Caller,
        operation: Operation,
        resource: Resource,
        name: str,
        is_allowed: bool,
        reason: Reason,
    ) -> None: ...

    def came(self, caller: Caller, method: str, claimed: str, why_not: str | None) -> None:
        """Somebody has tried to prove who it is: ``claimed``, if that is known. None: and it is."""
        ...


def watched(routes: Routes, witness: Witness) -> Routes:
    """The same, and the witness hears of every login among them."""
    return {
        kind: _telling(handler, witness) if kind in _METHODS else handler for kind, handler in routes.items()
    }


_METHODS: dict[type[Command[Any]], str] = {
    LogIn: "password",
    LogInWithToken: "token",
    LogInByCertificate: "certificate",
    Authenticate: "sasl",
}


def _telling(handler: Handler, witness: Witness) -> Handler:
    def handle(command: Command[Any], caller: Caller, reply: Callable[[Any], None]) -> None:
        def told(result: LoggedIn | SaslStep) -> None:
            _tell(command, caller, result, witness)
            reply(result)

        handler(command, caller, told)

    return handle


def _tell(command: Command[Any], caller: Caller, result: LoggedIn | SaslStep, witness: Witness) -> None:
    claimed: str = getattr(command, "username", "")
    method = _METHODS[type(command)]
    if isinstance(command, Authenticate):
        method = f"sasl {command.mechanism}"
    if result.fault is not None:
        witness.came(caller, method, claimed, result.fault.name.lower().replace("_", " "))
        return
    logged_in = result if isinstance(result, LoggedIn) else result.logged_in
    if logged_in is not None:
        witness.came(caller, method, logged_in.username or claimed, None)
