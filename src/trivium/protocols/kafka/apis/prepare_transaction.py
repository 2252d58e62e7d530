"""PrepareTransaction (key 16384, our own): a transaction waits for its batch (ADR 11).

Served: 0.
"""

from trivium.core.commands.batches import Outcome, PrepareTransaction
from trivium.messages.extensions import ExtensionKey
from trivium.messages.extensions.prepare_transaction import (
    PrepareTransactionRequest,
    PrepareTransactionResponse,
)
from trivium.protocols.kafka.api import Api, Call
from trivium.protocols.kafka.faults import code_of


def to_command(request: PrepareTransactionRequest, call: Call) -> PrepareTransaction:
    return PrepareTransaction(request.transactional_id, request.producer_id, request.producer_epoch)


def to_response(result: Outcome, call: Call) -> PrepareTransactionResponse:
    return PrepareTransactionResponse(
        throttle_time_ms=0, error_code=code_of(result.fault), error_message=result.message
    )


API = Api(ExtensionKey.PREPARE_TRANSACTION, 0, 0, to_command, to_response)
