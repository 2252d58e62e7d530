"""CommitBatch (key 16385, our own): many prepared transactions, one commit, once (ADR 11).

Served: 0.
"""

from trivium.core.commands.batches import CommitBatch, CommittedBatch, Prepared
from trivium.messages.extensions import ExtensionKey
from trivium.messages.extensions.commit_batch import CommitBatchRequest, CommitBatchResponse
from trivium.protocols.kafka.api import Api, Call
from trivium.protocols.kafka.faults import code_of


def to_command(request: CommitBatchRequest, call: Call) -> CommitBatch:
    return CommitBatch(
        request.query_id,
        request.batch_id,
        [Prepared(each.transactional_id, each.producer_id, each.producer_epoch) for each in request.prepared],
    )


def to_response(result: CommittedBatch, call: Call) -> CommitBatchResponse:
    return CommitBatchResponse(
        throttle_time_ms=0,
        error_code=code_of(result.fault),
        error_message=result.message,
        last_batch_id=result.last_batch_id,
        was_repeated=result.was_repeated,
    )


API = Api(ExtensionKey.COMMIT_BATCH, 0, 0, to_command, to_response)
