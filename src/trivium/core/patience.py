"""How long a caller waits for an answer. What takes longer goes on, and nobody is told how it ended."""

from typing import Protocol, TypeVar

from trivium.core.commands.command import Reply
from trivium.core.faults import Fault
from trivium.core.timers import Timers

R_co = TypeVar("R_co", covariant=True)
R = TypeVar("R")


class Impatient(Protocol[R_co]):
    """A command whose caller says how long it waits; None is for ever."""

    @property
    def timeout_ms(self) -> int | None: ...

    def refused(self, fault: Fault, message: str | None = None) -> R_co: ...


def has_no_time(command: Impatient[R]) -> bool:
    """Whether its time is over before it began. Kafka does not begin then, and neither do we."""
    return command.timeout_ms is not None and command.timeout_ms <= 0


def in_time(timers: Timers, command: Impatient[R], reply: Reply[R]) -> Reply[R]:
    """A reply that is made for the command when its time is over, and then hears of nothing else."""
    if command.timeout_ms is None:
        return reply
    timer = timers.after(command.timeout_ms, lambda: reply(command.refused(Fault.TIMED_OUT)))

    def answer(result: R) -> None:
        if timer.is_pending:
            timer.cancel()
            reply(result)

    return answer
