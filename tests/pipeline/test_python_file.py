"""Definitions in Python: read by path, with nothing left behind and every failure a sentence (S16)."""

import sys
from pathlib import Path

import pytest

from trivium.pipeline import Mistake, Pipeline, Unreadable, delta, iceberg, load, parquet, to_topic
from trivium.pipeline.reading import FILE_BYTES_MAX

SHOP = """
from trivium.pipeline import Pipeline, delta, to_topic
from beside import TOPIC

p = Pipeline("shop")
p.source("orders", topic=TOPIC, schema="id BIGINT")

@p.flow(sink=delta("lake/orders"), schema="id BIGINT")
def clean(orders, limit=3):
    return orders

p.sql("copy", "SELECT id FROM clean", sink=to_topic("copies"))
"""


def write(folder: Path, text: str, name: str = "shop.py") -> Path:
    file = folder / name
    file.write_text(text)
    return file


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(sys, "path", sys.path[:])
    monkeypatch.delitem(sys.modules, "beside", raising=False)
    write(tmp_path, 'TOPIC = "orders-eu"', "beside.py")
    return write(tmp_path, SHOP)


def test_file_is_run_from_its_folder_and_gives_its_pipeline(shop: Path) -> None:
    definition = load(shop)
    assert [source.name for source in definition.sources] == ["orders"]
    clean, copy = definition.flows
    assert (clean.name, clean.arguments) == ("clean", ("orders",))
    assert clean.function is not None
    assert clean.function("rows") == "rows"
    assert copy.sql == "SELECT id FROM clean"
    assert definition.file == shop
    assert definition.line_of("flow.clean.sink") == 8
    assert definition.line_of("source.orders.schema") == 6


def test_reading_leaves_nothing_behind(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    load(shop)
    files = [getattr(module, "__file__", None) for module in sys.modules.values()]
    assert str(shop) not in files
    assert str(shop.with_name("beside.py")) in files  # What it imports is imported as ever.
    assert not list(shop.parent.glob("__pycache__/shop*"))


def test_file_that_changed_is_read_anew(shop: Path) -> None:
    load(shop)
    shop.write_text(SHOP.replace('"copies"', '"others"'))
    assert str(load(shop).flows[1].sink) == "topic others"


@pytest.mark.parametrize(
    ("text", "line", "sentence"),
    [
        ("p = (", 1, "This is not Python: '(' was never closed."),
        ("x = 1\nimport pyspark.nowhere", 2, "The file needs PySpark, which is not installed."),
        ("1 / 0", 1, "The file cannot be run: ZeroDivisionError, division by zero."),
        ("exit(3)", 1, "The file ends the program instead of defining a pipeline."),
        ("x = 1", None, "The file has no pipeline."),
        (
            "from trivium.pipeline import Pipeline\na = Pipeline('a')\nb = Pipeline('b')",
            None,
            "The file has 2 pipelines.",
        ),
        ("from trivium.pipeline import Pipeline\np = Pipeline('a b')", 2, "'a b' is no name here."),
        (
            "from trivium.pipeline import Pipeline\np = Pipeline('a')\np.source('s', start='x')",
            3,
            "'start' cannot be 'x'.",
        ),
        (
            "from trivium.pipeline import Pipeline\np = Pipeline('a')\n\n@p.flow(triger='x')\ndef f(s): ...",
            4,
            "A flow has no 'triger'.",
        ),
    ],
)
def test_file_that_fails_is_a_sentence_with_its_line(
    tmp_path: Path, text: str, line: int | None, sentence: str
) -> None:
    with pytest.raises(Unreadable) as raised:
        load(write(tmp_path, text))
    (finding,) = raised.value.findings
    assert (finding.line, finding.sentence) == (line, sentence)


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("missing.toml", None, "There is no such file."),
        ("shop.yaml", b"", "A pipeline is a .toml or a .py file."),
        ("shop.toml", b"\xff", "The file is not text in UTF-8."),
        ("shop.toml", b"#" * (FILE_BYTES_MAX + 1), "The file is too large to be a pipeline."),
    ],
)
def test_wrong_file_is_a_sentence(tmp_path: Path, name: str, content: bytes | None, sentence: str) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(Unreadable) as raised:
        load(tmp_path / name)
    assert raised.value.findings[0].sentence == sentence


def test_function_must_name_its_inputs() -> None:
    p = Pipeline("shop")
    with pytest.raises(Mistake, match="names no input"):
        p.flow(sink=to_topic("t"))(lambda *frames: frames)
    with pytest.raises(Mistake, match="reads nothing"):

        @p.flow(sink=to_topic("t"))
        def empty() -> None: ...


def test_sinks_are_said_as_in_toml() -> None:
    assert str(delta("a", mode="upsert", key=["id"])) == "delta table a"
    assert str(iceberg(table="db.t", catalog="prod")) == "iceberg table prod.db.t"
    assert parquet("a", partition_by="day").partition_by == ("day",)
    with pytest.raises(Mistake, match="The table has both"):
        iceberg("a", table="db.t")
    with pytest.raises(Mistake, match="A delta table as a sink has no 'partitioned'"):
        delta("a", partitioned="day")  # type: ignore[call-arg]
