"""Kafka's Java tools log in: PLAIN, SCRAM, bearer and delegation tokens (mission 003.20, 003.21, 003.36)."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.clients.bearer import Provider
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
def provider() -> Provider:
    return Provider()


@pytest.fixture(scope="module")
def broker(
    certificates: Certified, provider: Provider, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Broker]:
    keys: Path = tmp_path_factory.mktemp("keys") / "jwks.json"
    provider.write(keys)
    settings = certificates.settings | {
        "listen.kafka": "SASL_SSL://127.0.0.1:0",
        "iggy.root.username": "admin",
        "iggy.root.password": "admin-password",
        "delegation.token.secret.key": "key",
        "sasl.oauthbearer.jwks.endpoint.url": f"file://{keys}",
        "access.acls": "on",
        "super.users": "User:admin",
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
        jaas = f'{MODULES}.{module} required username="{username}" password="{password}"{more};'
        return self.written(f"{username}-{mechanism}", mechanism, jaas)

    def written(self, name: str, mechanism: str, jaas: str, more: str = "") -> str:
        path = self._directory / f"{name}.properties"
        path.write_text(
            "security.protocol=SASL_SSL\n"
            f"sasl.mechanism={mechanism}\n"
            f"sasl.jaas.config={jaas}\n"
            "ssl.truststore.type=PEM\n"
            f"ssl.truststore.location={self._certificates.ca}\n{more}"
        )
        return str(path)

    def run(self, main: str, properties: str, words: str, text: str = "") -> str:
        where = ("--bootstrap-server", self._broker.bootstrap, "--command-config", properties)
        return self._kafka.run(main, *where, *words.split(), text=text)

    def refused(self, main: str, properties: str, words: str) -> str:
        where = ("--bootstrap-server", self._broker.bootstrap, "--command-config", properties)
        return self._kafka.refused(main, *where, *words.split())

    def round_trip(self, properties: str, topic: str) -> str:
        self.run("org.apache.kafka.tools.ConsoleProducer", properties, f"--topic {topic}", "hello\n")
        words = f"--topic {topic} --from-beginning --max-messages 1"
        return self.run("org.apache.kafka.tools.consumer.ConsoleConsumer", properties, words)


@pytest.fixture
def java(kafka: Kafka, broker: Broker, certificates: Certified, tmp_path: Path) -> Java:
    return Java(kafka, broker, certificates, tmp_path)


@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"])
def test_java_client_logs_in(java: Java, mechanism: str) -> None:
    admin = java.properties(mechanism, "admin", "admin-password")
    assert "hello" in java.round_trip(admin, f"by-{mechanism}")


def test_credentials_by_the_configs_tool(java: Java) -> None:
    admin = java.properties("PLAIN", "admin", "admin-password")
    user = "--entity-type users --entity-name app"
    tool = "kafka.admin.ConfigCommand"
    java.run(tool, admin, f"--alter --add-config SCRAM-SHA-256=[password=app-password] {user}")
    assert "SCRAM-SHA-256=iterations=4096" in java.run(tool, admin, f"--describe {user}")
    app = java.properties("SCRAM-SHA-256", "app", "app-password")
    topics = "org.apache.kafka.tools.TopicCommand"
    assert java.run(topics, app, "--list").split() == [], "it may come in, and see nothing"
    java.run(tool, admin, f"--alter --delete-config SCRAM-SHA-256 {user}")
    assert "credentials are not valid" in java.refused(topics, app, "--list")


def test_rights_by_the_acls_tool_count_for_who_has_logged_in(java: Java) -> None:
    admin = java.properties("SCRAM-SHA-512", "admin", "admin-password")
    user = "--entity-type users --entity-name clerk"
    configs, acls = "kafka.admin.ConfigCommand", "org.apache.kafka.tools.AclCommand"
    java.run(configs, admin, f"--alter --add-config SCRAM-SHA-512=[password=clerk-password] {user}")
    clerk = java.properties("SCRAM-SHA-512", "clerk", "clerk-password")
    assert "ClusterAuthorizationException" in java.refused(acls, clerk, "--list")
    java.run(acls, admin, "--add --allow-principal User:clerk --producer --topic desk")
    java.run(acls, admin, "--add --allow-principal User:clerk --consumer --topic desk --group *")
    assert "hello" in java.round_trip(clerk, "desk")
    java.run(acls, admin, "--remove --force --allow-principal User:clerk --operation Read --topic desk")
    words = "--topic desk --from-beginning --max-messages 1 --timeout-ms 60000"
    read = java.run("org.apache.kafka.tools.consumer.ConsoleConsumer", clerk, words)
    assert "hello" not in read, "the tool ends without a code of its own"


def test_java_client_logs_in_by_a_signed_token(
    java: Java, provider: Provider, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    token = tmp_path / "token.jwt"
    token.write_text(provider.token(sub="admin"))
    url = f"file://{token}"
    monkeypatch.setenv("JDK_JAVA_OPTIONS", f"-Dorg.apache.kafka.sasl.oauthbearer.allowed.urls={url}")
    handler = f"{MODULES}.oauthbearer.OAuthBearerLoginCallbackHandler"
    bearer = java.written(
        "bearer",
        "OAUTHBEARER",
        f"{MODULES}.oauthbearer.OAuthBearerLoginModule required;",
        f"sasl.login.callback.handler.class={handler}\nsasl.oauthbearer.token.endpoint.url={url}\n",
    )
    assert "hello" in java.round_trip(bearer, "by-bearer")


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
    java.run(tool, admin, f"--renew --renew-time-period -1 --hmac {found[2]}")
    java.run(tool, admin, f"--expire --expiry-time-period -1 --hmac {found[2]}")
    assert found[1] not in java.run(tool, admin, shown)
