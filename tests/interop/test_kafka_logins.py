"""Kafka's Java tools and clients log in: TLS, PLAIN, SCRAM, delegation tokens (mission 003.20, 003.21)."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.clients.certificates import Certified, certified
from tests.interop.kafka import Kafka

from trivium.testing.broker import Broker

pytestmark = pytest.mark.interop

MODULES = "org.apache.kafka.common.security"


@pytest.fixture(scope="module")
def certificates() -> Iterator[Certified]:
    with certified() as made:
        yield made


@pytest.fixture(scope="module")
def broker(certificates: Certified) -> Iterator[Broker]:
    settings = certificates.settings | {
        "listen.kafka": "SASL_SSL://127.0.0.1:0",
        "iggy.root.username": "admin",
        "iggy.root.password": "admin-password",
        "delegation.token.secret.key": "key",
    }
    with Broker(settings=settings) as made:
        yield made


class Java:
    def __init__(self, kafka: Kafka, broker: Broker, certificates: Certified, directory: Path) -> None:
        self._kafka = kafka
        self._broker = broker
        self._certificates = certificates
        self._directory = directory

    def properties(self, mechanism: str, username: str, password: str, more: str = "") -> str:
        module = "plain.PlainLoginModule" if mechanism == "PLAIN" else "scram.ScramLoginModule"
        path = self._directory / f"{username}-{mechanism}.properties"
        path.write_text(
            "security.protocol=SASL_SSL\n"
            f"sasl.mechanism={mechanism}\n"
            f"sasl.jaas.config={MODULES}.{module} required "
            f'username="{username}" password="{password}"{more};\n'
            "ssl.truststore.type=PEM\n"
            f"ssl.truststore.location={self._certificates.ca}\n"
        )
        return str(path)

    def run(self, main: str, properties: str, words: str, text: str = "") -> str:
        where = ("--bootstrap-server", self._broker.bootstrap, "--command-config", properties)
        return self._kafka.run(main, *where, *words.split(), text=text)

    def round_trip(self, properties: str, topic: str) -> str:
        self.run("org.apache.kafka.tools.ConsoleProducer", properties, f"--topic {topic}", "hello\n")
        words = f"--topic {topic} --from-beginning --max-messages 1"
        return self.run("org.apache.kafka.tools.consumer.ConsoleConsumer", properties, words)


@pytest.fixture
def java(kafka: Kafka, broker: Broker, certificates: Certified, tmp_path: Path) -> Java:
    return Java(kafka, broker, certificates, tmp_path)


@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-512"])
def test_java_client_logs_in(java: Java, mechanism: str) -> None:
    admin = java.properties(mechanism, "admin", "admin-password")
    assert "hello" in java.round_trip(admin, f"by-{mechanism}")


def test_credentials_by_the_configs_tool(java: Java) -> None:
    admin = java.properties("PLAIN", "admin", "admin-password")
    user = "--entity-type users --entity-name app"
    tool = "kafka.admin.ConfigCommand"
    java.run(tool, admin, f"--alter --add-config SCRAM-SHA-256=[password=app-password] {user}")
    assert "SCRAM-SHA-256=iterations=4096" in java.run(tool, admin, f"--describe {user}")
    assert "hello" in java.round_trip(java.properties("SCRAM-SHA-256", "app", "app-password"), "by-app")


def test_delegation_token_by_the_tool_and_login_with_it(java: Java) -> None:
    admin = java.properties("PLAIN", "admin", "admin-password")
    tool = "org.apache.kafka.tools.DelegationTokenCommand"
    made = java.run(tool, admin, "--create --max-life-time-period -1 --renewer-principal User:app")
    found = re.search(r"^([0-9a-f-]{36})\s+(\S+)", made, re.MULTILINE)
    assert found is not None, made
    shown = "--describe --owner-principal User:admin"  # without an owner Kafka shows none, and so do we
    bearer = java.properties("SCRAM-SHA-256", found[1], found[2], " tokenauth=true")
    assert "hello" in java.round_trip(bearer, "by-token")
    assert found[1] in java.run(tool, admin, shown)
    java.run(tool, admin, f"--expire --expiry-time-period -1 --hmac {found[2]}")
    assert found[1] not in java.run(tool, admin, shown)
