"""ListTransactions (key 66): what transactional ids there are.

Served: 0-2.
0   filters by state and producer id
1   duration_filter: only those that have been running for longer (KIP-994)
2   transactional_id_pattern: a regular expression for the whole id (KIP-1152)
"""

from trivium.core.commands.transactions import ListedTransactions, ListTransactions
from trivium.messages.api import ApiKey
from trivium.messages.api.list_transactions import (
    ListTransactionsRequest,
    ListTransactionsResponse,
    TransactionState,
)
from trivium.protocols.kafka.api import Api, Call
from trivium.protocols.kafka.faults import code_of


def to_command(request: ListTransactionsRequest, call: Call) -> ListTransactions:
    return ListTransactions(
        request.state_filters,
        request.producer_id_filters,
        request.duration_filter,
        request.transactional_id_pattern or "",
    )


def to_response(result: ListedTransactions, call: Call) -> ListTransactionsResponse:
    return ListTransactionsResponse(
        throttle_time_ms=0,
        error_code=code_of(result.fault),
        unknown_state_filters=list(result.unknown_states),
        transaction_states=[
            TransactionState(
                transactional_id=each.transactional_id,
                producer_id=each.producer_id,
                transaction_state=each.state,
            )
            for each in result.transactions
        ],
    )


API = Api(ApiKey.LIST_TRANSACTIONS, 0, 2, to_command, to_response)
