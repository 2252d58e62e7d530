"""AddOffsetsToTxn (key 25): the offsets of a group become part of a transaction (mission 003.7).

Served: 0-4.
2   PRODUCER_FENCED may be said (KIP-588)
3   flexible
4   TRANSACTION_ABORTABLE may be said (KIP-890)
"""

from typing import Final

from trivium.core.commands.transactions import AddOffsets
from trivium.core.faults import Fault
from trivium.messages.api import ApiKey
from trivium.messages.api.add_offsets_to_txn import AddOffsetsToTxnRequest, AddOffsetsToTxnResponse
from trivium.protocols.kafka.api import Api, Call
from trivium.protocols.kafka.faults import fenced_code

_FENCED_SINCE: Final = 2


def to_command(request: AddOffsetsToTxnRequest, call: Call) -> AddOffsets:
    return AddOffsets(request.transactional_id, request.producer_id, request.producer_epoch, request.group_id)


def to_response(fault: Fault | None, call: Call) -> AddOffsetsToTxnResponse:
    code = fenced_code(fault, is_known=call.version >= _FENCED_SINCE)
    return AddOffsetsToTxnResponse(throttle_time_ms=0, error_code=code)


API = Api(ApiKey.ADD_OFFSETS_TO_TXN, 0, 4, to_command, to_response)
