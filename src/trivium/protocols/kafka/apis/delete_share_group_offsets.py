"""DeleteShareGroupOffsets (key 92): forget where share groups without members stand in some topics.

Served: 0.
"""

from trivium.core.commands.share_groups import DeletedShareOffsets, DeleteShareOffsets
from trivium.messages.api import ApiKey
from trivium.messages.api.delete_share_group_offsets import (
    DeleteShareGroupOffsetsRequest,
    DeleteShareGroupOffsetsResponse,
    DeleteShareGroupOffsetsResponseTopic,
)
from trivium.protocols.kafka.api import Api, Call
from trivium.protocols.kafka.faults import code_of


def to_command(request: DeleteShareGroupOffsetsRequest, call: Call) -> DeleteShareOffsets:
    return DeleteShareOffsets(request.group_id, [topic.topic_name for topic in request.topics])


def to_response(result: DeletedShareOffsets, call: Call) -> DeleteShareGroupOffsetsResponse:
    return DeleteShareGroupOffsetsResponse(
        throttle_time_ms=0,
        error_code=code_of(result.fault),
        error_message=result.message,
        responses=[
            DeleteShareGroupOffsetsResponseTopic(
                topic_name=topic.topic_name,
                topic_id=topic.topic_id,
                error_code=code_of(topic.fault),
                error_message=topic.message,
            )
            for topic in result.topics
        ],
    )


API = Api(ApiKey.DELETE_SHARE_GROUP_OFFSETS, 0, 0, to_command, to_response)
