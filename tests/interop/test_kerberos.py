"""Logins by Kerberos against a real KDC, by Kafka's Java tools and kafka-python (mission 003.20, S8)."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.interop.kafka import ROOT, Kafka, Unavailable
from tests.interop.kerberos import REALM, SERVICE, Realm, obtain_gssapi
from tests.server.serving import Served

pytestmark = pytest.mark.interop

CLIENT_SECONDS_MAX = 120
MODULE = "com.sun.security.auth.module.Krb5LoginModule required useKeyTab=true storeKey=true"

KAFKA_PYTHON = """
import sys
from kafka import KafkaConsumer, KafkaProducer
options = dict(
    bootstrap_servers=sys.argv[1], security_protocol="SASL_PLAINTEXT", sasl_mechanism="GSSAPI",
    sasl_kerberos_service_name="kafka", sasl_kerberos_domain_name="localhost",
)
producer = KafkaProducer(**options, max_block_ms=60000)
producer.send(sys.argv[2], b"hello").get(60)
producer.close()
consumer = KafkaConsumer(sys.argv[2], auto_offset_reset="earliest", consumer_timeout_ms=60000, **options)
print(next(consumer).value.decode())
"""


@pytest.fixture(scope="module")
def gssapi() -> Path:
    try:
        return obtain_gssapi()
    except Unavailable as reason:
        pytest.skip(str(reason))


@pytest.fixture(scope="module")
def realm(gssapi: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Realm]:
    with Realm(tmp_path_factory.mktemp("realm"), gssapi) as made:
        yield made


@pytest.fixture(scope="module")
def broker(realm: Realm, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """As a ``server.properties`` of Kafka's has it. Ann may do everything, others nothing."""
    directory = tmp_path_factory.mktemp("broker")
    config = directory / "server.properties"
    config.write_text(
        "sasl.enabled.mechanisms=GSSAPI\n"
        "sasl.kerberos.service.name=kafka\n"
        "sasl.kerberos.principal.to.local.rules=RULE:[1:$1](svc-.*)s/svc-//, DEFAULT\n"
        "listener.name.sasl_plaintext.gssapi.sasl.jaas.config="
        f'{MODULE} keyTab="{realm.keytab}" principal="{SERVICE}";\n'
        "authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer\n"
        "super.users=User:ann\n"
        "iggy.root.username=admin\niggy.root.password=admin-password\n"
    )
    flags = (str(config), "--kafka", "SASL_PLAINTEXT://127.0.0.1:0")
    with Served(directory, *flags, environment=realm.environment) as served:
        yield served


def by_kafka_python(
    broker: Served, environment: dict[str, str], topic: str
) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-c", KAFKA_PYTHON, broker.bootstrap, topic],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=CLIENT_SECONDS_MAX,
        check=False,
    )


def test_java_client_logs_in_by_its_keytab(
    kafka: Kafka, realm: Realm, broker: Served, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    realm.user("ann")
    monkeypatch.setenv("JDK_JAVA_OPTIONS", f"-Djava.security.krb5.conf={realm.config}")
    properties = tmp_path / "client.properties"
    properties.write_text(
        "security.protocol=SASL_PLAINTEXT\nsasl.mechanism=GSSAPI\nsasl.kerberos.service.name=kafka\n"
        f'sasl.jaas.config={MODULE} keyTab="{realm.keytab_of("ann")}" principal="ann@{REALM}";\n'
    )
    where = (
        "--bootstrap-server",
        broker.bootstrap,
        "--command-config",
        str(properties),
        "--topic",
        "by-java",
    )
    kafka.run("org.apache.kafka.tools.ConsoleProducer", *where, text="hello\n")
    words = ("--from-beginning", "--max-messages", "1")
    assert "hello" in kafka.run("org.apache.kafka.tools.consumer.ConsoleConsumer", *where, *words)


def test_kafka_python_logs_in_by_its_ticket_under_the_name_that_a_rule_gives(
    realm: Realm, broker: Served
) -> None:
    done = by_kafka_python(broker, realm.user("svc-ann"), "by-python")
    assert done.stdout.split() == ["hello"], done.stderr[-3000:]


def test_user_without_rights_is_let_in_and_refused_its_topic(realm: Realm, broker: Served) -> None:
    done = by_kafka_python(broker, realm.user("bob"), "by-python")
    assert done.returncode != 0
    assert "TopicAuthorizationFailed" in done.stderr, done.stderr[-3000:]


def test_keys_may_be_replaced_while_the_node_runs(realm: Realm, tmp_path: Path) -> None:
    """A ticket by the new key is worth nothing until the broker has it; then it is, without a restart."""
    service = f"other/localhost@{REALM}"
    keytab, renewed = tmp_path / "other.keytab", tmp_path / "renewed.keytab"
    realm.add(service, keytab)
    realm.renew(service, renewed)
    carol = realm.user("carol")
    settings = ("--set", f"kerberos.keytab={keytab}", "--set", f"kerberos.principal={service}")
    users = ("--set", "iggy.root.username=admin", "--set", "iggy.root.password=admin-password")
    flags = ("--kafka", "SASL_PLAINTEXT://127.0.0.1:0", *settings, *users, "--set", "access.anonymous=allow")
    with Served(tmp_path, *flags, environment=realm.environment) as broker:
        assert _first_code(broker, carol, "other@localhost") == "58"
        renewed.replace(keytab)
        assert _first_code(broker, carol, "other@localhost") == "0"
        assert "a login by Kerberos failed" in broker.log_text


FIRST_TOKEN = """
import sys
import gssapi
from trivium.messages.api import ApiKey
from trivium.messages.api.sasl_authenticate import SaslAuthenticateRequest
from trivium.messages.api.sasl_handshake import SaslHandshakeRequest
from tests.server.wire import Peer
name = gssapi.Name(sys.argv[2], gssapi.NameType.hostbased_service)
token = gssapi.SecurityContext(name=name, usage="initiate").step()
with Peer(sys.argv[1]) as peer:
    peer.ask(SaslHandshakeRequest(mechanism="GSSAPI"), 1)
    peer.answer(ApiKey.SASL_HANDSHAKE, 1)
    peer.ask(SaslAuthenticateRequest(auth_bytes=token), 2)
    print(peer.answer(ApiKey.SASL_AUTHENTICATE, 2)[1].error_code)
"""


def _first_code(broker: Served, environment: dict[str, str], service: str) -> str:
    """How the broker answers the first token of a client."""
    done = subprocess.run(
        [sys.executable, "-c", FIRST_TOKEN, broker.bootstrap, service],
        cwd=ROOT,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=CLIENT_SECONDS_MAX,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout.strip()


def test_node_without_a_key_of_its_name_does_not_start(realm: Realm, tmp_path: Path) -> None:
    done = subprocess.run(
        [
            *(sys.executable, "-m", "trivium", "serve", "--data", str(tmp_path / "data"), "--console", "off"),
            *("--iggy", "off", "--rustlog", "off", "--kafka", "SASL_PLAINTEXT://127.0.0.1:0"),
            *("--set", f"kerberos.keytab={realm.keytab}"),
            *("--set", f"kerberos.principal=kafka/elsewhere@{REALM}"),
        ],
        env={**os.environ, **realm.environment},
        capture_output=True,
        text=True,
        timeout=CLIENT_SECONDS_MAX,
        check=False,
    )
    assert done.returncode != 0
    assert "has no key that can be used for" in done.stderr
    assert "Traceback" not in done.stderr
