"""AddPartitionsToTxn (key 24): partitions become part of a transaction (mission 003.7).

Served: 0-5.
0-3 by clients, for one transaction
2   PRODUCER_FENCED may be said (KIP-588)
3   flexible
4   by brokers, for many transactions at once, or only to verify (KIP-890)
5   TRANSACTION_ABORTABLE may be said; Kafka says it in version 4, too
"""

from collections.abc import Iterable, Sequence
from typing import Final

from trivium.core.commands.transactions import AddedBatch, AddedPart, AddPartitions, AddPartitionsInBatch
from trivium.messages.api import ApiKey
from trivium.messages.api.add_partitions_to_txn import (
    AddPartitionsToTxnPartitionResult,
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnResult,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTopicResult,
)
from trivium.protocols.kafka.api import Api, Call
from trivium.protocols.kafka.faults import code_of, fenced_code

_FENCED_SINCE: Final = 2
_BATCHES_SINCE: Final = 4


def to_command(request: AddPartitionsToTxnRequest, call: Call) -> AddPartitions | AddPartitionsInBatch:
    if call.version < _BATCHES_SINCE:
        return AddPartitions(
            request.v3_and_below_transactional_id,
            request.v3_and_below_producer_id,
            request.v3_and_below_producer_epoch,
            _places(request.v3_and_below_topics),
        )
    return AddPartitionsInBatch(
        [
            AddPartitions(
                each.transactional_id,
                each.producer_id,
                each.producer_epoch,
                _places(each.topics),
                each.verify_only,
            )
            for each in request.transactions
        ]
    )


def _places(topics: Iterable[AddPartitionsToTxnTopic]) -> list[tuple[str, int]]:
    return [(topic.name, partition) for topic in topics for partition in topic.partitions]


def to_response(result: list[AddedPart] | AddedBatch, call: Call) -> AddPartitionsToTxnResponse:
    if isinstance(result, list):
        return AddPartitionsToTxnResponse(
            throttle_time_ms=0, results_by_topic_v3_and_below=_topics(result, call.version)
        )
    return AddPartitionsToTxnResponse(
        throttle_time_ms=0,
        error_code=code_of(result.fault),
        results_by_transaction=[
            AddPartitionsToTxnResult(
                transactional_id=asked.transactional_id, topic_results=_topics(parts, call.version)
            )
            for asked, parts in zip(call.request.transactions, result.parts, strict=False)
        ],
    )


def _topics(parts: Sequence[AddedPart], version: int) -> list[AddPartitionsToTxnTopicResult]:
    by_topic: dict[str, list[AddPartitionsToTxnPartitionResult]] = {}
    for part in parts:
        by_topic.setdefault(part.topic, []).append(
            AddPartitionsToTxnPartitionResult(
                partition_index=part.partition,
                partition_error_code=fenced_code(part.fault, is_known=version >= _FENCED_SINCE),
            )
        )
    return [
        AddPartitionsToTxnTopicResult(name=name, results_by_partition=partitions)
        for name, partitions in by_topic.items()
    ]


API = Api(ApiKey.ADD_PARTITIONS_TO_TXN, 0, 5, to_command, to_response)
