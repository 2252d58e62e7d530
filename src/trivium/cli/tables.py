"""Rows of facts as tables on a terminal, or as paragraphs on one that is too narrow for the table.

Whatever is shown may come from a stranger: nothing in it is taken for markup, and everything goes through
``printable`` (S14).
"""

import io
import sys
from collections.abc import Mapping, Sequence
from dataclasses import fields
from datetime import UTC, datetime
from typing import Any, Final

from rich import box
from rich.cells import cell_len
from rich.console import Console
from rich.table import Column, Table
from rich.text import Text

from trivium.cli.output import printable, writing

_PIPED_COLUMNS: Final = 160
"""How wide tables are where no terminal says how wide it is: enough that nothing needs to be folded."""

_TEXT_COLUMNS: Final = 16
"""Text may be folded to this width; numbers and times are never broken."""

_GAP_COLUMNS: Final = 3
"""What a table takes for each column beside its cells."""


def open_console() -> Console:
    if isinstance(sys.stdout, io.TextIOWrapper):
        # A stream may know fewer letters than names and values have: it gets their numbers.
        sys.stdout.reconfigure(errors="backslashreplace")
    console = Console()
    return console if console.is_terminal else Console(width=_PIPED_COLUMNS)


def show_rows(console: Console, title: str, rows: Sequence[Any]) -> None:
    """Dataclass instances of one class: a column for each field, or a paragraph for each row."""
    names = [field.name for field in fields(rows[0])]
    numeric = [_is_numeric([getattr(row, name) for row in rows]) for name in names]
    lines = [[_cell(name, getattr(row, name)) for name in names] for row in rows]
    headings = [_heading(name) for name in names]
    widths = _widths([headings, *lines], numeric, console.width)
    if widths is None:
        console.print(Text(title, "italic"), end="\n\n")
        for line in lines:
            console.print(_paragraph(headings, line), end="\n\n")
        return
    columns = [
        Column(heading, justify="right" if is_number else "left", overflow="fold", width=width)
        for heading, is_number, width in zip(headings, numeric, widths, strict=True)
    ]
    table = Table(*columns, title=title, title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    for line in lines:
        table.add_row(*map(Text, line))
    console.print(table)


def show_table(title: str, rows: Sequence[Any]) -> None:
    """The rows on standard output; nothing where there are none."""
    if rows:
        with writing():
            show_rows(open_console(), title, rows)


def _is_numeric(values: Sequence[object]) -> bool:
    """Whether a column holds numbers, some perhaps not known."""
    kinds = {type(value) for value in values}
    return int in kinds and kinds <= {int, type(None)}


def _widths(lines: Sequence[Sequence[str]], numeric: Sequence[bool], width: int) -> list[int] | None:
    """How wide each column is in a table so wide; None where something would be broken that must not be."""
    columns = list(zip(*lines, strict=True))
    narrowest = [_longest(" ".join(cells).split()) for cells in columns]
    for number, is_number in enumerate(numeric):
        if not is_number:
            narrowest[number] = min(narrowest[number], _TEXT_COLUMNS)
    free = width - sum(_GAP_COLUMNS + narrow for narrow in narrowest)
    if free < 0:
        return None
    wanted = [min(_longest("\n".join(cells).split("\n")), width) for cells in columns]
    widths = narrowest[:]
    while free and widths != wanted:
        # The narrowest of those that want more gets it, so that one long column does not starve the others.
        _, number = min((had, at) for at, had in enumerate(widths) if had < wanted[at])
        widths[number] += 1
        free -= 1
    return widths


def _longest(parts: Sequence[str]) -> int:
    return max(map(cell_len, parts), default=0)


def _paragraph(headings: Sequence[str], line: Sequence[str]) -> Text:
    pairs = (
        (heading, " ".join(cell.split("\n"))) for heading, cell in zip(headings, line, strict=True) if cell
    )
    return Text(", ").join(Text.assemble((heading, "dim"), " ", cell) for heading, cell in pairs)


def _heading(name: str) -> str:
    return name.replace("_", " ") + (" (UTC)" if name.endswith("timestamp") else "")


def _cell(name: str, value: object) -> str:
    if name.endswith("timestamp") and isinstance(value, int):
        return _moment(value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, Mapping):
        parts = (f"{key}={'null' if part is None else part}" for key, part in value.items())
        return "\n".join(map(printable, parts))
    if isinstance(value, tuple):
        return ", ".join(_cell("", part) for part in value)
    return "null" if value is None else printable(str(value))


def _moment(timestamp_ms: int) -> str:
    if timestamp_ms < 0:
        return "none"
    try:
        moment = datetime.fromtimestamp(timestamp_ms / 1000, UTC)
    except (ValueError, OverflowError):
        # A producer may stamp whatever it likes; years beyond 9999 have no calendar here.
        return f"{timestamp_ms:,} ms"
    return moment.isoformat(sep=" ", timespec="milliseconds")[:-6]
