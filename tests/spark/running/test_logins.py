"""A pipeline on a node that lets nobody in without a login: the command says who it is, and Spark is it."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.cli.commands import facts, output, run
from trivium.testing import Broker

PASSWORD = "correct horse"
SETTINGS = {
    "listen.kafka": "SASL_PLAINTEXT://127.0.0.1:0",
    "iggy.root.username": "ann",
    "iggy.root.password": PASSWORD,
}
PIPELINE = """
[pipeline]
name = "shop"
[source.orders]
schema = "id BIGINT"
[flow.copied]
sql = "SELECT * FROM orders"
expect.positive = "id > 0"
sink = { topic = "copied" }
"""


@pytest.fixture
def locked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Broker]:
    monkeypatch.chdir(tmp_path)
    Path("shop.toml").write_text(PIPELINE)
    Path("password").write_text(PASSWORD)
    with Broker(settings=SETTINGS) as broker:
        yield broker


def test_check_says_who_is_not_let_in(locked: Broker) -> None:
    asked = ("pipeline", "check", "shop.toml", "--broker", locked.bootstrap, "--user", "ann")
    Path("wrong").write_text("something else")
    refused = run(*asked, "--password-file", "wrong", "--json")
    assert refused.exit_code == 1
    (finding,) = json.loads(refused.stdout)["findings"]
    assert "does not let you in" in finding["what"]
    known = json.loads(run(*asked, "--password-file", "password", "--json").stdout)["findings"]
    assert [each["what"] for each in known if each["severity"] == "error"] == ["There is no topic orders."]


@pytest.mark.pipelines
def test_pipeline_runs_as_the_user_that_the_command_names(spark: SparkSession, locked: Broker) -> None:
    who = ("--broker", locked.bootstrap, "--user", "ann", "--password-file", "password")
    facts("topic", "create", "orders", *who)
    lines = b"".join(json.dumps({"id": number}).encode() + b"\n" for number in range(3))
    output("produce", "orders", *who, stdin=lines)
    (flow,) = facts("pipeline", "run", "shop.toml", "--trigger", "available-now", *who)["flows"]
    assert (flow["rows_out"], flow["quarantined"]) == (2, 1)
    (standing,) = facts("pipeline", "status", "shop.toml", *who)["flows"]
    assert standing["lag_records"] == 0
    written = [path for path in Path().rglob("*") if path.is_file() and path.name != "password"]
    assert len(written) > 1
    assert not [path for path in written if PASSWORD.encode() in path.read_bytes()], "S15"
