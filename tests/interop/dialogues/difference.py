"""Where the answers of two servers part in a dialogue, and what the steps of any dialogue have in common."""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Protocol, Self, TypeVar


class Step(Protocol):
    @property
    def key(self) -> Hashable:
        """What is asked for."""

    def smaller(self) -> Sequence[Self]:
        """The same step with one thing less."""


S = TypeVar("S", bound=Step)


@dataclass(frozen=True)
class Difference(Generic[S]):
    index: int
    """Of the step that was asked last."""
    step: S
    """Whose answers differ: an earlier one, if it had to wait."""
    ours: Any
    theirs: Any


Play = Callable[[Sequence[S]], Difference[S] | None]
