"""GSSAPI (RFC 4752): a login by a Kerberos ticket.

    client   token                            -> server   token       until both have a context
    client   nothing                          -> server   wrapped: 1 octet of layers, 3 octets of size
    client   wrapped: 1 octet, 3 octets, name -> server   nothing, and it is done

Rules:
- The tokens are judged by a port (``ports.Tickets``), in another thread: keys are read, and replays are
  looked for on disk.
- No security layer is offered, and so none may be chosen: TLS is what encrypts here.
- Who it is, is what the ticket says, shortened by ``kerberos_names``. A name that the client adds may say the
  same and nothing else; Python's clients write the service there that they have asked for, and may.
- Whatever goes wrong is one answer, without a reason.
"""

from collections.abc import Callable
from enum import Enum, auto
from typing import Any, Final, NamedTuple

from trivium.core.ports import Accepted, Tickets
from trivium.core.users.kerberos_names import LocalNames

GSSAPI: Final = "GSSAPI"
TOKENS_MAX: Final = 4
"""Until there is a context. Kerberos needs one, or two where it is asked to."""

_NO_LAYER: Final = 1
_OFFER: Final = bytes((_NO_LAYER, 0, 0, 0))
"""Without a layer no size may be named."""


class _Awaits(Enum):
    TOKEN = auto()
    NOTHING = auto()
    """The client has what it needs to have a context, too."""
    CHOICE = auto()


class Exchange(NamedTuple):
    """What lies between two steps."""

    awaits: _Awaits
    context: Any
    tokens: int
    principal: str = ""


class Progress(NamedTuple):
    """One step further. ``username``: it is done. Without ``exchange`` and ``username`` it has failed."""

    answer: bytes = b""
    exchange: Exchange | None = None
    username: str | None = None


FAILED: Final = Progress()

Then = Callable[[Progress], None]


class Kerberos:
    """``service``: what this node is called in tickets, such as kafka."""

    def __init__(self, tickets: Tickets, names: LocalNames, service: str) -> None:
        self._tickets = tickets
        self._names = names
        self._service = service

    def step(self, exchange: Exchange | None, message: bytes, then: Then) -> None:
        """Judge one message of a client; ``then`` is told what comes of it, now or later."""
        if exchange is None:
            self._accept(Exchange(_Awaits.TOKEN, None, 0), message, then)
        elif exchange.awaits is _Awaits.TOKEN:
            self._accept(exchange, message, then)
        elif exchange.awaits is _Awaits.CHOICE:
            self._choose(exchange, message, then)
        elif message:
            then(FAILED)
        else:
            self._offer(exchange, then)

    def _accept(self, exchange: Exchange, token: bytes, then: Then) -> None:
        if not token or exchange.tokens >= TOKENS_MAX:
            then(FAILED)
            return

        def accepted(found: Accepted | None) -> None:
            if found is None:
                then(FAILED)
                return
            awaits = _Awaits.TOKEN if found.principal is None else _Awaits.NOTHING
            onward = Exchange(awaits, found.context, exchange.tokens + 1, found.principal or "")
            if found.answer or awaits is _Awaits.TOKEN:
                then(Progress(found.answer, onward))
            else:
                self._offer(onward, then)

        self._tickets.accept(exchange.context, token, accepted)

    def _offer(self, exchange: Exchange, then: Then) -> None:
        def wrapped(offer: bytes | None) -> None:
            onward = exchange._replace(awaits=_Awaits.CHOICE)
            then(FAILED if offer is None else Progress(offer, onward))

        self._tickets.wrap(exchange.context, _OFFER, wrapped)

    def _choose(self, exchange: Exchange, message: bytes, then: Then) -> None:
        def unwrapped(choice: bytes | None) -> None:
            username = self._names.name_of(exchange.principal)
            if (
                username is None
                or choice is None
                or not self._is_lawful(choice, exchange.principal, username)
            ):
                then(FAILED)
            else:
                then(Progress(username=username))

        self._tickets.unwrap(exchange.context, message, unwrapped)

    def _is_lawful(self, choice: bytes, principal: str, username: str) -> bool:
        if len(choice) < len(_OFFER) or choice[0] != _NO_LAYER:
            return False
        try:
            name = choice[len(_OFFER) :].decode()
        except UnicodeDecodeError:
            return False
        return name in ("", principal, username) or name.startswith(f"{self._service}@")
