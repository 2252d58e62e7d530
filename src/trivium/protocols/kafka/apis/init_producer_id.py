"""InitProducerId (key 22): a producer gets its id and its epoch.

Served: 0-6.
0   first version
3   producer_id, producer_epoch: a producer goes on after an error (KIP-360)
4   PRODUCER_FENCED may be said (KIP-588)
5   TRANSACTION_ABORTABLE may be said (KIP-890)
6   enable_2pc, keep_prepared_txn (KIP-939)

Without a transactional id a producer always gets a new id and epoch 0, whatever it says it had; that is what
Kafka answers, too.
"""

from trivium.core.commands.producers import InitProducer, NewProducer
from trivium.core.commands.transactions import InitTransactions
from trivium.messages.api import ApiKey
from trivium.messages.api.init_producer_id import InitProducerIdRequest, InitProducerIdResponse
from trivium.protocols.kafka.api import Api, Call
from trivium.protocols.kafka.faults import fenced_code

_FENCED_SINCE = 4


def to_command(request: InitProducerIdRequest, call: Call) -> InitProducer | InitTransactions:
    if request.transactional_id is None:
        return InitProducer(request.producer_id, request.producer_epoch)
    return InitTransactions(
        request.transactional_id,
        request.transaction_timeout_ms,
        request.producer_id,
        request.producer_epoch,
        request.enable_2pc,
        request.keep_prepared_txn,
    )


def to_response(result: NewProducer, call: Call) -> InitProducerIdResponse:
    return InitProducerIdResponse(
        throttle_time_ms=0,
        error_code=fenced_code(result.fault, is_known=call.version >= _FENCED_SINCE),
        producer_id=result.producer_id,
        producer_epoch=result.producer_epoch,
        ongoing_txn_producer_id=result.ongoing_producer_id,
        ongoing_txn_producer_epoch=result.ongoing_producer_epoch,
    )


API = Api(ApiKey.INIT_PRODUCER_ID, 0, 6, to_command, to_response)
