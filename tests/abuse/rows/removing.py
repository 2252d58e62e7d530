"""What takes something away: with all rights it is carried out, so these come last."""

from typing import Final

from tests.abuse.city import Right
from tests.abuse.rows.row import BY_PARTITION, Need, Row, group, one, sharers, topic, transaction
from tests.abuse.rows.transactions import producer
from trivium.core.acls.entry import Operation as Op
from trivium.core.acls.entry import ResourceType as Kind
from trivium.messages.api import ApiKey
from trivium.messages.extensions import ExtensionKey

ROWS: Final[tuple[Row, ...]] = (
    Row(
        ExtensionKey.PREPARE_TRANSACTION,
        lambda city, names: producer(city, names),
        (transaction(Op.WRITE, "error_code"),),
    ),
    Row(
        ApiKey.END_TXN,
        lambda city, names: producer(city, names) | {"committed": True},
        (transaction(Op.WRITE, "error_code"),),
    ),
    Row(
        ApiKey.INIT_PRODUCER_ID,
        lambda city, names: {
            "transactional_id": names.transactional_id,
            "transaction_timeout_ms": 1_000,
        },
        (transaction(Op.WRITE, "error_code"),),
        "for transactions",
    ),
    Row(
        ApiKey.INIT_PRODUCER_ID,
        lambda city, names: {
            "transactional_id": names.transactional_id,
            "transaction_timeout_ms": 1_000,
            "enable_2pc": True,
        },
        (transaction(Op.WRITE, "error_code"), transaction(Op.TWO_PHASE_COMMIT, "error_code")),
        "in two phases",
        versions=(6, 99),
    ),
    Row(
        ApiKey.DELETE_SHARE_GROUP_OFFSETS,
        lambda city, names: {"group_id": names.share_group, "topics": one(topic_name=names.topic)},
        (sharers(Op.DELETE, "error_code"), topic(Op.READ, "responses.error_code")),
    ),
    Row(
        ApiKey.OFFSET_DELETE,
        lambda city, names: {
            "group_id": names.group,
            "topics": one(name=names.topic, partitions=one(partition_index=0)),
        },
        (group(Op.DELETE, "error_code"), topic(Op.READ, BY_PARTITION)),
    ),
    Row(
        ApiKey.DELETE_GROUPS,
        lambda city, names: {"groups_names": [names.group]},
        (group(Op.DELETE, "results.error_code"),),
    ),
    Row(
        ApiKey.DELETE_RECORDS,
        lambda city, names: {
            "topics": one(name=names.topic, partitions=one(partition_index=0, offset=1)),
            "timeout_ms": 1_000,
        },
        (topic(Op.DELETE, BY_PARTITION),),
    ),
    Row(
        ApiKey.DELETE_TOPICS,
        lambda city, names: {
            "topics": one(name=names.topic),
            "topic_names": [names.topic],
            "timeout_ms": 1_000,
        },
        (
            Need(
                (Right(Op.DELETE, Kind.TOPIC, "orders"), Right(Op.DELETE, Kind.CLUSTER)),
                ((0, "responses.error_code"),),
            ),
        ),
    ),
)
