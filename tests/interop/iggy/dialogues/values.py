"""What stands in the fields of a step, where a number or a text does not say it."""

from dataclasses import dataclass, replace


@dataclass(frozen=True)
class ByNumber:
    """A stream, topic, group or user by the number that it has where it is played."""

    name: str


Identifier = int | str | ByNumber


@dataclass(frozen=True)
class Reader:
    """A consumer by itself, or a group."""

    identifier: Identifier
    is_group: bool = False
    kind: int | None = None
    """Another kind than these two."""


@dataclass(frozen=True)
class Moment:
    """A time at which messages were written: the n-th that was polled in this play, and so much later."""

    number: int
    later_us: int = 0


@dataclass(frozen=True)
class TokenOf:
    """What was given out for the token of that name, the last time."""

    name: str


@dataclass(frozen=True)
class ClientAt:
    """The number of the client on that connection."""

    peer: int


@dataclass(frozen=True)
class Rights:
    """Everywhere, then of streams by name, each with those of its topics."""

    everywhere: str = "0000000000"
    streams: tuple[tuple[Identifier, str, tuple[tuple[Identifier, str], ...]], ...] = ()


Header = tuple[int, bytes, int, bytes]
"""Kind and bytes of the key, kind and bytes of the value."""


@dataclass(frozen=True)
class Message:
    payload: bytes
    number: int = 0
    headers: tuple[Header, ...] = ()
    broken_headers: bytes = b""
    """Instead of headers."""
    header_bytes: int = 64

    def __str__(self) -> str:
        shown = self.payload if len(self.payload) < 30 else f"{len(self.payload)} bytes"
        parts = [str(shown)]
        if self.number:
            parts.append(f"id {self.number}")
        if self.headers or self.broken_headers:
            parts.append(f"headers {self.headers or self.broken_headers!r}")
        return ", ".join(parts)


@dataclass(frozen=True)
class Batch:
    """Messages as they are sent, and what is wrong about that."""

    messages: tuple[Message, ...]
    count: int | None = None
    """Another count than there are."""
    shift: int = 0
    """Of the ends in the index."""
    index_offset: int = 0
    index_timestamp: int = 0
    metadata_more: int = 0
    """So much more is said of the size of what stands before the index."""

    def smaller(self) -> "list[Batch]":
        return [
            replace(self, messages=self.messages[:at] + self.messages[at + 1 :])
            for at in range(len(self.messages))
            if len(self.messages) > 1
        ]

    def __str__(self) -> str:
        amiss = [
            f"{name}={getattr(self, name)}"
            for name in ("count", "shift", "index_offset", "index_timestamp", "metadata_more")
            if getattr(self, name)
        ]
        return f"[{'; '.join(map(str, self.messages))}] {' '.join(amiss)}".rstrip()
