"""Access control lists with real clients: made, found, removed, and felt (mission 003.36, S10)."""

from collections.abc import Iterator

import pytest
from confluent_kafka import KafkaError, KafkaException, Producer
from confluent_kafka.admin import (
    AclBinding,
    AclBindingFilter,
    AclOperation,
    AclPermissionType,
    AdminClient,
    ResourcePatternType,
    ResourceType,
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
