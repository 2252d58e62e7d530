"""EndTxn (key 26): commit or abort a transaction.

0   first version
1   same bytes; a throttled answer is sent at once, and the client waits
2   same bytes; an answer may say PRODUCER_FENCED (KIP-588)
3   flexible
4   same bytes; an answer may say TRANSACTION_ABORTABLE (KIP-890)
5   response gains producer_id, producer_epoch (KIP-890)
"""

from trivium.messages.schema import Request, Response, field
from trivium.messages.types import Bool, Int16, Int32, Int64, String


class EndTxnRequest(Request, key=26, versions="0-5", flexible="3+"):
    transactional_id: String
    producer_id: Int64
    producer_epoch: Int16
    committed: Bool


class EndTxnResponse(Response, key=26, versions="0-5", flexible="3+"):
    throttle_time_ms: Int32
    error_code: Int16
    producer_id: Int64 = field("5+", default=-1, ignorable=True)
    producer_epoch: Int16 = field("5+", default=-1, ignorable=True)
