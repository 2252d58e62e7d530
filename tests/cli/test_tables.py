"""Facts on a terminal: readable, whole, and harmless."""

import io
from dataclasses import dataclass

from rich.console import Console

from trivium.cli.tables import printable, rows_table, shortened


@dataclass(frozen=True)
class Row:
    offset: int
    max_timestamp: int
    is_fenced: bool
    text: str | None
    configs: dict[str, str | None]


def shown(*rows: Row) -> str:
    out = io.StringIO()
    Console(file=out, width=120).print(rows_table("rows", rows))
    return out.getvalue()


def test_table_shows_each_kind_of_value_as_a_person_reads_it() -> None:
    text = shown(Row(1234567, 1_750_000_000_123, True, None, {"a": "1", "b": None}))
    for part in ("1,234,567", "2025-06-15 15:06:40.123", "yes", "null", "a=1", "b=null", "max timestamp"):
        assert part in text


def test_timestamp_that_is_none_or_beyond_the_calendar_is_shown_nevertheless() -> None:
    assert "none" in shown(Row(0, -1, False, "", {}))
    assert "9,223,372,036,854,775,807 ms" in shown(Row(0, (1 << 63) - 1, False, "", {}))


def test_text_of_a_stranger_is_neither_markup_nor_a_command_to_the_terminal() -> None:
    """S14: names and values come from clients."""
    text = shown(Row(0, 0, False, "[red]x[/blue] \x1b[2J\x07", {"\x1b]0;title": "[bold]"}))
    assert "[red]x[/blue] \\x1b[2J\\x07" in text
    assert "\\x1b]0;title=[bold]" in text
    assert "\x1b" not in text


def test_printable_keeps_letters_of_every_script_and_spells_out_the_rest() -> None:
    assert printable("ångström ключ 鍵") == "ångström ключ 鍵"
    assert printable("a\nb\u202e\udcff") == "a\\nb\\u202e\\udcff"


def test_long_name_keeps_its_beginning_and_its_end() -> None:
    assert shortened("short-0") == "short-0"
    name = shortened("long-" + "x" * 240 + "-17")
    assert len(name) <= 40
    assert name.startswith("long-")
    assert name.endswith("-17")
