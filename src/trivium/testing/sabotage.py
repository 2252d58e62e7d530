"""Makes the faults of ``faults`` happen: around the APIs of a Kafka session, not in it.

Every API gets a ``to_command`` that looks for a fault first. What then is not to be carried out like any
other command becomes a ``Sabotaged`` one, which the engine put in front of the real one knows how to treat:
an answer that is not what the core has said is concluded here (``Call.conclude``), and takes none of the ways
that an API has for its results.
Sessions, core and server know nothing of this: a broker without it has not one instruction more.

Nothing here has a clock or a socket; the broker brings both (``Surroundings``).
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar, Final, TypeVar

from trivium.core.access import Row, for_everybody
from trivium.core.caller import Caller
from trivium.core.commands.command import Command, Engine, Reply
from trivium.core.faults import Fault as CoreFault
from trivium.core.faults import Refused
from trivium.messages.api import api_key, api_name, request_class
from trivium.messages.errors import ErrorCode
from trivium.messages.schema import ListOf, StructType
from trivium.protocols.kafka.api import Answer, Api, Call, NoAnswer
from trivium.protocols.kafka.apis import APIS
from trivium.protocols.kafka.protocol import KafkaProtocol
from trivium.testing.error_answers import recoded, with_code
from trivium.testing.faults import Delay, Disconnect, Effect, Error, Faults, When
from trivium.testing.partial_refusal import IsMeant, names, refuse
from trivium.testing.surroundings import MESSAGE, Surroundings
from trivium.testing.vocabulary import Vocabulary, numbered
from trivium.wire.errors import DecodeError

R = TypeVar("R")

PROTOCOL: Final = "kafka"


def _names_topics(struct: StructType) -> bool:
    for each in struct.fields:
        if "topic" in each.name and "creation" not in each.name:
            return True
        inner = each.type.element if isinstance(each.type, ListOf) else each.type
        if isinstance(inner, StructType) and _names_topics(inner):
            return True
    return False


VOCABULARY: Final = Vocabulary(
    {api_name(key): api_key(key) for key in sorted(APIS)},
    "API that this broker serves",
    numbered(ErrorCode, "Kafka"),
    lambda key: _names_topics(request_class(key)),
)


class Disconnected(DecodeError):
    """Ends a connection in the way that a request does which cannot be read."""


def sabotage(protocol: KafkaProtocol, faults: Faults, surroundings: Surroundings) -> None:
    """Let ``faults`` strike the requests of this protocol from now on."""
    protocol.apis = {key: _sabotaged_api(api, faults, surroundings) for key, api in protocol.apis.items()}
    protocol.engine = SabotagedEngine(protocol.engine, surroundings)


@dataclass(frozen=True, slots=True)
class Sabotaged(Command[Any]):
    """A command that a fault strikes; or an answer that its API has given without one."""

    ROW: ClassVar[Row] = for_everybody("what it stands for has a row of its own")
    api: Api
    call: Call
    effect: Effect
    struck: Command[Any] | Answer
    is_meant: IsMeant | None
    """Which topics, if not all."""


def _sabotaged_api(api: Api, faults: Faults, surroundings: Surroundings) -> Api:
    def to_command(request: Any, call: Call) -> Command[Any] | Answer:
        command = api.to_command(request, call)

        def is_about(topic: str) -> bool:
            return isinstance(command, Command) and names(command, _meant_by(topic, surroundings))

        fault = faults.strike(PROTOCOL, api.key, is_about)
        if fault is None:
            return command
        if isinstance(fault.effect, Disconnect) and fault.effect.when is When.BEFORE:
            raise Disconnected("a test asked for a disconnect")
        is_meant = None if fault.topic is None else _meant_by(fault.topic, surroundings)
        return Sabotaged(api, call, fault.effect, command, is_meant)

    def shortcut(frame: memoryview, at: int, call: Call) -> Command[Any] | None:
        # Only requests that were read as messages are struck; nobody needs the short way then.
        return None if faults.active or api.shortcut is None else api.shortcut(frame, at, call)

    return replace(api, to_command=to_command, shortcut=shortcut)


def _meant_by(name: str, surroundings: Surroundings) -> IsMeant:
    return lambda topic: name == (topic if isinstance(topic, str) else surroundings.topic_name(topic))


class SabotagedEngine:
    """Carries out ``Sabotaged`` commands; all others are the real engine's."""

    def __init__(self, engine: Engine, surroundings: Surroundings) -> None:
        self._engine = engine
        self._surroundings = surroundings

    def execute(self, command: Command[R], caller: Caller, reply: Reply[R]) -> None:
        if isinstance(command, Sabotaged):
            self._strike(command, caller, reply)
        else:
            self._engine.execute(command, caller, reply)

    def _strike(self, command: Sabotaged, caller: Caller, reply: Reply[Any]) -> None:
        effect, surroundings = command.effect, self._surroundings
        if isinstance(effect, Error):
            assert isinstance(effect.code, ErrorCode)
            self._refuse(command, effect.code, caller)
        elif isinstance(effect, Delay):
            seconds = effect.seconds

            def late(step: Callable[[Any], None]) -> Callable[[Any], None]:
                def put_off(what_came_of_it: Any) -> None:
                    surroundings.later(seconds, lambda: step(what_came_of_it))

                return put_off

            self._carry_out(command, caller, late(reply), late(command.call.conclude))
        else:

            def hang_up(_what_came_of_it: object) -> None:
                surroundings.hang_up(caller)

            self._carry_out(command, caller, hang_up, hang_up)

    def _carry_out(
        self,
        command: Sabotaged,
        caller: Caller,
        reply: Reply[Any],
        give: Callable[[Answer], None],
    ) -> None:
        if isinstance(command.struck, Command):
            self._engine.execute(command.struck, caller, reply)
        else:
            give(command.struck)

    def _refuse(self, command: Sabotaged, code: ErrorCode, caller: Caller) -> None:
        struck, call = command.struck, command.call

        def conclude(result: Any, coded: Callable[[Answer, Call, ErrorCode], Answer]) -> None:
            answer = command.api.to_response(result, call)
            call.conclude(answer if isinstance(answer, NoAnswer) else coded(answer, call, code))

        if not isinstance(struck, Command):
            call.conclude(with_code(struck, call, code))
        elif type(struck).refused is Command.refused:
            # The core refuses it to nobody, because it only tells what everybody may know.
            self._engine.execute(struck, caller, lambda result: conclude(result, with_code))
        else:
            why = Refused(CoreFault.INTERNAL, MESSAGE)
            told = partial(conclude, coded=recoded)
            refuse(self._engine, struck, caller, command.is_meant, why, told)
