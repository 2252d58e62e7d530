"""Lists, settings, placement, tokens, quotas and users."""

from collections.abc import Mapping
from typing import Any, Final

from tests.abuse.city import PASSWORD, Right
from tests.abuse.rows.row import Need, Row, cluster, group, one, topic
from trivium.core.acls.entry import Operation as Op
from trivium.core.acls.entry import ResourceType as Kind
from trivium.messages.api import ApiKey
from trivium.messages.extensions import ExtensionKey
from trivium.messages.extensions.alter_user import UserAction

_ENTRY: Final = {
    "resource_type": 2,
    "resource_name": "orders",
    "principal": "User:ann",
    "host": "*",
    "operation": 2,
    "permission_type": 3,
}

_ELECTED: Final = "replica_election_results.partition_result.error_code"

_TOPIC, _BROKER, _GROUP, _CLIENT_METRICS = 2, 4, 32, 16
"""Kafka's codes for what has settings."""


def _config(kind: int, name: str) -> Mapping[str, Any]:
    keys = {"configuration_keys": None}
    return {"resources": one(resource_type=kind, resource_name=name, **keys)}


def _alter(kind: int, name: str, key: str, value: str) -> Mapping[str, Any]:
    configs = one(name=key, value=value)
    return {"resources": one(resource_type=kind, resource_name=name, configs=configs), "validate_only": True}


def _acl_filter() -> dict[str, Any]:
    return {
        "resource_type_filter": 2,
        "resource_name_filter": None,
        "principal_filter": None,
        "host_filter": None,
        "operation": 1,
        "permission_type": 1,
    }


