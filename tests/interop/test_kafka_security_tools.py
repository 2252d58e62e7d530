"""Kafka's tools for rights and budgets, at work on our broker (mission 003.36)."""

from collections.abc import Iterator

import pytest
from tests.interop.kafka import Kafka

from trivium.testing.broker import Broker

pytestmark = pytest.mark.interop

ACLS = "kafka.admin.AclCommand"


class Tools:
    def __init__(self, kafka: Kafka, broker: Broker) -> None:
        self.kafka = kafka
        self.broker = broker

    def acls(self, words: str) -> str:
        return self.kafka.run(
            "org.apache.kafka.tools.AclCommand", "--bootstrap-server", self.broker.bootstrap, *words.split()
        )


@pytest.fixture(scope="module")
def tools(kafka: Kafka) -> Iterator[Tools]:
    settings = {"access.acls": "on", "super.users": "User:ANONYMOUS", "access.anonymous": "allow"}
    with Broker(settings=settings) as broker:
        yield Tools(kafka, broker)


def test_acls_tool_adds_lists_and_removes(tools: Tools) -> None:
    added = tools.acls("--add --allow-principal User:ann --producer --topic orders- --resource-pattern-type prefixed")
    assert "(principal=User:ann, host=*, operation=WRITE, permissionType=ALLOW)" in added
    tools.acls("--add --deny-principal User:bob --deny-host 10.0.0.7 --operation All --topic *")
    tools.acls("--add --allow-principal User:ann --operation Alter --cluster")
    listed = tools.acls("--list")
    assert "resourceType=TOPIC, name=orders-, patternType=PREFIXED" in listed
    assert "(principal=User:bob, host=10.0.0.7, operation=ALL, permissionType=DENY)" in listed
    assert "resourceType=CLUSTER, name=kafka-cluster, patternType=LITERAL" in listed
    only = tools.acls("--list --topic orders-1 --resource-pattern-type match")
    assert "orders-" in only and "name=*" in only and "CLUSTER" not in only
    tools.acls("--remove --force --topic orders- --resource-pattern-type prefixed")
    assert "orders-" not in tools.acls("--list")
