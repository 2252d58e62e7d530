"""What a session knows of the client at its other end, for those who carry out its commands."""

from typing import TYPE_CHECKING, NamedTuple

from trivium.core.caller import Caller
from trivium.protocols.iggy.arriving import Arriving
from trivium.protocols.iggy.dialect import Dialect
from trivium.protocols.iggy.foresight import Foresight

if TYPE_CHECKING:
    from trivium.protocols.iggy.protocol import IggyProtocol

MESSAGE_BYTES_GUESS = 256
"""What a message is taken to need before the first poll has shown it."""


class Endpoint(NamedTuple):
    """Where a client reaches this node."""

    host: str
    port: int


class Client:
    __slots__ = ("arriving", "caller", "dialect", "foresight", "here", "message_bytes", "protocol")

    def __init__(self, protocol: "IggyProtocol", caller: Caller, here: Endpoint, arriving: Arriving) -> None:
        self.protocol = protocol
        self.caller = caller
        self.here = here
        self.arriving = arriving
        self.dialect = Dialect(protocol.generation, is_pinned=protocol.is_pinned)
        self.message_bytes = MESSAGE_BYTES_GUESS
        """The size of a message in its last poll: so much is read for each that it asks for."""
        self.foresight = Foresight(protocol.ready)
