"""Makes the faults of ``faults`` happen to Iggy's requests: around the commands of a session, not in it.

A command of Iggy's asks the broker once or several times (``exchange``), and its first question says which
topic it is about. A fault strikes before that question is put, so that what is refused has no effect; an
answer that is late or lost is one to a command that was carried out.
"""

from collections.abc import Generator
from dataclasses import dataclass
from typing import Any, ClassVar, Final, TypeVar

from trivium.core.access import Row, for_everybody
from trivium.core.caller import Caller
from trivium.core.commands.command import Command, Engine, Reply
from trivium.core.commands.streams import CreateStreamTopic
from trivium.protocols.iggy.body import Body
from trivium.protocols.iggy.code import Code
from trivium.protocols.iggy.commands import HANDLERS
from trivium.protocols.iggy.exchange import Answer, Call, Exchange, Handler
from trivium.protocols.iggy.protocol import IggyProtocol
from trivium.protocols.iggy.status import Rejected, Status
from trivium.testing.faults import Delay, Effect, Error, Faults, When
from trivium.testing.surroundings import Surroundings
from trivium.testing.vocabulary import Vocabulary, numbered
from trivium.wire.errors import DecodeError

R = TypeVar("R")

PROTOCOL: Final = "iggy"
_ABOUT_TOPICS: Final = frozenset(
    code for code in Code if code >= Code.GET_TOPIC or Code.POLL_MESSAGES <= code < Code.GET_STREAM
) - {Code.GET_TOPICS}
"""Commands that name a topic: those about messages and offsets, and all behind those about streams."""

VOCABULARY: Final = Vocabulary(
    {Code(code).name: code for code in sorted(HANDLERS)},
    "command of Iggy's that this broker serves",
    numbered(Status, "Iggy"),
    _ABOUT_TOPICS.__contains__,
)


@dataclass(frozen=True, slots=True)
class Pause(Command[None]):
    """Go on so much later."""

    ROW: ClassVar[Row] = for_everybody("it does nothing")
    seconds: float


@dataclass(frozen=True, slots=True)
class HangUp(Command[None]):
    """End the caller's connection; there is no reply, because there is nobody to be answered."""

    ROW: ClassVar[Row] = for_everybody("it does nothing")


def sabotage_iggy(protocol: IggyProtocol, faults: Faults, surroundings: Surroundings) -> None:
    """Let ``faults`` strike the requests of this protocol from now on."""
    protocol.handlers = {
        code: _sabotaged(code, handler, faults, surroundings) for code, handler in protocol.handlers.items()
    }
    protocol.engine = PausingEngine(protocol.engine, surroundings)


class PausingEngine:
    """Pauses and hangs up; everything else is the real engine's."""

    def __init__(self, engine: Engine, surroundings: Surroundings) -> None:
        self._engine = engine
        self._surroundings = surroundings

    def execute(self, command: Command[R], caller: Caller, reply: Reply[R]) -> None:
        if isinstance(command, Pause):
            self._surroundings.later(command.seconds, lambda: reply(None))  # type: ignore[arg-type]
        elif isinstance(command, HangUp):
            self._surroundings.hang_up(caller)
        else:
            self._engine.execute(command, caller, reply)


def _sabotaged(code: int, handler: Handler, faults: Faults, surroundings: Surroundings) -> Handler:
    def sabotaged(body: Body, call: Call) -> Exchange:
        exchange = handler(body, call)
        return _watched(code, exchange, faults, surroundings) if faults.active else exchange

    return sabotaged


def _watched(code: int, exchange: Exchange, faults: Faults, surroundings: Surroundings) -> Exchange:
    """The exchange, and what a fault makes of it."""
    first: Command[Any] | None = None
    answer: Answer = b""
    try:
        first = next(exchange)
    except StopIteration as end:
        answer = end.value
    fault = faults.strike(PROTOCOL, code, lambda topic: topic == _topic_of(first, surroundings))
    if fault is None:
        return answer if first is None else (yield from _rest(exchange, first))
    return (yield from _struck(fault.effect, exchange, first, answer))


def _struck(effect: Effect, exchange: Exchange, first: Command[Any] | None, answer: Answer) -> Exchange:
    if isinstance(effect, Error):
        exchange.close()
        assert isinstance(effect.code, Status)
        raise Rejected(effect.code)
    if not isinstance(effect, Delay) and effect.when is When.BEFORE:
        yield HangUp()
    refusal: Rejected | DecodeError | None = None
    try:
        if first is not None:
            answer = yield from _rest(exchange, first)
    except (Rejected, DecodeError) as error:
        refusal = error
    yield Pause(effect.seconds) if isinstance(effect, Delay) else HangUp()
    if refusal is not None:
        raise refusal
    return answer


def _rest(exchange: Exchange, question: Command[Any]) -> Generator[Command[Any], Any, Answer]:
    """Go on with an exchange whose next question is already known."""
    while True:
        result = yield question
        try:
            question = exchange.send(result)
        except StopIteration as end:
            rest: Answer = end.value
            return rest


def _topic_of(command: Command[Any] | None, surroundings: Surroundings) -> str | None:
    """What the topic of a question is called in Kafka."""
    if isinstance(command, CreateStreamTopic):
        return surroundings.name_in_kafka(command.stream, command.name)
    stream, topic = getattr(command, "stream", None), getattr(command, "topic", None)
    return None if stream is None or topic is None else surroundings.name_in_kafka(stream, topic)
