"""Access control lists with real clients: made, found, removed, and felt (mission 003.36, S10)."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka import KafkaError, KafkaException, Producer, TopicCollection
from confluent_kafka.admin import (
    AclBinding,
    AclBindingFilter,
    AclOperation,
    AclPermissionType,
    AdminClient,
    NewTopic,
    ResourcePatternType,
    ResourceType,
    ScramCredentialInfo,
    ScramMechanism,
    UserScramCredentialUpsertion,
)
from kafka.admin import ACL, ACLFilter, ACLOperation, ACLPermissionType, KafkaAdminClient, ResourcePattern
from kafka.admin import ResourceType as Kind

from trivium.testing.broker import Broker

SECONDS = 60
DENY_SECRET = AclBinding(
    ResourceType.TOPIC,
    "secret",
    ResourcePatternType.PREFIXED,
    "User:ANONYMOUS",
    "*",
    AclOperation.WRITE,
    AclPermissionType.DENY,
)


@pytest.fixture
def broker() -> Iterator[Broker]:
    """Everybody may do what no list is about: so lists can be felt without a login."""
    settings = {"access.acls": "on", "access.open-without-acls": "true", "access.anonymous": "allow"}
    with Broker(settings=settings) as broker:
        yield broker


def write(broker: Broker, topic: str) -> KafkaError | None:
    """What becomes of one record."""
    errors: list[KafkaError | None] = []
    producer = Producer({"bootstrap.servers": broker.bootstrap, "enable.idempotence": True})
    producer.produce(topic, b"x", on_delivery=lambda error, _message: errors.append(error))
    assert producer.flush(SECONDS) == 0
    return errors[0]


def test_confluent_client_makes_a_rule_that_is_felt_at_once(broker: Broker) -> None:
    admin = AdminClient({"bootstrap.servers": broker.bootstrap})
    broker.create_topic("secret-plans")
    assert write(broker, "secret-plans") is None
    for future in admin.create_acls([DENY_SECRET]).values():
        future.result(SECONDS)
    error = write(broker, "secret-plans")
    assert error is not None
    assert error.code() == KafkaError.TOPIC_AUTHORIZATION_FAILED
    wanted = AclBindingFilter(
        ResourceType.TOPIC,
        "secret-plans",
        ResourcePatternType.MATCH,
        "User:ANONYMOUS",
        "*",
        AclOperation.ANY,
        AclPermissionType.ANY,
    )
    assert admin.describe_acls(wanted).result(SECONDS) == [DENY_SECRET]
    (deleted,) = admin.delete_acls([wanted]).values()
    assert deleted.result(SECONDS) == [DENY_SECRET]
    assert write(broker, "secret-plans") is None


def test_lists_survive_a_restart(broker: Broker) -> None:
    admin = AdminClient({"bootstrap.servers": broker.bootstrap})
    broker.create_topic("secret-plans")
    for future in admin.create_acls([DENY_SECRET]).values():
        future.result(SECONDS)
    broker.restart()
    error = write(broker, "secret-plans")
    assert error is not None
    assert error.code() == KafkaError.TOPIC_AUTHORIZATION_FAILED


def test_kafka_python_makes_and_removes_a_rule(broker: Broker) -> None:
    admin = KafkaAdminClient(bootstrap_servers=broker.bootstrap)
    try:
        rule = ACL(
            principal="User:ann",
            host="*",
            operation=ACLOperation.READ,
            permission_type=ACLPermissionType.ALLOW,
            resource_pattern=ResourcePattern(Kind.GROUP, "readers"),
        )
        assert admin.create_acls([rule])["succeeded"] == [rule]
        every = ACLFilter(
            principal=None,
            host=None,
            operation=ACLOperation.ANY,
            permission_type=ACLPermissionType.ANY,
            resource_pattern=ResourcePattern(Kind.GROUP, "readers"),
        )
        found, _ = admin.describe_acls(every)
        assert found == [rule]
        admin.delete_acls([every])
        assert admin.describe_acls(every)[0] == []
    finally:
        admin.close()


def test_lists_are_refused_while_they_do_not_count() -> None:
    with Broker() as broker:
        admin = AdminClient({"bootstrap.servers": broker.bootstrap})
        (future,) = admin.create_acls([DENY_SECRET]).values()
        with pytest.raises(KafkaException) as refusal:
            future.result(SECONDS)
        assert refusal.value.args[0].code() == KafkaError.SECURITY_DISABLED


CANARY = "canary-4c1e"


def test_users_with_a_login_have_the_rights_of_their_lists_and_leave_a_trail(tmp_path: Path) -> None:
    """S10, S15, 003.36: an administrator, and a user that may read orders and nothing else."""
    trail = tmp_path / "audit.jsonl"
    settings = {
        "listen.kafka": "SASL_PLAINTEXT://127.0.0.1:0",
        "iggy.root.username": "admin",
        "iggy.root.password": CANARY,
        "access.acls": "on",
        "audit.file": str(trail),
        "audit.topic": "true",
        "audit.allowed-one-in": "1",
    }
    with Broker(settings=settings) as broker:
        admin = AdminClient(logging_in(broker, "admin", CANARY))
        made = admin.create_topics([NewTopic("orders", 1), NewTopic("other", 1)])
        for created in made.values():
            created.result(SECONDS)
        info = ScramCredentialInfo(ScramMechanism.SCRAM_SHA_256, 4096)
        app = UserScramCredentialUpsertion("app", info, f"{CANARY}-app".encode())
        for future in admin.alter_user_scram_credentials([app], request_timeout=SECONDS).values():
            future.result(SECONDS)
        rule = AclBinding(
            ResourceType.TOPIC,
            "orders",
            ResourcePatternType.LITERAL,
            "User:app",
            "*",
            AclOperation.READ,
            AclPermissionType.ALLOW,
        )
        for added in admin.create_acls([rule]).values():
            added.result(SECONDS)
        user = AdminClient(logging_in(broker, "app", f"{CANARY}-app", "SCRAM-SHA-256"))
        assert set(user.list_topics(timeout=SECONDS).topics) == {"orders"}
        with pytest.raises(KafkaException) as refusal:
            user.create_topics([NewTopic("mine", 1)])["mine"].result(SECONDS)
        assert refusal.value.args[0].code() == KafkaError.TOPIC_AUTHORIZATION_FAILED
        described = user.describe_topics(TopicCollection(["orders"]), include_authorized_operations=True)
        operations = described["orders"].result(SECONDS).authorized_operations
        assert operations is not None
        assert set(operations) == {AclOperation.READ, AclOperation.DESCRIBE}
        stranger = AdminClient(logging_in(broker, "app", "wrong", "SCRAM-SHA-256"))
        with pytest.raises(KafkaException):
            stranger.list_topics(timeout=5)
    assert CANARY not in trail.read_text()
    lines = [json.loads(line) for line in trail.read_text().splitlines()]
    logins = {(each["method"], each["name"], each["allowed"]) for each in lines if each["event"] == "login"}
    assert {("sasl PLAIN", "admin", True), ("sasl SCRAM-SHA-256", "app", True)} <= logins
    assert any(not allowed for _, _, allowed in logins)
    refused = [
        (each["principal"], each["operation"], each["resource"])
        for each in lines
        if each["event"] == "access" and not each["allowed"]
    ]
    assert ("User:app", "CREATE", "TOPIC") in refused


def logging_in(
    broker: Broker, name: str, password: str, mechanism: str = "PLAIN"
) -> dict[str, str | int | float | bool]:
    return {
        "bootstrap.servers": broker.bootstrap,
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": mechanism,
        "sasl.username": name,
        "sasl.password": password,
        "log_level": "0",
    }
