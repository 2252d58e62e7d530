"""The example of docs/testing.md does what the page says."""

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[3] / "docs" / "testing.md"


def test_example_of_a_history_prints_what_the_page_shows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = PAGE.read_text()
    section = page[page.index("## A history") :]
    example, shown = re.findall(r"```(?:python)?\n(.*?)```", section, re.DOTALL)[:2]
    monkeypatch.chdir(tmp_path)
    exec(compile(example, str(PAGE), "exec"), {})
    assert capsys.readouterr().out == shown
