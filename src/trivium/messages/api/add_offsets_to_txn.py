"""AddOffsetsToTxn (key 25): the offsets of a group become part of a transaction.

0   first version
1   same bytes; a throttled answer is sent at once, and the client waits
2   same bytes; an answer may say PRODUCER_FENCED (KIP-588)
3   flexible
4   same bytes; an answer may say TRANSACTION_ABORTABLE (KIP-890)
"""

from trivium.messages.schema import Request, Response
from trivium.messages.types import Int16, Int32, Int64, String


class AddOffsetsToTxnRequest(Request, key=25, versions="0-4", flexible="3+"):
    transactional_id: String
    producer_id: Int64
    producer_epoch: Int16
    group_id: String


class AddOffsetsToTxnResponse(Response, key=25, versions="0-4", flexible="3+"):
    throttle_time_ms: Int32
    error_code: Int16
