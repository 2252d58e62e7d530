"""Source text in the making: indented lines, and the names that they use."""

import struct
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


class Source:
    """Functions that are written line by line, and the scope in which they will be compiled."""

    def __init__(self, scope: dict[str, Any]) -> None:
        self.scope = scope
        self._finished: list[str] = []
        self._lines: list[str] = []
        self._depth = 0
        self._names = 0

    def line(self, text: str) -> None:
        self._lines.append("    " * self._depth + text)

    @contextmanager
    def block(self, head: str) -> Iterator[None]:
        self.line(head)
        self._depth += 1
        lines_before = len(self._lines)
        yield
        if len(self._lines) == lines_before:
            self.line("pass")
        self._depth -= 1

    @contextmanager
    def function(self, head: str) -> Iterator[None]:
        """A function of its own, written before the one that is being written now."""
        lines, depth = self._lines, self._depth
        self._lines, self._depth = [], 0
        with self.block(head):
            yield
        self._finished += self._lines
        self._lines, self._depth = lines, depth

    def fresh(self, stem: str) -> str:
        """A variable that no other line uses."""
        self._names += 1
        return f"{stem}{self._names}"

    def constant(self, stem: str, value: object) -> str:
        """A name for an object that the code needs."""
        name = self.fresh(stem)
        self.scope[name] = value
        return name

    def literal(self, value: object) -> str:
        """A value as source text, or a name for it."""
        is_plain = value is None or isinstance(value, bool | int | str | bytes)
        return repr(value) if is_plain else self.constant("default", value)

    def layout(self, letters: str, method: str) -> str:
        """A name for ``struct.Struct(letters).<method>``, the same for the same layout."""
        name = f"{method}_{letters.replace('?', 't').replace('16s', 'u')}"
        self.scope.setdefault(name, getattr(struct.Struct(">" + letters), method))
        return name

    def compile(self, file_name: str, function_name: str) -> Callable[..., Any]:
        text = "\n".join(self._finished)
        exec(compile(text, file_name, "exec"), self.scope)  # noqa: S102 - made from our own classes alone
        function: Callable[..., Any] = self.scope[function_name]
        return function
