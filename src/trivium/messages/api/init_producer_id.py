"""InitProducerId (key 22): a producer gets its id and epoch, and fences its predecessor.

0   first version
1   same bytes; a throttled answer is sent at once, and the client waits
2   flexible
3   request gains producer_id, producer_epoch (KIP-360)
4   same bytes; an answer may say PRODUCER_FENCED (KIP-588)
5   same bytes; an answer may say TRANSACTION_ABORTABLE (KIP-890)
6   request gains enable_2pc, keep_prepared_txn; response gains ongoing_txn_producer_id,
    ongoing_txn_producer_epoch (KIP-939); not yet advertised by Kafka 4.3
"""

from trivium.messages.schema import Request, Response, field
from trivium.messages.types import Bool, Int16, Int32, Int64, String


class InitProducerIdRequest(Request, key=22, versions="0-6", flexible="2+"):
    transactional_id: String | None
    transaction_timeout_ms: Int32
    producer_id: Int64 = field("3+", default=-1)
    producer_epoch: Int16 = field("3+", default=-1)
    enable_2pc: Bool = field("6+", default=False)
    keep_prepared_txn: Bool = field("6+", default=False)


class InitProducerIdResponse(Response, key=22, versions="0-6", flexible="2+"):
    throttle_time_ms: Int32
    error_code: Int16
    producer_id: Int64 = -1
    producer_epoch: Int16
    ongoing_txn_producer_id: Int64 = field("6+", default=-1)
    ongoing_txn_producer_epoch: Int16 = field("6+", default=-1)
