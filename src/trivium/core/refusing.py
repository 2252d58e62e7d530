"""Handlers that may raise ``Refused`` before they have replied: the refusal becomes the reply."""

from collections.abc import Callable
from typing import Any, TypeVar

from trivium.core.caller import Caller
from trivium.core.commands.command import Command, Handler
from trivium.core.faults import Refused

Value = TypeVar("Value")


def refusing(handler: Handler) -> Handler:
    def handle(command: Command[Any], caller: Caller, reply: Callable[[Any], None]) -> None:
        try:
            handler(command, caller, reply)
        except Refused as refused:
            reply(command.refused(refused.fault, refused.message))

    return handle


def refusing_later(
    step: Callable[[Value], None], command: Command[Any], reply: Callable[[Any], None]
) -> Callable[[Value], None]:
    """The same for a step of the work that is taken later."""

    def take(value: Value) -> None:
        try:
            step(value)
        except Refused as refused:
            reply(command.refused(refused.fault, refused.message))

    return take
