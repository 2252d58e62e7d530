"""CreatePartitions (key 37): add partitions to topics.

Served: 0-3. From version 3 on a client knows that it has made too many, and is refused (KIP-599).
"""

from typing import Final

from trivium.core.commands.topics import CreatedPartitions, CreatePartitions, NewPartitions
from trivium.messages.api import ApiKey
from trivium.messages.api.create_partitions import (
    CreatePartitionsRequest,
    CreatePartitionsResponse,
    CreatePartitionsTopicResult,
)
from trivium.protocols.kafka.api import Api, Call
from trivium.protocols.kafka.faults import code_of

_QUOTA_ERROR_SINCE: Final = 3


def to_command(request: CreatePartitionsRequest, call: Call) -> CreatePartitions:
    return CreatePartitions(
        [
            NewPartitions(
                topic.name,
                topic.count,
                None if topic.assignments is None else [each.broker_ids for each in topic.assignments],
            )
            for topic in request.topics
        ],
        request.validate_only,
        request.timeout_ms,
        refuses_debtors=call.version >= _QUOTA_ERROR_SINCE,
    )


def to_response(results: list[CreatedPartitions], call: Call) -> CreatePartitionsResponse:
    return CreatePartitionsResponse(
        throttle_time_ms=0,
        results=[
            CreatePartitionsTopicResult(
                name=topic.topic, error_code=code_of(topic.fault), error_message=topic.message
            )
            for topic in results
        ],
    )


API = Api(ApiKey.CREATE_PARTITIONS, 0, 3, to_command, to_response)
