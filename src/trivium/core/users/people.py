"""Everything about users, put together: what a node needs to know of this folder."""

from collections.abc import Callable

from trivium.core.access import Access
from trivium.core.commands.command import Routes
from trivium.core.ports import Clock, Passwords
from trivium.core.trivium_log import TriviumLog
from trivium.core.users.accounts import Accounts
from trivium.core.users.directory import UserDirectory
from trivium.core.users.founding import Founding
from trivium.core.users.logging_in import LoggingIn, SessionChanged
from trivium.core.users.tokens import Tokens


class People:
    def __init__(
        self,
        users: UserDirectory,
        log: TriviumLog,
        access: Access,
        passwords: Passwords,
        clock: Clock,
        new_token: Callable[[], str],
        session_changed: SessionChanged,
        company_changed: Callable[[bool], None],
    ) -> None:
        self.founding = Founding(users, log, passwords, clock)
        self.routes: Routes = {
            **Accounts(users, log, passwords, access, clock, company_changed).routes,
            **LoggingIn(users, passwords, clock, session_changed).routes,
            **Tokens(users, log, clock, new_token).routes,
        }
