"""A caller that has shown a certificate: known by its name before it says anything."""

from trivium.core.caller import Caller
from trivium.core.commands.command import Engine
from trivium.core.commands.users import LoggedIn, LogInByCertificate
from trivium.wire.errors import DecodeError


def certified(caller: Caller, name: str | None, engine: Engine) -> Caller:
    """The caller by this name, if there is one; ``DecodeError`` if the user may not come in."""
    if name is None:
        return caller
    answers: list[LoggedIn] = []
    engine.execute(LogInByCertificate(name), caller, answers.append)
    (logged_in,) = answers  # at once: there is nothing to be proven any more
    if logged_in.fault is not None:
        raise DecodeError(f"the user of the certificate, {name!r}, may not come in")
    return logged_in.become(caller)
