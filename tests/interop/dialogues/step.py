"""One step of a dialogue: a request with stand-ins for what only a broker can tell, and how it is sent.

Stand-ins are put in by whoever makes the step and exchanged by the side that plays it (``stand_ins``), so
that both brokers are asked the same, each about its own ids.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from trivium.messages.api import ApiKey
from trivium.messages.schema import Request, Struct


@dataclass(frozen=True)
class Step:
    request: Request
    version: int
    peer: int = 0
    """Which connection it is asked on: members of a group wait for each other."""
    cut: int = 0
    """So many bytes are missing at the end of the request."""
    header: tuple[int, int] | None = None
    """Another API key and version than the request's, with its body."""
    until: Callable[[Any], bool] | None = None
    """Asked on each side again until its plain answer says so, and not compared: brokers take their time."""

    @property
    def key(self) -> ApiKey:
        return ApiKey(self.request.API_KEY)

    @property
    def is_answered(self) -> bool:
        """A produce that wants no answer gets none, unless it cannot be read."""
        wants_none = self.key is ApiKey.PRODUCE and getattr(self.request, "acks", None) == 0
        return not wants_none or bool(self.cut) or self.header is not None

    def smaller(self) -> "list[Step]":
        """The same step with one thing less in one of its lists."""
        return [replace(self, request=request) for request in _smaller(self.request)]

    def __str__(self) -> str:
        notes = [f"on connection {self.peer}"] if self.peer else []
        if self.cut:
            notes.append(f"without its last {self.cut} bytes")
        if self.header:
            notes.append("as API {} in version {}".format(*self.header))
        said = f" ({', '.join(notes)})" if notes else ""
        return f"{self.key.name} {self.version}{said}: {spoken(self.request, self.version)}"


def spoken(value: Any, version: int) -> str:
    """A request as a reader wants it: without what the version has no place for."""
    if isinstance(value, Struct):
        fields = [
            f"{each.name}={spoken(getattr(value, each.name), version)}"
            for each in type(value).fields
            if version in each.versions
        ]
        return f"{type(value).__name__}({', '.join(fields)})" if fields else "()"
    if isinstance(value, list):
        return f"[{', '.join(spoken(each, version) for each in value)}]"
    if isinstance(value, str | bytes) and len(value) > 100:
        return f"{value[:20]!r} and so on, {len(value)} long"
    return repr(value)


def _smaller(struct: Any) -> list[Any]:
    """Copies of a message that lack one item, or whose items lack one."""
    copies = []
    for each in type(struct).fields:
        value = getattr(struct, each.name)
        if isinstance(value, Struct):
            copies += [_with(struct, each.name, inner) for inner in _smaller(value)]
        if not isinstance(value, list):
            continue
        for index, item in enumerate(value):
            copies.append(_with(struct, each.name, value[:index] + value[index + 1 :]))
            if isinstance(item, Struct):
                for inner in _smaller(item):
                    copies.append(_with(struct, each.name, [*value[:index], inner, *value[index + 1 :]]))
    return copies


def _with(struct: Any, name: str, value: Any) -> Any:
    values = {each.name: getattr(struct, each.name) for each in type(struct).fields}
    return type(struct)(**{**values, name: value})
