"""The examples that pages of docs/ begin with, copied and run as they stand, but for the address."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from trivium.testing import Broker

pytest_plugins = ["pytester"]

DOCS = Path(__file__).parents[2] / "docs"
ADDRESS = "127.0.0.1:9092"


def examples(page: str) -> list[str]:
    return re.findall(r"```python\n(.*?)```", (DOCS / page).read_text(), re.DOTALL)


def run(example: str, folder: Path) -> str:
    done = subprocess.run(
        [sys.executable, "-c", example], cwd=folder, capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize(
    ("page", "printed"),
    [
        ("consumer-groups.md", "hello\n"),
        ("share-groups.md", "['hello']\n"),
        ("transactions.md", ""),
    ],
)
def test_page_begins_with_an_example_that_works(page: str, printed: str, tmp_path: Path) -> None:
    example = examples(page)[0]
    assert (DOCS / page).read_text().split("\n", 2)[2].startswith(f"```python\n{example}")
    assert ADDRESS in example
    with Broker() as broker:
        broker.create_topic("orders")
        assert run(example.replace(ADDRESS, broker.bootstrap), tmp_path) == printed
        assert [record.value for record in broker.records("orders")]


def test_examples_of_a_broker_in_a_test_work(tmp_path: Path) -> None:
    whole = [each for each in examples("testing.md") if "with Broker() as broker" in each]
    assert len(whole) == 2, "the first of the page, and the one with a fault"
    for example in whole:
        run(example, tmp_path)


def test_tests_of_the_page_pass(pytester: pytest.Pytester) -> None:
    written = [each for each in examples("testing.md") if each.startswith("# ")]
    for example in written:
        name, content = example.removeprefix("# ").split("\n", 1)
        pytester.path.joinpath(name).write_text(content)
    assert {path.name for path in pytester.path.iterdir()} == {"test_orders.py", "conftest.py"}
    pytester.runpytest_inprocess("-p", "no:cacheprovider").assert_outcomes(passed=1)
