"""Kafka's tools for rights and budgets, at work on our broker (mission 003.36)."""

from collections.abc import Iterator

import pytest
from tests.interop.kafka import Kafka

from trivium.testing.broker import Broker

pytestmark = pytest.mark.interop


class Tools:
    def __init__(self, kafka: Kafka, broker: Broker) -> None:
        self.kafka = kafka
        self.broker = broker

    def acls(self, words: str) -> str:
        return self.kafka.run(
            "org.apache.kafka.tools.AclCommand", "--bootstrap-server", self.broker.bootstrap, *words.split()
        )

    def configs(self, words: str) -> str:
        return self.kafka.run(
            "kafka.admin.ConfigCommand", "--bootstrap-server", self.broker.bootstrap, *words.split()
        )


@pytest.fixture(scope="module")
def tools(kafka: Kafka) -> Iterator[Tools]:
    settings = {"access.acls": "on", "super.users": "User:ANONYMOUS", "access.anonymous": "allow"}
    with Broker(settings=settings) as broker:
        yield Tools(kafka, broker)


def test_acls_tool_adds_lists_and_removes(tools: Tools) -> None:
    added = tools.acls(
        "--add --allow-principal User:ann --producer --topic orders- --resource-pattern-type prefixed"
    )
    assert "(principal=User:ann, host=*, operation=WRITE, permissionType=ALLOW)" in added
    tools.acls("--add --deny-principal User:bob --deny-host 10.0.0.7 --operation All --topic *")
    tools.acls("--add --allow-principal User:ann --operation Alter --cluster")
    listed = tools.acls("--list")
    assert "resourceType=TOPIC, name=orders-, patternType=PREFIXED" in listed
    assert "(principal=User:bob, host=10.0.0.7, operation=ALL, permissionType=DENY)" in listed
    assert "resourceType=CLUSTER, name=kafka-cluster, patternType=LITERAL" in listed
    only = tools.acls("--list --topic orders-1 --resource-pattern-type match")
    assert "orders-" in only
    assert "name=*" in only
    assert "CLUSTER" not in only
    tools.acls("--remove --force --topic orders- --resource-pattern-type prefixed")
    assert "orders-" not in tools.acls("--list")


def test_configs_tool_sets_shows_and_lifts_quotas(tools: Tools) -> None:
    client = "--entity-type users --entity-name ann --entity-type clients --entity-name app"
    tools.configs(f"--alter {client} --add-config producer_byte_rate=1048576,request_percentage=150.5")
    shown = tools.configs(f"--describe {client}")
    assert "producer_byte_rate=1048576.0" in shown
    assert "request_percentage=150.5" in shown
    tools.configs("--alter --entity-type users --entity-default --add-config consumer_byte_rate=2048")
    assert "consumer_byte_rate=2048.0" in tools.configs("--describe --entity-type users --entity-default")
    address = "--entity-type ips --entity-name 10.0.0.7"
    tools.configs(f"--alter {address} --add-config connection_creation_rate=5")
    assert "connection_creation_rate=5.0" in tools.configs(f"--describe {address}")
    tools.configs(f"--alter {client} --delete-config producer_byte_rate,request_percentage")
    assert "producer_byte_rate" not in tools.configs(f"--describe {client}")


def test_producer_of_kafka_keeps_to_its_quota(tools: Tools) -> None:
    tools.broker.create_topic("slow")
    entity = "--entity-type clients --entity-name hasty"
    tools.configs(f"--alter {entity} --add-config producer_byte_rate=20000")
    done = tools.kafka.run(
        "org.apache.kafka.tools.ProducerPerformance",
        *("--topic", "slow", "--num-records", "300", "--record-size", "1000", "--throughput", "-1"),
        "--print-metrics",
        "--producer-props",
        f"bootstrap.servers={tools.broker.bootstrap}",
        "client.id=hasty",
        "batch.size=20000",
    )
    throttled = [line for line in done.splitlines() if "produce-throttle-time-max" in line]
    assert throttled
    assert float(throttled[0].rpartition(":")[2]) > 0
