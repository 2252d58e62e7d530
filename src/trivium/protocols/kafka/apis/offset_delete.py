"""OffsetDelete (key 47): forget offsets of a group for some partitions. Served: 0."""

from itertools import groupby

from trivium.core.commands.offsets import CommittedPart, DeletedOffsets, DeleteOffsets
from trivium.messages.api import ApiKey
from trivium.messages.api.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteResponse,
    OffsetDeleteResponsePartition,
    OffsetDeleteResponseTopic,
)
from trivium.protocols.kafka.api import Api, Call
from trivium.protocols.kafka.faults import code_of


def to_command(request: OffsetDeleteRequest, call: Call) -> DeleteOffsets:
    return DeleteOffsets(
        request.group_id,
        [(topic.name, part.partition_index) for topic in request.topics for part in topic.partitions],
    )


def to_response(result: DeletedOffsets, call: Call) -> OffsetDeleteResponse:
    return OffsetDeleteResponse(
        error_code=code_of(result.fault),
        throttle_time_ms=0,
        topics=[
            OffsetDeleteResponseTopic(
                name=name,
                partitions=[
                    OffsetDeleteResponsePartition(
                        partition_index=part.partition, error_code=code_of(part.fault)
                    )
                    for part in parts
                ],
            )
            for name, parts in groupby(result.parts, key=_name)
        ],
    )


def _name(part: CommittedPart) -> str:
    return str(part.topic)


API = Api(ApiKey.OFFSET_DELETE, 0, 0, to_command, to_response)
