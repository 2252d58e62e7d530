"""Everything about users, put together: what a node needs to know of this folder."""

from collections.abc import Callable
from typing import NamedTuple

from trivium.core.access import Access
from trivium.core.cluster import Cluster
from trivium.core.commands.command import Routes
from trivium.core.ports import Clock, Passwords
from trivium.core.timers import Timers
from trivium.core.trivium_log import TriviumLog
from trivium.core.users.accounts import Accounts
from trivium.core.users.attempts import Attempts, told_late
from trivium.core.users.authentication import Authentication, Bearers
from trivium.core.users.credentials import ScramStore
from trivium.core.users.delegation import Delegation
from trivium.core.users.directory import UserDirectory
from trivium.core.users.founding import Founding
from trivium.core.users.kerberos import Kerberos
from trivium.core.users.logging_in import LoggingIn, SessionChanged
from trivium.core.users.tokens import Tokens


class Chance(NamedTuple):
    """What must not be guessed, and so comes from outside."""

    new_token: Callable[[], str]
    new_nonce: Callable[[], str]
    new_id: Callable[[], str]
    """Of a delegation token: it need not be secret."""
    decoy_key: bytes
    """The same for as long as the node runs (``scram``)."""


class Delegating(NamedTuple):
    """How delegation tokens are made (``delegation.token.*``)."""

    key: str | None = None
    """None: not at all."""
    lifetime_ms_max: int = 0
    expiry_ms: int = 0

    def __repr__(self) -> str:
        return "Delegating()"


class Failing(NamedTuple):
    """What becomes of logins that fail (``attempts``)."""

    timers: Timers
    delay_ms: int = 0
    per_minute_max: int = 0


class People:
    def __init__(
        self,
        users: UserDirectory,
        log: TriviumLog,
        cluster: Cluster,
        access: Access,
        passwords: Passwords,
        clock: Clock,
        chance: Chance,
        delegating: Delegating,
        failing: Failing,
        session_changed: SessionChanged,
        company_changed: Callable[[bool], None],
        bearers: Bearers | None = None,
        kerberos: Kerberos | None = None,
    ) -> None:
        credentials = ScramStore(cluster, users, access)
        attempts = Attempts(clock, failing.per_minute_max)
        logging_in = LoggingIn(users, passwords, attempts, clock, session_changed)
        delegation = Delegation(cluster, access, chance.new_id, **delegating._asdict())
        self.founding = Founding(users, log, passwords, credentials, clock)
        routes: Routes = {
            **Accounts(users, log, passwords, credentials, access, clock, company_changed).routes,
            **logging_in.routes,
            **Tokens(users, log, clock, chance.new_token).routes,
            **credentials.routes,
            **delegation.routes,
            **Authentication(
                logging_in,
                credentials,
                delegation,
                passwords,
                attempts,
                bearers,
                clock,
                chance.new_nonce,
                chance.decoy_key,
                kerberos,
            ).routes,
        }
        self.routes = told_late(routes, failing.timers, failing.delay_ms)
