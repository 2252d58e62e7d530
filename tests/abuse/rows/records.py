"""Topics and what is in them."""

from typing import Any, Final

from tests.abuse.city import Right
from tests.abuse.rows.row import BY_PARTITION, Names, Need, Row, one, topic, transaction
from tests.core.batches import batch
from trivium.core.acls.entry import Operation as Op
from trivium.core.acls.entry import ResourceType as Kind
from trivium.messages.api import ApiKey


def _writing(records: bytes, names: Names) -> dict[str, Any]:
    data = one(index=0, records=records)
    return {
        "acks": -1,
        "timeout_ms": 1_000,
        "topic_data": one(name=names.topic, topic_id=names.topic_id, partition_data=data),
    }


ROWS: Final[tuple[Row, ...]] = (
    Row(
        ApiKey.PRODUCE,
        lambda city, names: _writing(batch(b"x"), names),
        (topic(Op.WRITE, "responses.partition_responses.error_code"),),
        is_by_id=13,
    ),
    Row(
        ApiKey.PRODUCE,
        lambda city, names: (
            _writing(city.transactional_batch(), names) | {"transactional_id": names.transactional_id}
        ),
        (
            transaction(Op.WRITE, "responses.partition_responses.error_code"),
            topic(Op.WRITE, "responses.partition_responses.error_code"),
        ),
        "in a transaction",
        versions=(3, 99),
        is_by_id=13,
    ),
    Row(
        ApiKey.FETCH,
        lambda city, names: {
            "max_bytes": 1 << 20,
            "topics": one(
                topic=names.topic,
                topic_id=names.topic_id,
                partitions=one(partition=0, fetch_offset=0, partition_max_bytes=1 << 20),
            ),
        },
        (topic(Op.READ, "responses.partitions.error_code"),),
        is_by_id=13,
    ),
    Row(
        ApiKey.LIST_OFFSETS,
        lambda city, names: {
            "replica_id": -1,
            "topics": one(name=names.topic, partitions=one(partition_index=0, timestamp=-1)),
        },
        (topic(Op.DESCRIBE, BY_PARTITION),),
    ),
    Row(
        ApiKey.METADATA,
        lambda city, names: {"topics": one(name=names.topic), "allow_auto_topic_creation": False},
        (topic(Op.DESCRIBE, "topics.error_code"),),
    ),
    Row(
        ApiKey.METADATA,
        lambda city, names: {"topics": None},
        (topic(Op.DESCRIBE),),
        "of all",
        versions=(1, 99),
    ),
    Row(
        ApiKey.CREATE_TOPICS,
        lambda city, names: {
            "topics": one(name="news", num_partitions=1, replication_factor=1),
            "timeout_ms": 1_000,
        },
        (
            Need(
                (Right(Op.CREATE, Kind.TOPIC, "news"), Right(Op.CREATE, Kind.CLUSTER)),
                ((0, "topics.error_code"),),
            ),
        ),
    ),
    Row(
        ApiKey.CREATE_PARTITIONS,
        lambda city, names: {
            "topics": one(name=names.topic, count=2, assignments=None),
            "timeout_ms": 1_000,
        },
        (topic(Op.ALTER, "results.error_code"),),
    ),
    Row(
        ApiKey.OFFSET_FOR_LEADER_EPOCH,
        lambda city, names: {"topics": one(topic=names.topic, partitions=one(partition=0, leader_epoch=0))},
        (topic(Op.DESCRIBE, BY_PARTITION),),
    ),
    Row(
        ApiKey.DESCRIBE_PRODUCERS,
        lambda city, names: {"topics": one(name=names.topic, partition_indexes=[0])},
        (topic(Op.READ, BY_PARTITION),),
    ),
    Row(
        ApiKey.DESCRIBE_TOPIC_PARTITIONS,
        lambda city, names: {"topics": one(name=names.topic)},
        (topic(Op.DESCRIBE, "topics.error_code"),),
    ),
)
