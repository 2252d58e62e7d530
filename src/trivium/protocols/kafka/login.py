"""How a Kafka connection becomes somebody's: SASL, as far as a session has to do with it.

    SaslHandshake      the client chooses a mechanism
    SaslAuthenticate   messages of that mechanism, until the core says who it is; for clients that chose by
                       version 0 of the handshake, these messages are frames without a header

Rules:
- Where a login is required, nothing is served before it but ApiVersions and these two, and nothing larger
  than ``FRAME_BYTES_MAX_BEFORE_LOGIN`` is received (promises S3, S7).
- While a message is being judged nothing else is begun: the next request may be somebody else's.
- A login that fails ends the connection, after its answer. One that was not looked at, because its address
  has failed too often or too many others wait, ends it without: a client takes an answer for the last word
  about its password, and the end of a connection for something to try again.
- A login counts for a time if the listener says so (KIP-368). Then it has to be made again: by the same user,
  with the same mechanism, before anything else is asked.
"""

from collections.abc import Callable
from enum import Enum, auto
from typing import Any, Final, NamedTuple

from trivium.core.commands.sasl import Authenticate, SaslStep
from trivium.core.faults import Fault
from trivium.messages.api import ApiKey

FAILED: Final = "Authentication failed: the credentials are not valid."
"""For everything that can be wrong with them: nobody learns which users there are."""
NOT_NOW: Final = "there are too many logins, or too many that failed from its address"
OF_ANOTHER: Final = "Authentication failed: a connection cannot change its user or its mechanism."

_BEFORE_LOGIN: Final = frozenset((ApiKey.API_VERSIONS, ApiKey.SASL_HANDSHAKE, ApiKey.SASL_AUTHENTICATE))


class Sasl(NamedTuple):
    """What a listener offers."""

    mechanisms: tuple[str, ...]
    is_required: bool
    """Whether nobody is served without."""
    reauthentication_ms: int = 0
    """How long a login counts; 0: as long as the connection."""


class _State(Enum):
    IDLE = auto()
    """No mechanism has been chosen: nobody has logged in yet, or somebody has."""
    CHOSEN = auto()
    """Messages of the mechanism come."""
    JUDGING = auto()
    """The core has one of them."""
    OVER = auto()


class Login:
    def __init__(self, sasl: Sasl, now_ms: Callable[[], int]) -> None:
        self.sasl = sasl
        self._now_ms = now_ms
        self._state = _State.IDLE
        self._mechanism = ""
        self._exchange: Any = None
        self._user: tuple[str, str] | None = None
        """Who has logged in, and how."""
        self._expires_at_ms: int | None = None
        self.takes_frames = False
        """The next frames are messages of the mechanism, without a header."""

    @property
    def is_required(self) -> bool:
        """Whether nothing else is served now."""
        if self._user is None:
            return self.sasl.is_required
        return self._expires_at_ms is not None and self._now_ms() >= self._expires_at_ms

    def admits(self, key: int) -> bool:
        """Whether this API is served now."""
        return key in _BEFORE_LOGIN or not self.is_required

    def choose(self, mechanism: str, version: int) -> bool:
        """Whether this is a mechanism to choose, at a time when one can be chosen."""
        if self._state is not _State.IDLE or mechanism not in self.sasl.mechanisms:
            return False
        self._mechanism = mechanism
        self._exchange = None
        self._state = _State.CHOSEN
        self.takes_frames = version == 0
        return True

    def judge(self, message: bytes) -> Authenticate | None:
        """The command that judges this message; None if none is expected."""
        if self._state is not _State.CHOSEN:
            return None
        self._state = _State.JUDGING
        return Authenticate(self._mechanism, message, self._exchange)

    def judged(self, step: SaslStep) -> str | None:
        """What comes of it: None if all is well so far, else a sentence, and it is over."""
        if step.fault is not None:
            self._state = _State.OVER
            return NOT_NOW if step.fault is Fault.THROTTLED else FAILED
        if step.logged_in is None:
            self._exchange = step.exchange
            self._state = _State.CHOSEN
            return None
        user = (step.logged_in.username, self._mechanism)
        if self._user not in (None, user):
            self._state = _State.OVER
            return OF_ANOTHER
        self._user = user
        self._exchange = None
        self._state = _State.IDLE
        self.takes_frames = False
        return None

    def lifetime_ms(self, step: SaslStep, *, is_known: bool) -> int:
        """How long the login counts that has just been made; 0: as long as the connection.

        ``is_known``: the client has a word for it. Others could not know when to log in again.
        """
        if step.logged_in is None or step.fault is not None:
            return 0
        limits = [each for each in (self.sasl.reauthentication_ms, step.lifetime_ms) if each]
        if not limits:
            return 0
        lifetime_ms = min(limits)
        if is_known or step.lifetime_ms:
            self._expires_at_ms = self._now_ms() + lifetime_ms
        return lifetime_ms
