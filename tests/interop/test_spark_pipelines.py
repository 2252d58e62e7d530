"""A pipeline on a real Kafka, which does not commit batches of queries: its topics are written at least once.

It says so, before and after, and loses nothing though driver, JVM and workers are killed behind a commit.
"""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.interop.kafka import ROOT, Kafka

from trivium.client.admin_topics import NewTopic, create_topics
from trivium.client.cluster import Cluster
from trivium.client.errors import settled
from trivium.client.offsets import offset_ranges
from trivium.client.producer import Producer
from trivium.client.reader import Reader

pytestmark = pytest.mark.interop

CLUSTER_ID = "dHJpdml1bS1zcGFyay0tMg"
KILLER = ROOT / "tests" / "crash" / "killed_pipeline"
SECONDS_MAX = 600
READ_SECONDS_MAX = 120
PIPELINE = """
[pipeline]
name = "shop"
[source.orders]
schema = "id BIGINT"
[flow.copied]
sql = "SELECT * FROM orders"
expect.odd = "id % 10 <> 0"
sink = { topic = "copied", key = "id" }
"""


@pytest.fixture(scope="module")
def kafka_address(kafka: Kafka, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with kafka.broker(tmp_path_factory.mktemp("kafka") / "data", CLUSTER_ID) as address:
        yield address


def trivium(folder: Path, *arguments: str, **environment: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", "trivium", "pipeline", *arguments],
        cwd=folder,
        env={**os.environ, **environment},
        start_new_session=True,
        capture_output=True,
        text=True,
        timeout=SECONDS_MAX,
        check=False,
    )


def values(address: str, topic: str) -> list[Any]:
    found: list[Any] = []
    ends_at = time.monotonic() + READ_SECONDS_MAX
    with Cluster.connect(address) as cluster:
        ranges = offset_ranges(cluster, cluster.topic(topic).partition_keys())
        unread = {key: start for key, (start, end) in ranges.items() if start < end}
        with Reader(cluster, unread) as reader:
            while unread:
                assert time.monotonic() < ends_at, unread
                for chunk in reader.poll(1.0):
                    found += [json.loads(record.value or b"null") for record in chunk.records]
                unread = {key: at for key, at in reader.positions.items() if at < ranges[key][1]}
    return found


@pytest.mark.skipif(not Path("/proc").exists(), reason="needs /proc")
def test_pipeline_on_kafka_writes_at_least_once_and_says_so(kafka_address: str, tmp_path: Path) -> None:
    (tmp_path / "shop.toml").write_text(PIPELINE)
    with Cluster.connect(kafka_address) as cluster:
        settled(create_topics(cluster, [NewTopic("orders", 1, 1, {})])["orders"])
        with Producer(cluster) as producer:
            for number in range(40):
                producer.send("orders", json.dumps({"id": number}).encode())
    checked = trivium(tmp_path, "check", "shop.toml", "--broker", kafka_address, "--json")
    findings = json.loads(checked.stdout)["findings"]
    assert any("copied is written at least once" in each["what"] for each in findings), findings

    once = ("run", "shop.toml", "--trigger", "available-now", "--broker", kafka_address, "--json")
    kill = {"PYTHONPATH": str(KILLER), "TRIVIUM_KILL_AT": "after", "TRIVIUM_KILL_BATCH": "0"}
    assert trivium(tmp_path, *once, **kill).returncode == -9
    done = trivium(tmp_path, *once)
    assert done.returncode == 0, done.stderr[-3000:]
    (flow,) = json.loads(done.stdout)["flows"]
    assert flow["writes_once"] is False

    ids = [row["id"] for row in values(kafka_address, "copied")]
    assert set(ids) == {number for number in range(40) if number % 10}, "none is lost"
    assert max(map(ids.count, ids)) <= 2, "and only what was run again is there again"
    assert len(values(kafka_address, "copied__quarantine")) in (4, 8)
