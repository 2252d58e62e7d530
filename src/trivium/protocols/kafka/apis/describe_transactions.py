"""DescribeTransactions (key 65): how transactional ids stand. Served: 0."""

from trivium.core.commands.transactions import DescribedTransaction, DescribeTransactions
from trivium.messages.api import ApiKey
from trivium.messages.api.describe_transactions import (
    DescribeTransactionsRequest,
    DescribeTransactionsResponse,
    TopicData,
    TransactionState,
)
from trivium.protocols.kafka.api import Api, Call
from trivium.protocols.kafka.faults import code_of


def to_command(request: DescribeTransactionsRequest, call: Call) -> DescribeTransactions:
    return DescribeTransactions(request.transactional_ids)


def to_response(results: list[DescribedTransaction], call: Call) -> DescribeTransactionsResponse:
    return DescribeTransactionsResponse(
        throttle_time_ms=0, transaction_states=[_state(result) for result in results]
    )


def _state(result: DescribedTransaction) -> TransactionState:
    by_topic: dict[str, list[int]] = {}
    for topic, partition in result.partitions:
        by_topic.setdefault(topic, []).append(partition)
    return TransactionState(
        error_code=code_of(result.fault),
        transactional_id=result.transactional_id,
        transaction_state=result.state,
        transaction_timeout_ms=result.timeout_ms,
        transaction_start_time_ms=result.started_at_ms,
        producer_id=result.producer_id,
        producer_epoch=result.producer_epoch,
        topics=[TopicData(topic=topic, partitions=partitions) for topic, partitions in by_topic.items()],
    )


API = Api(ApiKey.DESCRIBE_TRANSACTIONS, 0, 0, to_command, to_response)
