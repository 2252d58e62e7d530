"""EndTxn (key 26): commit or abort a transaction (mission 003.7).

Served: 0-5.
2   PRODUCER_FENCED may be said (KIP-588)
3   flexible
4   TRANSACTION_ABORTABLE may be said (KIP-890)
5   the next transaction has an epoch of its own, and the answer says which (``transaction.version`` 2)
"""

from typing import Final

from trivium.core.commands.transactions import Ended, EndTransaction
from trivium.messages.api import ApiKey
from trivium.messages.api.end_txn import EndTxnRequest, EndTxnResponse
from trivium.protocols.kafka.api import Api, Call
from trivium.protocols.kafka.faults import fenced_code

_FENCED_SINCE: Final = 2
_RENEWED_SINCE: Final = 5


def to_command(request: EndTxnRequest, call: Call) -> EndTransaction:
    return EndTransaction(
        request.transactional_id,
        request.producer_id,
        request.producer_epoch,
        request.committed,
        call.version >= _RENEWED_SINCE,
    )


def to_response(result: Ended, call: Call) -> EndTxnResponse:
    return EndTxnResponse(
        throttle_time_ms=0,
        error_code=fenced_code(result.fault, is_known=call.version >= _FENCED_SINCE),
        producer_id=result.producer_id,
        producer_epoch=result.producer_epoch,
    )


API = Api(ApiKey.END_TXN, 0, 5, to_command, to_response)
