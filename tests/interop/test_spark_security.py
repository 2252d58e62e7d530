"""Spark behind SASL_SSL, on a broker in a process of its own: its Kafka connector, and ours (003.20, 21)."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.clients.certificates import Certified, certified
from tests.interop.kafka import ROOT, Unavailable
from tests.interop.spark_kafka import SparkKafka
from tests.server.serving import Served

from trivium.client.admin_topics import NewTopic, create_topics
from trivium.client.cluster import Cluster
from trivium.client.errors import settled
from trivium.client.security import Security

pytestmark = pytest.mark.interop

QUERIES = ROOT / "interop" / "spark-kafka" / "queries.py"
QUERY_SECONDS_MAX = 600
ROWS = sorted([str(number), str(2 * number)] for number in range(1000))

OURS = """
import json
import sys

sys.path.insert(0, sys.argv[1])
import queries
from trivium.spark import session

spark = session(spark_driver_memory="1g")
print(json.dumps(queries.round_trip(spark, *sys.argv[2:])))
spark.stop()
"""


@pytest.fixture(scope="module")
def certificates() -> Iterator[Certified]:
    with certified() as made:
        yield made


@pytest.fixture
def broker(certificates: Certified, tmp_path: Path) -> Iterator[Served]:
    settings = {
        **certificates.settings,
        "iggy.root.username": "admin",
        "iggy.root.password": "admin-password",
    }
    flags = [word for name, value in settings.items() for word in ("--set", f"{name}={value}")]
    with Served(tmp_path, "--kafka", "SASL_SSL://127.0.0.1:0", *flags) as served:
        security = Security(
            has_tls=True, ca=str(certificates.ca), username="admin", password="admin-password"
        )
        with Cluster.connect(served.bootstrap, security=security) as cluster:
            for outcome in create_topics(
                cluster, [NewTopic(n, 3, 1, {}) for n in ("first", "copy")]
            ).values():
                settled(outcome)
        yield served


@pytest.fixture
def options(certificates: Certified) -> dict[str, str]:
    return {
        "kafka.security.protocol": "SASL_SSL",
        "kafka.sasl.mechanism": "SCRAM-SHA-512",
        "kafka.sasl.jaas.config": (
            "org.apache.kafka.common.security.scram.ScramLoginModule required "
            'username="admin" password="admin-password";'
        ),
        "kafka.ssl.truststore.type": "PEM",
        "kafka.ssl.truststore.location": str(certificates.ca),
    }


def by_ours(broker: Served, options: dict[str, str], directory: Path) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [
            *(sys.executable, "-c", OURS, str(QUERIES.parent)),
            *(broker.bootstrap, "first", "copy", str(directory / "checkpoint")),
        ],
        env={
            **os.environ,
            "SPARK_FORMAT": "trivium",
            "KAFKA_OPTIONS": json.dumps(options),
            "TRIVIUM_MASTER": "local[2]",
        },
        capture_output=True,
        text=True,
        timeout=QUERY_SECONDS_MAX,
        check=False,
    )


def check(done: "subprocess.CompletedProcess[str]") -> None:
    """A batch into a topic, a stream from it into another, and both read back."""
    assert done.returncode == 0, done.stderr[-3000:]
    answer = json.loads(done.stdout.splitlines()[-1])
    assert answer["first"] == ROWS
    assert answer["copy"] == ROWS


def test_kafka_connector_of_spark_logs_in(
    broker: Served, options: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    try:
        spark_kafka = SparkKafka.obtain()
    except Unavailable as reason:
        pytest.skip(str(reason))
    monkeypatch.setenv("KAFKA_OPTIONS", json.dumps(options))
    checkpoint = str(tmp_path / "checkpoint")
    check(spark_kafka.run(QUERIES, "round-trip", broker.bootstrap, "first", "copy", checkpoint))


def test_source_and_sink_of_trivium_log_in(broker: Served, options: dict[str, str], tmp_path: Path) -> None:
    check(by_ours(broker, options, tmp_path))


def test_sink_of_trivium_with_a_wrong_password_says_so(
    broker: Served, options: dict[str, str], tmp_path: Path
) -> None:
    """And does not repeat it (S15)."""
    wrong = {name: text.replace("admin-password", "canary") for name, text in options.items()}
    done = by_ours(broker, wrong, tmp_path)
    assert done.returncode != 0
    assert "does not let you in; check the user name and the password." in done.stderr, done.stderr[-3000:]
    assert "canary" not in done.stderr + done.stdout
