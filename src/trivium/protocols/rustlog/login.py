"""Login: the connection goes on as a user of the node. RustLog's document has none; this one is ours.

A wrong name and a wrong password are one answer. The connection stays: another login may follow, and the user
that it had before is forgotten only by one that succeeds.
"""

from typing import Final

from trivium.core.commands.users import LoggedIn, LogIn
from trivium.core.faults import Fault
from trivium.protocols.rustlog.call import Call
from trivium.protocols.rustlog.messages import ErrorResponse, LoginRequest, LoginResponse, Problem

WRONG: Final = "The user name or the password is wrong."
NOT_NOW: Final = "Too many logins, or too many that failed from this address: try again in a minute."
FIRST: Final = "Log in first."


def log_in(request: LoginRequest, call: Call) -> None:
    call.wait_for_login()

    def judged(logged_in: LoggedIn) -> None:
        call.become(logged_in)
        if logged_in.fault is None:
            call.answer(LoginResponse())
        else:
            why = NOT_NOW if logged_in.fault is Fault.THROTTLED else WRONG
            call.answer(ErrorResponse(Problem.OTHER, why))

    call.execute(LogIn(request.username, request.password), judged)
