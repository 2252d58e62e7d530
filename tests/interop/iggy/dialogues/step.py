"""One step of a dialogue: a request, on which connection it is asked, and how its bytes were damaged."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from tests.interop.iggy.dialogues.commands import COMMANDS, Command
from tests.interop.iggy.dialogues.values import Batch


@dataclass(frozen=True)
class Damage:
    """Of a body that is otherwise in order."""

    cut: int = 0
    """So many bytes are missing at the end."""
    extra: bytes = b""
    """What stands behind it."""
    wrong: tuple[tuple[int, int], ...] = ()
    """Places, modulo the size of the body, and the bytes that stand there."""
    code: int | None = None
    """Another code."""

    def done_to(self, body: bytes) -> bytes:
        damaged = bytearray(body[: max(0, len(body) - self.cut)])
        for place, value in self.wrong:
            if damaged:
                damaged[place % len(damaged)] = value
        return bytes(damaged) + self.extra


NO_DAMAGE = Damage()


@dataclass(frozen=True)
class Step:
    name: str
    values: Mapping[str, Any] = field(default_factory=dict)
    peer: int = 0
    damage: Damage = NO_DAMAGE

    @property
    def command(self) -> Command:
        return COMMANDS[self.name]

    @property
    def key(self) -> str:
        return self.name

    def smaller(self) -> "list[Step]":
        found = [
            replace(self, values={**self.values, name: less})
            for name, value in self.values.items()
            if isinstance(value, Batch)
            for less in value.smaller()
        ]
        return found if self.damage == NO_DAMAGE else [replace(self, damage=NO_DAMAGE), *found]

    def __str__(self) -> str:
        values = ", ".join(f"{name}={_shown(value)}" for name, value in self.values.items())
        where = f" (on connection {self.peer})" if self.peer else ""
        amiss = f", damaged: {self.damage}" if self.damage != NO_DAMAGE else ""
        return f"{self.name}{where}: {values or 'nothing'}{amiss}"


def _shown(value: Any) -> str:
    if isinstance(value, str | bytes) and len(value) > 60:
        return f"{value[:10]!r} and so on, {len(value)} long"
    return str(value) if isinstance(value, Batch) else repr(value)
