"""What the README tells people to copy works as it stands."""

import re
import subprocess
import sys
from pathlib import Path

from click.testing import CliRunner

from trivium.cli.main import main

README = Path(__file__).parent.parent / "README.md"


def test_example_of_a_broker_in_a_test_passes(tmp_path: Path) -> None:
    (example,) = re.findall(r"```python\n(.*?)```", README.read_text(), re.DOTALL)
    subprocess.run([sys.executable, "-c", example], cwd=tmp_path, check=True)


def test_commands_and_their_options_exist() -> None:
    commands = re.findall(r"^(?:.*\| )?\.venv/bin/trivium (\w+)(.*)$", README.read_text(), re.MULTILINE)
    assert len(commands) >= 5
    for name, rest in commands:
        words = [name, *[word for word in rest.split()[:1] if word in ("create", "list")], "--help"]
        shown = CliRunner().invoke(main, words)
        assert shown.exit_code == 0, words
        for option in re.findall(r"--[a-z-]+", rest):
            assert option in shown.output, (words, option)


def test_pages_it_points_to_exist() -> None:
    for page in re.findall(r"\]\(([\w./-]+\.md)\)", README.read_text()):
        assert (README.parent / page).is_file(), page
