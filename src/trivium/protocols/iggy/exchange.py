"""The form of a command: a generator that asks the broker as often as it must, then answers.

``poll`` asks where to read, reads, and stores an offset; most others ask once. Whatever stands in the frame
is read before the first question: its bytes are gone when an answer comes later.

    def handler(body, call):
        stream = call.stream(body.identifier())
        described = yield from ask(DescribeStream(stream))
        return layout.stream(described, call)

A handler that raises ``Rejected`` is answered with that status, one that raises ``DecodeError`` with an
invalid command; the connection stays in step either way.
"""

from collections.abc import Callable, Generator, Sequence
from typing import Any, TypeVar

from trivium.core.commands.command import Act, Command
from trivium.core.faults import Fault
from trivium.protocols.iggy.body import Body, Identifier
from trivium.protocols.iggy.client import Client
from trivium.protocols.iggy.status import REFUSED_RIGHTS, STATUS, STATUS_BY_NAME, Rejected
from trivium.wire.buffer import Buffer

R = TypeVar("R")

Answer = bytes | Sequence[Buffer]
"""The payload: nothing, bytes, or bytes in several pieces."""
Exchange = Generator[Command[Any], Any, Answer]
Handler = Callable[[Body, "Call"], Exchange]

EMPTY = b""
"""Done; or: there is no such thing."""


def ask(command: Command[R]) -> Generator[Command[Any], Any, R]:
    result: R = yield command
    return result


def carry_out(command: Act, call: "Call") -> Exchange:
    """A command that has no result but that it is done."""
    call.require((yield from ask(command)))
    return EMPTY


class Call:
    """One request: whose it is, and by what it names things."""

    __slots__ = ("_named", "client")

    def __init__(self, client: Client) -> None:
        self.client = client
        self._named: set[Fault] = set()

    # -- numbers that the client counts in its own way -------------------------------------------

    def number(self, shown: int) -> int:
        """A number of the client's, as the core counts. Its 0 may become -1: there is no such thing."""
        return shown - self.client.dialect.number_first

    def shown(self, number: int) -> int:
        return number + self.client.dialect.number_first

    def stream(self, identifier: Identifier) -> int | str:
        return self._reference(identifier, Fault.UNKNOWN_STREAM)

    def topic(self, identifier: Identifier) -> int | str:
        return self._reference(identifier, Fault.UNKNOWN_STREAM_TOPIC)

    def group(self, identifier: Identifier) -> int | str:
        return self._reference(identifier, Fault.UNKNOWN_STREAM_GROUP)

    def user(self, identifier: Identifier) -> int | str:
        return identifier if isinstance(identifier, str) else self.number(identifier)

    def _reference(self, identifier: Identifier, fault_if_unknown: Fault) -> int | str:
        if isinstance(identifier, str):
            self._named.add(fault_if_unknown)
            return identifier
        return self.number(identifier)

    # -- refusals --------------------------------------------------------------------------------

    def status(self, fault: Fault) -> int:
        if fault in self._named and self.client.dialect.counts_from_one:
            return STATUS_BY_NAME[fault]
        return STATUS[fault]

    def require(self, fault: Fault | None) -> None:
        """Go on if there is no fault; else it is the answer."""
        if fault is not None:
            raise Rejected(self.status(fault))

    def require_or_hide(self, fault: Fault | None, *absent: Fault) -> None:
        """The same for who only looks at something: if it is ``absent`` that is no error, and old clients are
        told so, too, if they have no right to see it.
        """
        if fault in absent or (fault in REFUSED_RIGHTS and self.client.dialect.hides_refusals):
            return
        self.require(fault)
