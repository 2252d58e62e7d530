"""OffsetForLeaderEpoch (key 23): where the records of a leader's epoch end (KIP-320). Served: 0-4."""

from trivium.core.commands.list_offsets import EpochEnd, EpochQuery, FindEpochEnds
from trivium.messages.api import ApiKey
from trivium.messages.api.offset_for_leader_epoch import (
    EpochEndOffset,
    OffsetForLeaderEpochRequest,
    OffsetForLeaderEpochResponse,
    OffsetForLeaderTopicResult,
)
from trivium.protocols.kafka.api import Api, Call
from trivium.protocols.kafka.faults import code_of


def to_command(request: OffsetForLeaderEpochRequest, call: Call) -> FindEpochEnds:
    return FindEpochEnds(
        [
            EpochQuery(topic.topic, part.partition, part.leader_epoch, part.current_leader_epoch)
            for topic in request.topics
            for part in topic.partitions
        ]
    )


def to_response(results: list[EpochEnd], call: Call) -> OffsetForLeaderEpochResponse:
    by_topic: dict[str, list[EpochEndOffset]] = {topic.topic: [] for topic in call.request.topics}
    for result in results:
        assert isinstance(result.topic, str)
        by_topic[result.topic].append(
            EpochEndOffset(
                error_code=code_of(result.fault),
                partition=result.partition,
                leader_epoch=result.leader_epoch,
                end_offset=result.offset_end,
            )
        )
    return OffsetForLeaderEpochResponse(
        topics=[
            OffsetForLeaderTopicResult(topic=topic, partitions=partitions)
            for topic, partitions in by_topic.items()
        ]
    )


API = Api(ApiKey.OFFSET_FOR_LEADER_EPOCH, 0, 4, to_command, to_response)
