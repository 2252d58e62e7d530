"""What RustLog's broker has besides its document: making topics, and looking at them."""

from collections.abc import Iterable
from typing import Final

from trivium.core.commands.list_offsets import FindOffsets, FoundOffset, OffsetQuery, Spot
from trivium.core.commands.topics import (
    CreatedTopic,
    CreateTopics,
    DescribedTopics,
    DescribeTopics,
    NewTopic,
)
from trivium.core.faults import Fault
from trivium.protocols.rustlog.call import Call
from trivium.protocols.rustlog.faults import error_of
from trivium.protocols.rustlog.messages import (
    CreateTopicRequest,
    CreateTopicResponse,
    DescribePartitionRequest,
    DescribePartitionResponse,
    DescribeTopicRequest,
    DescribeTopicResponse,
    ErrorResponse,
    ListedTopic,
    ListTopicsRequest,
    ListTopicsResponse,
    PartitionRange,
    Problem,
)
from trivium.wire.limits import RUSTLOG_FRAME_BYTES_MAX

_UNKNOWN: Final = frozenset((Fault.UNKNOWN_TOPIC, Fault.INVALID_TOPIC_NAME))

BATCH_BYTES_MAX: Final = RUSTLOG_FRAME_BYTES_MAX + 100
"""A record may have 10 MB (mission 004.5), so topics that were made here take that: whatever came in a frame,
as a batch."""


def create_topic(request: CreateTopicRequest, call: Call) -> None:
    if request.partitions == 0:
        call.answer(ErrorResponse(Problem.INVALID_PARTITION_COUNT, "A topic has one partition at least."))
        return

    def reply(topics: list[CreatedTopic]) -> None:
        made = topics[0]
        if made.fault is None:
            call.answer(CreateTopicResponse())
        else:
            call.answer(error_of(made.fault, made.message, topic=request.topic, partition=request.partitions))

    configs = {"max.message.bytes": str(BATCH_BYTES_MAX)}
    call.execute(CreateTopics([NewTopic(request.topic, request.partitions, configs=configs)]), reply)


def list_topics(request: ListTopicsRequest, call: Call) -> None:
    def reply(found: DescribedTopics) -> None:
        topics = [
            ListedTopic(topic.name, len(topic.partitions))
            for topic in found.topics
            if topic.name is not None and not topic.is_internal
        ]
        call.answer(ListTopicsResponse(topics))

    call.execute(DescribeTopics(None), reply)


def describe_topic(request: DescribeTopicRequest, call: Call) -> None:
    name = request.topic

    def reply(found: DescribedTopics) -> None:
        topic = found.topics[0]
        if topic.fault in _UNKNOWN:
            call.answer(ErrorResponse(Problem.TOPIC_NOT_FOUND, topic=name))
        elif topic.fault is not None:
            call.answer(error_of(topic.fault, topic.message, topic=name))
        else:
            call.execute(_ranges(name, sorted(topic.partitions)), reply_ranges)

    def reply_ranges(found: list[FoundOffset]) -> None:
        fault = next((each.fault for each in found if each.fault is not None), None)
        if fault is not None:
            call.answer(error_of(fault, topic=name))
        else:
            call.answer(DescribeTopicResponse(name, [_range(each) for each in found]))

    call.execute(DescribeTopics([name]), reply)


def describe_partition(request: DescribePartitionRequest, call: Call) -> None:
    def reply(found: list[FoundOffset]) -> None:
        fault = found[0].fault
        if fault in _UNKNOWN:
            call.answer(
                ErrorResponse(
                    Problem.PARTITION_NOT_DESCRIBED, topic=request.topic, partition=request.partition
                )
            )
        elif fault is not None:
            call.answer(error_of(fault, topic=request.topic, partition=request.partition))
        else:
            call.answer(DescribePartitionResponse(request.topic, _range(found[0])))

    call.execute(_ranges(request.topic, [request.partition]), reply)


def _ranges(topic: str, partitions: Iterable[int]) -> FindOffsets:
    return FindOffsets([OffsetQuery(topic, partition, Spot.LATEST) for partition in partitions])


def _range(found: FoundOffset) -> PartitionRange:
    return PartitionRange(found.partition, found.log_start_offset, found.high_watermark)
