"""One request on its way: what those who carry it out need besides the request itself."""

from typing import TYPE_CHECKING, Protocol, TypeVar

from trivium.core.caller import Caller
from trivium.core.commands.command import Command, Reply
from trivium.core.commands.users import LoggedIn
from trivium.protocols.rustlog.dialect import Dialect
from trivium.protocols.rustlog.messages import Response

if TYPE_CHECKING:
    from trivium.protocols.rustlog.protocol import RustLogProtocol

R = TypeVar("R")


class Call(Protocol):
    @property
    def protocol(self) -> "RustLogProtocol": ...
    @property
    def dialect(self) -> Dialect: ...
    @property
    def caller(self) -> Caller: ...

    def execute(self, command: Command[R], reply: Reply[R]) -> None:
        """Have the engine carry out a command in the caller's name."""
        ...

    def answer(self, response: Response) -> None:
        """Once, now or later."""
        ...

    def wait_for_login(self) -> None:
        """Begin nothing else until ``become``."""
        ...

    def become(self, logged_in: LoggedIn) -> None:
        """The caller from now on, if the login has succeeded."""
        ...

    def wait_ms(self, size_bytes: int) -> int:
        """How long this consumer has to wait for so many bytes."""
        ...
