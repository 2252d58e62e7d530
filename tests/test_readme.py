"""What the README tells people to copy works as it stands."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

from click.testing import CliRunner

from trivium.cli.main import main
from trivium.testing import Broker

README = Path(__file__).parent.parent / "README.md"


def test_example_of_a_broker_in_a_test_passes(tmp_path: Path) -> None:
    (example,) = re.findall(r"```python\n(.*?)```", README.read_text(), re.DOTALL)
    subprocess.run([sys.executable, "-c", example], cwd=tmp_path, check=True)


def test_commands_of_a_first_broker_do_what_they_say(tmp_path: Path) -> None:
    """Line by line, as a shell has them; only where the program and its broker are is different here."""
    served, commands = re.findall(r"```\n((?:.*\.venv/bin/trivium .*\n)+)```", README.read_text())
    assert served == ".venv/bin/trivium serve --data data\n"
    program = f"{shlex.quote(sys.executable)} -m trivium"
    with Broker() as broker:
        done = subprocess.run(
            ["bash", "-euc", commands.replace(".venv/bin/trivium", program)],
            env=os.environ | {"TRIVIUM_BROKER": broker.bootstrap},
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    created, sent, consumed, _ = done.stdout.splitlines()
    assert (created, sent) == ("Created orders: 3 partitions, 1 replica.", "Sent 1 record to orders.")
    assert consumed == "hello"


def test_names_at_the_doors_are_those_that_are_shown() -> None:
    """A reader who has all three doors open, as ``trivium serve`` has them."""
    (shown,) = re.findall(r"\$ trivium (topic show orders)\n(.*?)```", README.read_text(), re.DOTALL)
    with Broker(listen_iggy="127.0.0.1:0", listen_rustlog="127.0.0.1:0") as broker:
        broker.create_topic("orders", partitions=3)
        told = CliRunner().invoke(main, [*shown[0].split(), "--broker", broker.bootstrap])
    assert told.exit_code == 0, told.output
    lines = [line.split() for line in told.output.splitlines()]
    assert all(line.split() in lines for line in shown[1].splitlines())


def test_pipeline_as_it_stands_passes_the_check(tmp_path: Path) -> None:
    (example,) = re.findall(r"```toml\n(.*?)```", README.read_text(), re.DOTALL)
    file = tmp_path / "orders.toml"
    file.write_text(example)
    checked = CliRunner().invoke(main, ["pipeline", "check", str(file)])
    assert checked.exit_code == 0, checked.output


def test_commands_in_the_table_exist() -> None:
    (row,) = re.findall(r"^\| `trivium serve`, (.*?);", README.read_text(), re.MULTILINE)
    for name in re.findall(r"`(\w+)`", row):
        assert CliRunner().invoke(main, [name, "--help"]).exit_code == 0, name


def test_pages_it_points_to_exist() -> None:
    for page in re.findall(r"\]\(([\w./-]+\.md)\)", README.read_text()):
        assert (README.parent / page).is_file(), page
