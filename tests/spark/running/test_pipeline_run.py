"""``trivium pipeline run`` and ``reset``: a pipeline from a file, run again and again on the same state."""

import json
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.cli.commands import complaint, facts, misuse, output, run
from trivium.client.admin_topics import delete_topics
from trivium.client.door import Door
from trivium.pipeline.sink import delta
from trivium.spark.tables.stores import open_store
from trivium.testing import Broker

pytestmark = pytest.mark.pipelines

NOBODY = "127.0.0.1:1"

PIPELINE = """
[pipeline]
name = "shop"
[source.orders]
schema = "id BIGINT"
[flow.kept]
sql = "SELECT * FROM orders"
expect.positive = "id > 0"
sink = { format = "delta", path = "kept" }
"""


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    Path("shop.toml").write_text(PIPELINE)
    return "shop.toml"


def test_runs_go_on_where_they_were_and_the_broker_knows(
    spark: SparkSession, broker: Broker, file: str
) -> None:
    broker.create_topic("orders", 2)
    once = ("pipeline", "run", file, "--trigger", "available-now", "--broker", broker.bootstrap)
    broker.produce("orders", [json.dumps({"id": number}) for number in range(4)])
    (first,) = facts(*once)["flows"]
    assert (first["rows_in"], first["rows_out"], first["quarantined"]) == (4, 3, 1)
    assert first["reasons"] == {"positive": 1}
    broker.produce("orders", [json.dumps({"id": 9, "new": 1})])
    shown = output(*once)
    assert "kept: records of orders have columns that its schema has not: new." in shown
    kept = open_store(delta("kept"))
    assert sorted(kept.read().column("id").to_pylist()) == [1, 2, 3, 9]
    (flow,) = facts("pipeline", "status", file, "--broker", broker.bootstrap)["flows"]
    assert (flow["group"], flow["lag_records"]) == ("shop.kept", 0)

    metadata = Path(".trivium/shop/checkpoints/kept/metadata")
    ours = metadata.read_text()
    metadata.write_text('{"id": "00000000-0000-0000-0000-000000000000"}')
    assert "is not the checkpoint that they were written with" in complaint(*once)
    metadata.write_text(ours)

    reset = ("pipeline", "reset", file, "kept", "--yes", "--broker", broker.bootstrap)
    said = output(*reset)
    (flow,) = facts("pipeline", "status", file, "--broker", broker.bootstrap)["flows"]
    assert (flow["lag_records"], flow["has_begun"]) == (5, False), "the broker has forgotten it, too"
    assert "a run refuses to write its rows again until it is removed" in said
    assert "the checkpoint" in complaint(*once)
    said = output(*reset, "--remove-output")
    assert "Removes the delta table kept with all its rows." in said
    (again,) = facts(*once)["flows"]
    assert again["rows_out"] == 4
    assert sorted(kept.read().column("id").to_pylist()) == [1, 2, 3, 9]


def test_topic_made_anew_stops_a_flow_or_is_read_from_its_beginning(spark: SparkSession, file: str) -> None:
    with Broker() as broker:
        once = ("pipeline", "run", file, "--trigger", "available-now", "--broker", broker.bootstrap)
        for ids in ((1, 2, 3), (4, 5, 6, 7, 8)):
            with Door(broker.bootstrap).connect() as cluster:
                if "orders" in cluster.topics():
                    delete_topics(cluster, ["orders"])
            broker.produce("orders", [json.dumps({"id": number}) for number in ids])
            if ids[0] == 4:
                assert "Topic orders was deleted and made anew since shop.kept read it" in complaint(*once)
                Path(file).write_text(PIPELINE.replace("[flow", 'expired = "skip"\n[flow'))
            facts(*once)
        broker.produce("orders", [json.dumps({"id": 9})])
        facts(*once)
    assert sorted(open_store(delta("kept")).read().column("id").to_pylist()) == list(range(1, 10))


def test_reset_asks_and_leaves_foreign_folders_alone(file: str) -> None:
    Path("kept").mkdir()
    Path("kept/precious.txt").touch()
    Path(".trivium/shop/checkpoints/kept").mkdir(parents=True)
    reset = ("pipeline", "reset", file, "kept", "--remove-output", "--broker", NOBODY)
    refused = run(*reset, stdin=b"n\n")
    assert refused.exit_code == 1
    assert Path(".trivium/shop/checkpoints/kept").exists()
    said = output(*reset, stdin=b"y\n")
    assert "shows how far shop.kept was until the next run: Nothing listens at" in said
    assert "has no rows of any flow, and is left alone" in said
    assert Path("kept/precious.txt").exists()
    assert not Path(".trivium/shop/checkpoints/kept").exists()
    assert "no flow kep with a sink. Did you mean 'kept'?" in misuse("pipeline", "reset", file, "kep")


def test_wrong_words_are_refused_before_spark_starts(file: str) -> None:
    assert "'sometimes' is no trigger." in misuse("pipeline", "run", file, "--trigger", "sometimes")
    Path(file).write_text(PIPELINE.replace("SELECT *", "SELECT nothing"))
    assert "nothing" in complaint("pipeline", "run", file)