ROWS: Final[tuple[Row, ...]] = (
    Row(ApiKey.DESCRIBE_ACLS, lambda city, names: _acl_filter(), (cluster(Op.DESCRIBE, "error_code"),)),
    Row(
        ApiKey.CREATE_ACLS,
        lambda city, names: {"creations": [_ENTRY]},
        (cluster(Op.ALTER, "results.error_code"),),
    ),
    Row(
        ApiKey.DELETE_ACLS,
        lambda city, names: {"filters": [_acl_filter()]},
        (cluster(Op.ALTER, "filter_results.error_code"),),
    ),
    Row(
        ApiKey.DESCRIBE_CONFIGS,
        lambda city, names: _config(_TOPIC, names.topic),
        (topic(Op.DESCRIBE_CONFIGS, "results.error_code"),),
        "of a topic",
    ),
    Row(
        ApiKey.DESCRIBE_CONFIGS,
        lambda city, names: _config(_GROUP, names.group),
        (group(Op.DESCRIBE_CONFIGS, "results.error_code"),),
        "of a group",
    ),
    Row(
        ApiKey.DESCRIBE_CONFIGS,
        lambda city, names: _config(_BROKER, str(city.node.cluster.node_id)),
        (cluster(Op.DESCRIBE_CONFIGS, "results.error_code"),),
        "of a broker",
    ),
    Row(
        ApiKey.DESCRIBE_CONFIGS,
        lambda city, names: _config(_CLIENT_METRICS, "metrics"),
        (cluster(Op.DESCRIBE_CONFIGS, "results.error_code"),),
        "of client metrics",
    ),
    *(
        Row(key, values, needs, word)
        for key in (ApiKey.ALTER_CONFIGS, ApiKey.INCREMENTAL_ALTER_CONFIGS)
        for values, needs, word in (
            (
                lambda city, names: _alter(_TOPIC, names.topic, "retention.ms", "7"),
                (topic(Op.ALTER_CONFIGS, "responses.error_code"),),
                "of a topic",
            ),
            (
                lambda city, names: _alter(_GROUP, names.group, "consumer.session.timeout.ms", "46000"),
                (group(Op.ALTER_CONFIGS, "responses.error_code"),),
                "of a group",
            ),
            (
                lambda city, names: _alter(_BROKER, "", "log.retention.ms", "7"),
                (cluster(Op.ALTER_CONFIGS, "responses.error_code"),),
                "of brokers",
            ),
        )
    ),
    Row(
        ApiKey.ALTER_REPLICA_LOG_DIRS,
        lambda city, names: {"dirs": one(path="/elsewhere", topics=one(name=names.topic, partitions=[0]))},
        (cluster(Op.ALTER, "results.partitions.error_code"),),
    ),
    Row(
        ApiKey.DESCRIBE_LOG_DIRS,
        lambda city, names: {"topics": None},
        (cluster(Op.DESCRIBE, (0, ""), (3, "error_code")),),
    ),
    Row(
        ApiKey.CREATE_DELEGATION_TOKEN,
        lambda city, names: {
            "owner_principal_type": "User",
            "owner_principal_name": "bob",
            "max_lifetime_ms": -1,
        },
        (Need((Right(Op.CREATE_TOKENS, Kind.USER, "User:bob"),), ((0, "error_code"),)),),
        "for somebody else",
        versions=(3, 99),
    ),
    Row(
        ApiKey.DESCRIBE_DELEGATION_TOKEN,
        lambda city, names: {"owners": one(principal_type="User", principal_name="bob")},
        (
            Need(
                (
                    Right(Op.DESCRIBE_TOKENS, Kind.USER, "User:bob"),
                    Right(Op.DESCRIBE, Kind.DELEGATION_TOKEN, "*"),
                )
            ),
        ),
        "of somebody else",
    ),
    Row(
        ApiKey.ELECT_LEADERS,
        lambda city, names: {"topic_partitions": one(topic=names.topic, partitions=[0])},
        (cluster(Op.ALTER, _ELECTED, (1, f"error_code {_ELECTED}")),),
    ),
    Row(
        ApiKey.ALTER_PARTITION_REASSIGNMENTS,
        lambda city, names: {
            "topics": one(name=names.topic, partitions=one(partition_index=0, replicas=None))
        },
        (cluster(Op.ALTER, "error_code"),),
    ),
    Row(
        ApiKey.LIST_PARTITION_REASSIGNMENTS,
        lambda city, names: {"topics": None},
        (cluster(Op.DESCRIBE, "error_code"),),
    ),
    Row(
        ApiKey.DESCRIBE_CLIENT_QUOTAS,
        lambda city, names: {},
        (cluster(Op.DESCRIBE_CONFIGS, "error_code"),),
    ),
    Row(
        ApiKey.ALTER_CLIENT_QUOTAS,
        lambda city, names: {
            "entries": one(
                entity=one(entity_type="user", entity_name="bob"),
                ops=one(key="producer_byte_rate", value=7.0),
            ),
        },
        (cluster(Op.ALTER_CONFIGS, "entries.error_code"),),
    ),
    Row(
        ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS,
        lambda city, names: {"users": None},
        (cluster(Op.DESCRIBE, "error_code"),),
    ),
    Row(
        ApiKey.ALTER_USER_SCRAM_CREDENTIALS,
        lambda city, names: {
            "upsertions": one(
                name="bob", mechanism=1, iterations=4096, salt=b"salt", salted_password=bytes(32)
            )
        },
        (cluster(Op.ALTER, "results.error_code"),),
    ),
    Row(
        ApiKey.DESCRIBE_QUORUM,
        lambda city, names: {
            "topics": one(topic_name="__cluster_metadata", partitions=one(partition_index=0))
        },
        (cluster(Op.DESCRIBE, "error_code"),),
    ),
    Row(
        ApiKey.UPDATE_FEATURES,
        lambda city, names: {
            "feature_updates": one(feature="transaction.version", max_version_level=1, upgrade_type=2),
        },
        (cluster(Op.ALTER, "error_code"),),
    ),
    Row(
        ApiKey.UNREGISTER_BROKER,
        lambda city, names: {"broker_id": 99},
        (cluster(Op.ALTER, "error_code"),),
    ),
    Row(
        ApiKey.LIST_CONFIG_RESOURCES,
        lambda city, names: {},
        (cluster(Op.DESCRIBE_CONFIGS, "error_code"),),
    ),
    Row(
        ExtensionKey.DESCRIBE_USERS,
        lambda city, names: {},
        (cluster(Op.DESCRIBE, "error_code"),),
    ),
    Row(
        ExtensionKey.ALTER_USER,
        lambda city, names: {"action": UserAction.CREATE, "username": "newcomer", "password": "a password"},
        (cluster(Op.ALTER, "error_code"),),
        "that makes one",
    ),
    Row(
        ExtensionKey.ALTER_USER,
        lambda city, names: {"action": UserAction.SET_PASSWORD, "username": "bob", "password": "another"},
        (cluster(Op.ALTER, "error_code"),),
        "that resets a password",
    ),
    Row(
        ExtensionKey.ALTER_USER,
        lambda city, names: {
            "action": UserAction.SET_PASSWORD,
            "username": "bob",
            "password": "another",
            "current_password": PASSWORD,
        },
        (cluster(Op.ALTER, "error_code"),),
        "that changes a password",
    ),
    Row(
        ExtensionKey.ALTER_USER,
        lambda city, names: {"action": UserAction.REMOVE, "username": "bob"},
        (cluster(Op.ALTER, "error_code"),),
        "that removes one",
    ),
)
