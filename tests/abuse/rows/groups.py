"""Groups of every kind, and their offsets."""

from collections.abc import Mapping
from typing import Any, Final

from tests.abuse.city import City, Right
from tests.abuse.rows.row import BY_PARTITION, Names, Need, Row, group, one, sharers, topic
from trivium.core.acls.entry import Operation as Op
from trivium.core.acls.entry import ResourceType as Kind
from trivium.messages.api import ApiKey


def _joining(city: City, names: Names) -> Mapping[str, Any]:
    return {
        "group_id": names.group,
        "session_timeout_ms": 10_000,
        "rebalance_timeout_ms": 10_000,
        "protocol_type": "consumer",
        "protocols": one(name="range", metadata=b""),
    }


def _offsets(names: Names) -> list[dict[str, Any]]:
    partition = {"partition_index": 0, "committed_offset": 2}
    return one(name=names.topic, topic_id=names.topic_id, partitions=[partition])


def _share_topics(names: Names) -> list[dict[str, Any]]:
    return one(topic_id=names.topic_id, partitions=one(partition_index=0))


ROWS: Final[tuple[Row, ...]] = (
    Row(
        ApiKey.OFFSET_COMMIT,
        lambda city, names: {"group_id": names.group, "topics": _offsets(names)},
        (group(Op.READ, BY_PARTITION), topic(Op.READ, BY_PARTITION)),
        is_by_id=10,
    ),
    Row(
        ApiKey.OFFSET_FETCH,
        lambda city, names: {
            "group_id": names.group,
            "topics": one(name=names.topic, partition_indexes=[0]),
            "groups": one(
                group_id=names.group,
                topics=one(name=names.topic, topic_id=names.topic_id, partition_indexes=[0]),
            ),
        },
        (
            group(Op.DESCRIBE, BY_PARTITION, (2, "error_code"), (8, "groups.error_code")),
            topic(Op.DESCRIBE, BY_PARTITION, (8, f"groups.{BY_PARTITION}")),
        ),
        is_by_id=10,
    ),
    Row(
        ApiKey.FIND_COORDINATOR,
        lambda city, names: {"key": names.group, "key_type": 0, "coordinator_keys": [names.group]},
        (group(Op.DESCRIBE, "error_code", (4, "coordinators.error_code")),),
        "of a group",
    ),
    Row(ApiKey.JOIN_GROUP, _joining, (group(Op.READ, "error_code"),)),
    Row(
        ApiKey.HEARTBEAT,
        lambda city, names: {"group_id": names.group, "generation_id": 1, "member_id": "m"},
        (group(Op.READ, "error_code"),),
    ),
    Row(
        ApiKey.LEAVE_GROUP,
        lambda city, names: {"group_id": names.group, "member_id": "m", "members": one(member_id="m")},
        (group(Op.READ, "error_code"),),
    ),
    Row(
        ApiKey.SYNC_GROUP,
        lambda city, names: {
            "group_id": names.group,
            "generation_id": 1,
            "member_id": "m",
            "protocol_type": "consumer",
            "protocol_name": "range",
        },
        (group(Op.READ, "error_code"),),
    ),
    Row(
        ApiKey.DESCRIBE_GROUPS,
        lambda city, names: {"groups": [names.group]},
        (group(Op.DESCRIBE, "groups.error_code"),),
    ),
    Row(
        ApiKey.LIST_GROUPS,
        lambda city, names: {},
        (Need((Right(Op.DESCRIBE, Kind.GROUP, "buyers"), Right(Op.DESCRIBE, Kind.CLUSTER))),),
    ),
    Row(
        ApiKey.CONSUMER_GROUP_HEARTBEAT,
        lambda city, names: {
            "group_id": names.group,
            "member_id": "A" * 22,
            "rebalance_timeout_ms": 1_000,
            "subscribed_topic_names": [names.topic],
            "topic_partitions": [],
        },
        (group(Op.READ, "error_code"), topic(Op.DESCRIBE, "error_code")),
    ),
    Row(
        ApiKey.CONSUMER_GROUP_DESCRIBE,
        lambda city, names: {"group_ids": [names.peopled_group]},
        (
            group(Op.DESCRIBE, "groups.error_code", name="readers"),
            topic(Op.DESCRIBE, "groups.error_code"),
        ),
    ),
    Row(
        ApiKey.SHARE_GROUP_HEARTBEAT,
        lambda city, names: {
            "group_id": names.share_group,
            "member_id": "A" * 22,
            "subscribed_topic_names": [names.topic],
        },
        (sharers(Op.READ, "error_code"), topic(Op.DESCRIBE, "error_code")),
    ),
    Row(
        ApiKey.SHARE_GROUP_DESCRIBE,
        lambda city, names: {"group_ids": [names.peopled_share_group]},
        (
            group(Op.DESCRIBE, "groups.error_code", name="drinkers"),
            topic(Op.DESCRIBE, "groups.error_code"),
        ),
    ),
    Row(
        ApiKey.SHARE_FETCH,
        lambda city, names: {
            "group_id": names.share_group,
            "member_id": "A" * 22,
            "topics": _share_topics(names),
        },
        (sharers(Op.READ, "error_code"), topic(Op.READ, "responses.partitions.error_code")),
        is_by_id=0,
    ),
    Row(
        ApiKey.SHARE_ACKNOWLEDGE,
        lambda city, names: {
            "group_id": names.share_group,
            "member_id": "A" * 22,
            "share_session_epoch": 1,
            "topics": _share_topics(names),
        },
        (sharers(Op.READ, "error_code"),),
        is_by_id=0,
    ),
    Row(
        ApiKey.DESCRIBE_SHARE_GROUP_OFFSETS,
        lambda city, names: {
            "groups": one(group_id=names.share_group, topics=one(topic_name=names.topic, partitions=[0]))
        },
        (
            sharers(Op.DESCRIBE, "groups.error_code"),
            topic(Op.DESCRIBE, "groups.topics.partitions.error_code"),
        ),
    ),
    Row(
        ApiKey.ALTER_SHARE_GROUP_OFFSETS,
        lambda city, names: {
            "group_id": names.share_group,
            "topics": one(topic_name=names.topic, partitions=one(partition_index=0, start_offset=2)),
        },
        (sharers(Op.READ, "error_code"), topic(Op.READ, "responses.partitions.error_code")),
    ),
)
