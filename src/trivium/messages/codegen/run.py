"""Runs of an encoder: values that wait until something of variable size follows, and are written by one call.

Fixed-size values join a run, and so do arrays of numbers: as long as they are few, their counts pick a layout
that was made once, and the whole run is still one ``pack``.
"""

from dataclasses import dataclass
from typing import TypeAlias

from trivium.messages.codegen.source import Source
from trivium.messages.codegen.support import COUNTED_LAYOUTS_MAX, CountedLayouts


@dataclass(frozen=True, slots=True)
class Value:
    """One value of fixed size: a letter of ``struct`` and the expression that gives the value."""

    letter: str
    expression: str


@dataclass(frozen=True, slots=True)
class Numbers:
    """An array of numbers: the variables that hold them and their count, and the length to be written."""

    letter: str
    variable: str
    count: str
    length: Value


Waiting: TypeAlias = Value | Numbers

ZERO_BYTE = Value("x", "")
"""A byte 0 that is the same in every message: padding, to ``struct``."""


class Run:
    """What waits to be written, and the lines that write it."""

    def __init__(self, source: Source, is_flexible: bool) -> None:
        self._source = source
        self._is_flexible = is_flexible
        self._waiting: list[Waiting] = []

    def append(self, item: Waiting) -> None:
        self._waiting.append(item)

    def copy(self) -> list[Waiting]:
        """What waits before a branch, to be put back for the other branch."""
        return list(self._waiting)

    def put_back(self, waiting: list[Waiting]) -> None:
        self._waiting = waiting

    def flush(self) -> None:
        if self._waiting:
            self._add(self._waiting)
            self._waiting = []

    def flush_with_length(self, letter: str, is_compact: bool) -> None:
        """The run, and behind it the length or count ``n``: as ``letter``, or as uvarint when compact."""
        source, waiting = self._source, self._waiting
        if not is_compact:
            self._add([*waiting, Value(letter, "n")])
        elif not waiting:
            source.line("add(SINGLE_BYTES[n] if n < 128 else encode_uvarint(n))")
        else:
            with source.block("if n < 128:"):
                self._add([*waiting, Value("B", "n")])
            with source.block("else:"):
                self._add(waiting)
                source.line("add(encode_uvarint(n))")
        self._waiting = []

    def _add(self, items: list[Waiting]) -> None:
        """All of it in one call, unless there are too many numbers for that."""
        arrays = [item for item in items if isinstance(item, Numbers)]
        if not arrays:
            self._source.line(f"add({self._packed(items)})")
            return
        with self._source.block(f"if {' + '.join(each.count for each in arrays)} < {COUNTED_LAYOUTS_MAX}:"):
            self._add_few_numbers(items, arrays)
        with self._source.block("else:"):
            self._add_many_numbers(items)

    def _add_few_numbers(self, items: list[Waiting], arrays: list[Numbers]) -> None:
        template: list[str | tuple[str]] = []
        values: list[str] = []
        for item in items:
            if isinstance(item, Numbers):
                template += [item.length.letter, (item.letter,)]
                values += [item.length.expression, f"*{item.variable}"]
            else:
                template.append(item.letter)
                values += [item.expression] if item.expression else []
        layouts = self._source.constant("layouts", CountedLayouts(template, "pack"))
        counts = ", ".join(each.count for each in arrays)
        self._source.line(f"add({layouts}[{counts}]({', '.join(values)}))")

    def _add_many_numbers(self, items: list[Waiting]) -> None:
        before: list[Waiting] = []
        for item in items:
            if not isinstance(item, Numbers):
                before.append(item)
                continue
            if self._is_flexible:
                if before:
                    self._source.line(f"add({self._packed(before)})")
                self._source.line(f"add(encode_uvarint({item.length.expression}))")
            else:
                self._source.line(f"add({self._packed([*before, item.length])})")
            self._source.line(f"add(pack_numbers({item.letter!r}, {item.variable}))")
            before = []
        if before:
            self._source.line(f"add({self._packed(before)})")

    def _packed(self, items: list[Waiting]) -> str:
        """An expression for the bytes of fixed-size values."""
        values = [item for item in items if isinstance(item, Value)]
        letters = "".join(value.letter for value in values)
        arguments = ", ".join(value.expression for value in values if value.expression)
        if not arguments:
            return repr(bytes(len(letters)))
        return f"{self._source.layout(letters, 'pack')}({arguments})"
