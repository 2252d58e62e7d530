"""AlterShareGroupOffsets (key 91): set start offsets of share groups without members.

Served: 0.
"""

from trivium.core.commands.share_groups import AlteredShareOffsets, AlterShareOffsets
from trivium.messages.api import ApiKey
from trivium.messages.api.alter_share_group_offsets import (
    AlterShareGroupOffsetsRequest,
    AlterShareGroupOffsetsResponse,
    AlterShareGroupOffsetsResponsePartition,
    AlterShareGroupOffsetsResponseTopic,
)
from trivium.protocols.kafka.api import Api, Call
from trivium.protocols.kafka.faults import code_of


def to_command(request: AlterShareGroupOffsetsRequest, call: Call) -> AlterShareOffsets:
    return AlterShareOffsets(
        request.group_id,
        [
            (topic.topic_name, [(each.partition_index, each.start_offset) for each in topic.partitions])
            for topic in request.topics
        ],
    )


def to_response(result: AlteredShareOffsets, call: Call) -> AlterShareGroupOffsetsResponse:
    return AlterShareGroupOffsetsResponse(
        throttle_time_ms=0,
        error_code=code_of(result.fault),
        error_message=result.message,
        responses=[
            AlterShareGroupOffsetsResponseTopic(
                topic_name=topic.topic_name,
                topic_id=topic.topic_id,
                partitions=[
                    AlterShareGroupOffsetsResponsePartition(
                        partition_index=start.partition,
                        error_code=code_of(start.fault),
                        error_message=start.message,
                    )
                    for start in topic.partitions
                ],
            )
            for topic in result.topics
        ],
    )


API = Api(ApiKey.ALTER_SHARE_GROUP_OFFSETS, 0, 0, to_command, to_response)
