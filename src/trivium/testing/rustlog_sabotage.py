"""Makes the faults of ``faults`` happen to RustLog's requests: in the table of who carries out which."""

from collections.abc import Callable
from enum import Enum
from typing import Any, Final, TypeVar

from trivium.core.caller import Caller
from trivium.core.commands.command import Command, Reply
from trivium.core.commands.users import LoggedIn
from trivium.protocols.rustlog.call import Call
from trivium.protocols.rustlog.dialect import Dialect
from trivium.protocols.rustlog.messages import ErrorResponse, Problem, Response
from trivium.protocols.rustlog.protocol import RustLogProtocol
from trivium.protocols.rustlog.requests import CARRY_OUT, CarryOut
from trivium.testing.faults import Delay, Error, Faults, When
from trivium.testing.surroundings import MESSAGE, Surroundings
from trivium.testing.vocabulary import Code, Vocabulary, nearest

R = TypeVar("R")

PROTOCOL: Final = "rustlog"
_NAMED: Final = {name: kind for kind, (name, _) in CARRY_OUT.items()}


def _problem(code: Code) -> Enum:
    if isinstance(code, int):
        raise ValueError(f"RustLog's errors have names, and no numbers such as {code}.")
    return Problem[nearest(code, Problem.__members__, "error of RustLog's")]


VOCABULARY: Final = Vocabulary(
    {name: name for name in _NAMED},
    "request of RustLog's that this broker serves",
    _problem,
    lambda name: "topic" in _NAMED[name]._fields,
)


def sabotage_rustlog(protocol: RustLogProtocol, faults: Faults, surroundings: Surroundings) -> None:
    """Let ``faults`` strike the requests of this protocol from now on."""
    protocol.carry_out = {
        kind: (name, _sabotaged(name, carry_out, faults, surroundings))
        for kind, (name, carry_out) in protocol.carry_out.items()
    }


def _sabotaged(name: str, carry_out: CarryOut, faults: Faults, surroundings: Surroundings) -> CarryOut:
    def sabotaged(request: Any, call: Call) -> None:
        topic = getattr(request, "topic", None)
        fault = faults.strike(PROTOCOL, name, lambda meant: meant == topic)
        if fault is None:
            carry_out(request, call)
            return
        effect = fault.effect
        if isinstance(effect, Error):
            assert isinstance(effect.code, Problem)
            partition = getattr(request, "partition", 0)
            call.answer(ErrorResponse(effect.code, MESSAGE, topic or "", partition))
        elif isinstance(effect, Delay):
            seconds = effect.seconds
            carry_out(
                request,
                _Struck(call, lambda answer: surroundings.later(seconds, lambda: call.answer(answer))),
            )
        elif effect.when is When.BEFORE:
            surroundings.hang_up(call.caller)
        else:
            carry_out(request, _Struck(call, lambda _answer: surroundings.hang_up(call.caller)))

    return sabotaged


class _Struck:
    """A call whose answer goes elsewhere."""

    def __init__(self, call: Call, answer: Callable[[Response], object]) -> None:
        self._call = call
        self._answer = answer

    @property
    def protocol(self) -> RustLogProtocol:
        return self._call.protocol

    @property
    def dialect(self) -> Dialect:
        return self._call.dialect

    @property
    def caller(self) -> Caller:
        return self._call.caller

    def execute(self, command: Command[R], reply: Reply[R]) -> None:
        self._call.execute(command, reply)

    def answer(self, response: Response) -> None:
        self._answer(response)

    def wait_for_login(self) -> None:
        self._call.wait_for_login()

    def become(self, logged_in: LoggedIn) -> None:
        self._call.become(logged_in)

    def wait_ms(self, size_bytes: int) -> int:
        return self._call.wait_ms(size_bytes)
