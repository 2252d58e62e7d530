"""Facts on a terminal: readable, whole, and harmless."""

import io
import sys
from dataclasses import dataclass

import pytest
from rich.console import Console

from trivium.cli.output import printable, shortened
from trivium.cli.tables import open_console, show_rows, show_table


@dataclass(frozen=True)
class Row:
    offset: int
    max_timestamp: int
    is_fenced: bool
    text: str | None
    configs: dict[str, str | None]


def shown(*rows: Row, width: int = 120) -> str:
    out = io.StringIO()
    show_rows(Console(file=out, width=width), "rows", rows)
    return out.getvalue()


def test_table_shows_each_kind_of_value_as_a_person_reads_it() -> None:
    text = shown(Row(1234567, 1_750_000_000_123, True, None, {"a": "1", "b": None}))
    for part in ("1,234,567", "2025-06-15 15:06:40.123", "yes", "null", "a=1", "b=null", "max timestamp"):
        assert part in text


@dataclass(frozen=True)
class Partition:
    replicas: tuple[int, ...]
    end: int | None


def test_numbers_stand_right_also_where_some_are_not_known() -> None:
    out = io.StringIO()
    rows = [Partition((1, 2), None), Partition((3,), 1_234_567)]
    show_rows(Console(file=out, width=60), "partitions", rows)
    lines = out.getvalue().splitlines()
    unknown, known = (next(line for line in lines if word in line) for word in ("null", "1,234,567"))
    assert "1, 2" in unknown
    assert len(unknown.rstrip()) == len(known.rstrip())


def test_table_without_rows_is_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    show_table("partitions", [])
    assert capsys.readouterr().out == ""


def test_timestamp_that_is_none_or_beyond_the_calendar_is_shown_nevertheless() -> None:
    assert "none" in shown(Row(0, -1, False, "", {}))
    assert "9,223,372,036,854,775,807 ms" in shown(Row(0, (1 << 63) - 1, False, "", {}))


@pytest.mark.parametrize("width", range(30, 130, 7))
def test_narrow_terminal_breaks_neither_numbers_nor_times(width: int) -> None:
    text = shown(Row(1234567890123, 1_750_000_000_123, True, "t" * 50, {"a": "1"}), width=width)
    assert {"1,234,567,890,123", "2025-06-15", "15:06:40.123"} <= {word.strip(",") for word in text.split()}
    assert max(map(len, text.splitlines())) <= width


def test_console_on_a_stream_of_few_letters_spells_out_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.TextIOWrapper(io.BytesIO(), "ascii")
    monkeypatch.setattr(sys, "stdout", stream)
    open_console().print("klíč…")
    stream.seek(0)
    assert stream.read() == "kl\\xed\\u010d\\u2026\n"


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
