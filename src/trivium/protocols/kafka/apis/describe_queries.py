"""DescribeQueries (key 16386, our own): the newest batch that queries have committed (ADR 11).

Served: 0.
"""

from collections.abc import Sequence

from trivium.core.commands.batches import DescribedQuery, DescribeQueries
from trivium.messages.extensions import ExtensionKey
from trivium.messages.extensions.describe_queries import DescribedQuery as DescribedQueryData
from trivium.messages.extensions.describe_queries import DescribeQueriesRequest, DescribeQueriesResponse
from trivium.protocols.kafka.api import Api, Call
from trivium.protocols.kafka.faults import code_of


def to_command(request: DescribeQueriesRequest, call: Call) -> DescribeQueries:
    return DescribeQueries(request.query_ids)


def to_response(results: Sequence[DescribedQuery], call: Call) -> DescribeQueriesResponse:
    return DescribeQueriesResponse(
        throttle_time_ms=0,
        queries=[
            DescribedQueryData(
                error_code=code_of(each.fault),
                query_id=each.query_id,
                last_batch_id=each.last_batch_id,
                committed_at_ms=each.committed_at_ms,
            )
            for each in results
        ],
    )


API = Api(ExtensionKey.DESCRIBE_QUERIES, 0, 0, to_command, to_response)
