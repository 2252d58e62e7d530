"""Login: the connection goes on as a user of the node. RustLog's document has none; this one is ours.

A wrong name and a wrong password are one answer. The connection stays: another login may follow, and the user
that it had before is forgotten only by one that succeeds.
"""

from typing import Final

from trivium.core.commands.users import LoggedIn, LogIn
from trivium.protocols.rustlog.call import Call
from trivium.protocols.rustlog.messages import ErrorResponse, LoginRequest, LoginResponse, Problem

WRONG: Final = "The user name or the password is wrong."
FIRST: Final = "Log in first."


def log_in(request: LoginRequest, call: Call) -> None:
    call.wait_for_login()

    def judged(logged_in: LoggedIn) -> None:
        call.become(logged_in)
        call.answer(LoginResponse() if logged_in.fault is None else ErrorResponse(Problem.OTHER, WRONG))

    call.execute(LogIn(request.username, request.password), judged)
