"""DeleteTopics (key 20): delete topics.

Served: 0-6. By name; from version 6 on by name or by id, and a topic that has both or neither is refused.
From version 5 on a client knows that it has deleted too many partitions, and is refused (KIP-599).
"""

from typing import Final

from trivium.core.commands.command import TopicRef
from trivium.core.commands.topics import DeletedTopic, DeleteTopics
from trivium.core.faults import Fault
from trivium.messages.api import ApiKey
from trivium.messages.api.delete_topics import (
    DeletableTopicResult,
    DeleteTopicsRequest,
    DeleteTopicsResponse,
)
from trivium.messages.errors import ErrorCode
from trivium.protocols.kafka.api import Api, Call
from trivium.protocols.kafka.faults import code_of
from trivium.wire.uuid_text import ZERO_UUID

_DISABLED_SINCE: Final = 3
"""The first version that has a code for topic deletion being disabled."""

_QUOTA_ERROR_SINCE: Final = 5


def to_command(request: DeleteTopicsRequest, call: Call) -> DeleteTopics:
    refs: list[TopicRef] = list(request.topic_names)
    call.state = refused = []
    for topic in request.topics:
        if topic.name is not None and topic.topic_id != ZERO_UUID:
            message = "You may not specify both topic name and topic id."
        elif topic.name is None and topic.topic_id == ZERO_UUID:
            message = "Neither topic name nor id were specified."
        else:
            refs.append(topic.topic_id if topic.name is None else topic.name)
            continue
        refused.append(DeletedTopic(topic.name, topic.topic_id, Fault.INVALID_REQUEST, message))
    return DeleteTopics(refs, request.timeout_ms, refuses_debtors=call.version >= _QUOTA_ERROR_SINCE)


def to_response(results: list[DeletedTopic], call: Call) -> DeleteTopicsResponse:
    return DeleteTopicsResponse(
        responses=[
            DeletableTopicResult(
                name=topic.name,
                topic_id=topic.topic_id,
                error_code=_code(topic.fault, call.version),
                error_message=topic.message,
            )
            for topic in (*call.state, *results)
        ]
    )


def _code(fault: Fault | None, version: int) -> int:
    if fault is Fault.TOPIC_DELETION_DISABLED and version < _DISABLED_SINCE:
        return ErrorCode.INVALID_REQUEST
    return code_of(fault)


API = Api(ApiKey.DELETE_TOPICS, 0, 6, to_command, to_response)
