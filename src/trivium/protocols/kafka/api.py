"""The form of an API: its versions, how a request becomes a command, how a result becomes a response."""

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum, auto
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from trivium.core.caller import Caller
from trivium.core.commands.command import Command
from trivium.core.commands.topics import Node
from trivium.messages.api import ApiKey, request_class, response_class
from trivium.messages.extensions import ExtensionKey
from trivium.messages.header import request_header_version, response_header_version
from trivium.messages.schema import Request, Response

if TYPE_CHECKING:
    from trivium.core.commands.sasl import SaslStep
    from trivium.protocols.kafka.login import Login
    from trivium.protocols.kafka.protocol import KafkaProtocol


class Endpoint(NamedTuple):
    """Where a client reaches a broker."""

    host: str
    port: int


@dataclass(slots=True)
class Call:
    """One request on its way: what its API needs besides the message itself."""

    request: Any
    version: int
    caller: Caller
    protocol: "KafkaProtocol"
    here: Endpoint
    """How this client reaches this broker."""
    state: Any = None
    """What ``to_command`` wants ``to_response`` to know."""

    def introduce(self, software_name: str, software_version: str) -> None:
        """The client has said what it is; its session remembers it."""

    @property
    def login(self) -> "Login | None":
        """How this client may log in; None where it may not."""
        return None

    def wait_for_login(self) -> None:
        """Begin nothing else until ``login_judged``."""

    def login_judged(self, step: "SaslStep", reason: str | None) -> None:
        """The client is somebody, or has more to say; with a ``reason`` its connection ends."""

    def fetch_bytes_max(self, asked: int) -> int:
        """How much of what is asked for may be read at once."""
        return asked

    def conclude(self, answer: "Answer | NoAnswer") -> None:
        """Answer with this instead of with what comes of the command's result; once, now or later."""
        raise NotImplementedError

    def endpoint(self, node: Node) -> Endpoint:
        if node.host is None or node.port is None:
            return self.here
        return Endpoint(node.host, node.port)


class NoAnswer(Enum):
    """What ``to_response`` gives instead of a response."""

    SILENCE = auto()
    """The client wants no answer."""
    HANG_UP = auto()
    """The client wants no answer and must know that something went wrong: the connection is closed."""


Answer = Response | bytes
"""What leaves: a message, or the bytes of one that were encoded before."""


class Withholding(NamedTuple):
    """How a result is kept back from a client that has read more than it may."""

    size_bytes: Callable[[Any], int]
    """Of what would be read."""
    empty: Callable[[Call], Response]
    """What leaves instead."""


@dataclass(frozen=True, slots=True)
class Api:
    """``to_command`` may answer by itself, without a command."""

    key: ApiKey | ExtensionKey
    version_min: int
    version_last: int
    to_command: Callable[[Any, Call], Command[Any] | Answer]
    to_response: Callable[[Any, Call], Answer | NoAnswer]
    shortcut: Callable[[memoryview, int, Call], Command[Any] | None] | None = None
    """Reads the commonest requests from a position of the frame on, without the message between; None for all
    others."""
    form: Callable[[Any, Call], bytes | None] | None = None
    """The same for answers: the bytes of the commonest, without the message between."""
    withholding: Withholding | None = None
    request: type[Request] = field(init=False)
    flexible_since: int = field(init=False)
    """The first version whose request header has tagged fields."""
    tagged_answer_since: int = field(init=False)
    """The same for the header of the response."""

    def __post_init__(self) -> None:
        request, response = request_class(self.key), response_class(self.key)
        assert self.version_min in request.VERSIONS
        assert self.version_last in request.VERSIONS
        # A frozen class is filled like this, here and nowhere else.
        put = partial(object.__setattr__, self)
        put("request", request)
        put("flexible_since", self._first(lambda each: request_header_version(request, each) > 1))
        put("tagged_answer_since", self._first(lambda each: response_header_version(response, each) > 0))

    def _first(self, is_flexible: Callable[[int], bool]) -> int:
        versions = range(self.version_min, self.version_last + 1)
        return next((version for version in versions if is_flexible(version)), versions.stop)
