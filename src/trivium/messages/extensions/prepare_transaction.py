"""PrepareTransaction (key 16384): everything of a transaction is written, and somebody else decides about it.

0   first version, flexible
"""

from trivium.messages.schema import Request, Response
from trivium.messages.types import Int16, Int32, Int64, String


class PrepareTransactionRequest(Request, key=16_384, versions="0", flexible="0+"):
    transactional_id: String
    producer_id: Int64
    producer_epoch: Int16


class PrepareTransactionResponse(Response, key=16_384, versions="0", flexible="0+"):
    throttle_time_ms: Int32
    error_code: Int16
    error_message: String | None
