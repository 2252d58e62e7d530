"""CommitBatch (key 16385): commit many prepared transactions as one batch of a query, all or none, once.

0   first version, flexible
"""

from trivium.messages.schema import Request, Response, Struct
from trivium.messages.types import Bool, Int16, Int32, Int64, String


class PreparedTransaction(Struct):
    transactional_id: String
    producer_id: Int64
    producer_epoch: Int16


class CommitBatchRequest(Request, key=16_385, versions="0", flexible="0+"):
    query_id: String
    batch_id: Int64
    prepared: list[PreparedTransaction]


class CommitBatchResponse(Response, key=16_385, versions="0", flexible="0+"):
    throttle_time_ms: Int32
    error_code: Int16
    error_message: String | None
    last_batch_id: Int64
    """The newest batch of the query that is committed, this one or a later one; -1 with an error."""
    was_repeated: Bool
    """The batch, or a later one, had been committed before: what was prepared for it again is aborted."""
