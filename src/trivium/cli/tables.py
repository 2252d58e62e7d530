"""Rows of facts as tables on a terminal. Whatever is shown may come from a stranger: nothing in it is
taken for markup, and nothing that is not printable reaches the terminal as it is (S14).
"""

from collections.abc import Mapping, Sequence
from dataclasses import fields
from datetime import UTC, datetime
from typing import Any, Literal

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Column, Table

_PIPED_COLUMNS = 160
"""How wide tables are where no terminal says how wide it is: enough that nothing needs to be folded."""


def open_console() -> Console:
    console = Console()
    return console if console.is_terminal else Console(width=_PIPED_COLUMNS)


def printable(text: str) -> str:
    """Text as a person can read it: what a terminal would act on, or not show, is spelled out."""
    return "".join(
        letter if letter.isprintable() else letter.encode("unicode_escape", "surrogatepass").decode()
        for letter in text
    )


def shortened(name: str, width: int = 40) -> str:
    return name if len(name) <= width else f"{name[: width // 2]}…{name[-width // 2 + 1 :]}"


def rows_table(title: str, rows: Sequence[Any]) -> Table:
    """A table of dataclass instances of one class, one column for each field."""
    names = [field.name for field in fields(rows[0])]
    columns = [
        Column(name.replace("_", " "), justify=_justify(getattr(rows[0], name)), overflow="fold")
        for name in names
    ]
    table = Table(*columns, title=title, title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    for row in rows:
        table.add_row(*(_cell(name, getattr(row, name)) for name in names))
    return table


def _justify(value: object) -> Literal["left", "right"]:
    return "right" if isinstance(value, int) and not isinstance(value, bool) else "left"


def _cell(name: str, value: object) -> str:
    if name.endswith("timestamp") and isinstance(value, int):
        return _moment(value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, Mapping):
        parts = (f"{key}={'null' if part is None else part}" for key, part in value.items())
        return "\n".join(escape(printable(part)) for part in parts)
    return "null" if value is None else escape(printable(str(value)))


def _moment(timestamp_ms: int) -> str:
    if timestamp_ms < 0:
        return "none"
    try:
        moment = datetime.fromtimestamp(timestamp_ms / 1000, UTC)
    except (ValueError, OverflowError):
        # A producer may stamp whatever it likes; years beyond 9999 have no calendar here.
        return f"{timestamp_ms:,} ms"
    return moment.isoformat(sep=" ", timespec="milliseconds")[:-6]
