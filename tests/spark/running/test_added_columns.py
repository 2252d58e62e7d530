"""Columns that records bring: found in what a query ends with, and known from then on. No Spark."""

from pathlib import Path

import pytest

from trivium.client.topology import TopicPartition
from trivium.pipeline import Pipeline, delta
from trivium.pipeline.checking import check, relations_of
from trivium.spark.running.added_columns import NewColumnsSeen, seen_in
from trivium.spark.running.errors import is_machine_busy

SAID = '{"source":"orders","columns":["a b","c"],"topic":"t","partition":2,"offset":17}'
SEEN = NewColumnsSeen("orders", ("a b", "c"), TopicPartition("t", 2), 17)


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        (f"[USER_RAISED_EXCEPTION] New columns: {SAID} SQLSTATE: P0001\n\tat org", SEEN),
        ("New columns: " + SAID.replace('"', '\\"'), SEEN),
        ("New columns: {nonsense}", None),
        ("[STREAM_FAILED] something else", None),
    ],
)
def test_new_columns_are_found_in_the_end_of_a_query(text: str, seen: NewColumnsSeen | None) -> None:
    assert seen_in(ValueError(text)) == seen


@pytest.mark.parametrize(("policy", "names"), [("add", ["id", "colour"]), ("report", ["id"])])
def test_added_columns_are_checked_like_the_others(tmp_path: Path, policy: str, names: list[str]) -> None:
    p = Pipeline("shop", state=str(tmp_path))
    p.source("orders", schema="id BIGINT", new_columns=policy)
    p.sql("kept", "SELECT * FROM orders", sink=delta("kept"))
    (tmp_path / "schemas").mkdir()
    (tmp_path / "schemas" / "orders.added.ddl").write_text("colour STRING, ID STRING\n")
    definition = p.definition()
    assert check(definition) == []
    assert list(relations_of(definition)["kept"].visible_names) == names


def test_machine_that_is_busy_is_no_failure_of_a_flow() -> None:
    assert is_machine_busy(
        ValueError("org.apache.spark.SparkException: Python worker failed to connect back.")
    )
    assert not is_machine_busy(ValueError("[CAST_INVALID_INPUT]"))
