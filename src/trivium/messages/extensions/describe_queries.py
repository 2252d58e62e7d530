"""DescribeQueries (key 16386): the newest batch that queries have committed.

0   first version, flexible
"""

from trivium.messages.schema import Request, Response, Struct
from trivium.messages.types import Int16, Int32, Int64, String


class DescribeQueriesRequest(Request, key=16_386, versions="0", flexible="0+"):
    query_ids: list[String]


class DescribedQuery(Struct):
    error_code: Int16
    query_id: String
    last_batch_id: Int64
    """-1 for a query that has committed nothing, or that is forgotten."""
    committed_at_ms: Int64


class DescribeQueriesResponse(Response, key=16_386, versions="0", flexible="0+"):
    throttle_time_ms: Int32
    queries: list[DescribedQuery]
