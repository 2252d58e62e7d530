"""Transactions, their producers, and the batches of a query."""

from collections.abc import Mapping
from typing import Any, Final

from tests.abuse.city import City, Right
from tests.abuse.rows.row import BY_PARTITION, Names, Need, Row, cluster, group, one, topic, transaction
from trivium.core.acls.entry import Operation as Op
from trivium.core.acls.entry import ResourceType as Kind
from trivium.messages.api import ApiKey
from trivium.messages.extensions import ExtensionKey


def _adding(city: City, names: Names) -> Mapping[str, Any]:
    topics = one(name=names.topic, partitions=[0])
    producer = {"producer_id": city.producer_id, "producer_epoch": city.producer_epoch}
    return {
        "transactions": one(transactional_id=names.transactional_id, topics=topics, **producer),
        "v3_and_below_transactional_id": names.transactional_id,
        "v3_and_below_producer_id": city.producer_id,
        "v3_and_below_producer_epoch": city.producer_epoch,
        "v3_and_below_topics": topics,
    }


def producer(city: City, names: Names) -> dict[str, Any]:
    return {
        "transactional_id": names.transactional_id,
        "producer_id": city.producer_id,
        "producer_epoch": city.producer_epoch,
    }


ROWS: Final[tuple[Row, ...]] = (
    Row(
        ApiKey.FIND_COORDINATOR,
        lambda city, names: {
            "key": names.transactional_id,
            "key_type": 1,
            "coordinator_keys": [names.transactional_id],
        },
        (transaction(Op.DESCRIBE, "error_code", (4, "coordinators.error_code")),),
        "of a transaction",
        versions=(1, 99),
    ),
    Row(
        ApiKey.INIT_PRODUCER_ID,
        lambda city, names: {"transactional_id": None, "transaction_timeout_ms": 1_000},
        (
            Need(
                (Right(Op.IDEMPOTENT_WRITE, Kind.CLUSTER), Right(Op.WRITE, Kind.TOPIC, "*")),
                ((0, "error_code"),),
            ),
        ),
    ),
    Row(
        ApiKey.ADD_PARTITIONS_TO_TXN,
        _adding,
        (
            transaction(Op.WRITE, "results_by_topic_v3_and_below.results_by_partition.partition_error_code"),
            topic(Op.WRITE, "results_by_topic_v3_and_below.results_by_partition.partition_error_code"),
        ),
        versions=(0, 3),
    ),
    Row(
        ApiKey.ADD_PARTITIONS_TO_TXN,
        _adding,
        (cluster(Op.CLUSTER_ACTION, "error_code"),),
        "for brokers",
        versions=(4, 99),
    ),
    Row(
        ApiKey.ADD_OFFSETS_TO_TXN,
        lambda city, names: producer(city, names) | {"group_id": names.group},
        (transaction(Op.WRITE, "error_code"), group(Op.READ, "error_code")),
    ),
    Row(
        ApiKey.TXN_OFFSET_COMMIT,
        lambda city, names: (
            producer(city, names)
            | {
                "group_id": names.group,
                "topics": one(name=names.topic, partitions=one(partition_index=0, committed_offset=2)),
            }
        ),
        (
            transaction(Op.WRITE, BY_PARTITION),
            group(Op.READ, BY_PARTITION),
            topic(Op.READ, BY_PARTITION),
        ),
    ),
    Row(
        ApiKey.WRITE_TXN_MARKERS,
        lambda city, names: {
            "markers": one(
                producer_id=city.producer_id,
                producer_epoch=city.producer_epoch,
                transaction_result=True,
                topics=one(name=names.topic, partition_indexes=[0]),
            )
        },
        # Kafka takes CLUSTER_ACTION as well, for brokers that end each other's transactions: there are none.
        (cluster(Op.ALTER, "markers.topics.partitions.error_code"),),
    ),
    Row(
        ApiKey.DESCRIBE_TRANSACTIONS,
        lambda city, names: {"transactional_ids": [names.transactional_id]},
        (transaction(Op.DESCRIBE, "transaction_states.error_code"),),
    ),
    Row(ApiKey.LIST_TRANSACTIONS, lambda city, names: {}, (transaction(Op.DESCRIBE),)),
    Row(
        ExtensionKey.DESCRIBE_QUERIES,
        lambda city, names: {"query_ids": [names.query_id]},
        (transaction(Op.DESCRIBE, "queries.error_code", name="query-1"),),
    ),
    Row(
        ExtensionKey.COMMIT_BATCH,
        lambda city, names: {"query_id": names.query_id, "batch_id": 2, "prepared": []},
        (transaction(Op.WRITE, "error_code", name="query-1"),),
    ),
)
