"""The form of all commands, and of those who carry them out."""

from collections.abc import Callable
from typing import Any, ClassVar, Generic, Protocol, Self, TypeVar, dataclass_transform, get_origin

from trivium.core.access import Row
from trivium.core.caller import Caller
from trivium.core.faults import Fault

R = TypeVar("R")

TopicRef = str | bytes
"""A topic by its name, or by its id of 16 bytes. Results repeat what was asked."""


class Command(Generic[R]):
    """Something to be done, with a result of type ``R``. ``ROW`` is the right that it needs."""

    ROW: ClassVar[Row]
    SECRET: ClassVar[frozenset[str]] = frozenset()
    """Fields that nobody may read in a log."""

    def refused(self, fault: Fault, message: str | None = None) -> R:
        """The result if the command as a whole is refused."""
        raise NotImplementedError(type(self).__name__)

    def changed(self, **fields: Any) -> Self:
        """The same command with other values in these fields."""
        other = object.__new__(type(self))
        vars(other).update(vars(self), **fields)
        return other

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and vars(self) == vars(other)

    __hash__ = object.__hash__

    def __repr__(self) -> str:
        shown = {name: value for name, value in vars(self).items() if name not in self.SECRET}
        values = ", ".join(f"{name}={value!r}" for name, value in shown.items())
        return f"{type(self).__name__}({values})"


class Act(Command[Fault | None]):
    """A command whose result is that it is done; or else why it is not."""

    def refused(self, fault: Fault, message: str | None = None) -> Fault | None:
        return fault


C = TypeVar("C", bound=type[Command[Any]])


@dataclass_transform(frozen_default=True)
def command(cls: C) -> C:
    """A command with these fields, written as a frozen data class is.

    There are about a hundred commands, and a node wants to be there at once: a data class takes a
    millisecond to make, most of it for methods that nobody calls on a command. This makes ``__init__``.
    """
    kinds: dict[str, Any] = cls.__annotations__
    names = [name for name, kind in kinds.items() if get_origin(kind) is not ClassVar]
    defaults = {f"_{name}": vars(cls)[name] for name in names if name in vars(cls)}
    parameters = ", ".join(f"{name}=_{name}" if f"_{name}" in defaults else name for name in names)
    body = "; ".join(f"self.{name} = {name}" for name in names) or "pass"
    made: dict[str, Any] = {}
    exec(f"def __init__(self, {parameters}): {body}", defaults, made)  # noqa: S102  (our own names only)
    type.__setattr__(cls, "__init__", made["__init__"])
    return cls


Reply = Callable[[R], None]
"""Called exactly once with the result: before ``execute`` returns, or later."""

Handler = Callable[[Any, Caller, Callable[[Any], None]], None]
Routes = dict[type[Command[Any]], Handler]
"""Who carries out which command: each noun of the core contributes its own."""


class Engine(Protocol):
    def execute(self, command: Command[R], caller: Caller, reply: Reply[R]) -> None: ...
