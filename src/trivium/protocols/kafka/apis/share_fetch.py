"""ShareFetch (key 78): acquire and read records of share partitions (KIP-932).

Served: 1-2.
2   how strictly max_records counts (KIP-1206); renewal of locks (KIP-1222)
"""

from typing import Final

from trivium.core.commands.share_groups_reading import (
    Acknowledged,
    AcknowledgedPart,
    SharedPart,
    SharedRecords,
    ShareFetch,
)
from trivium.core.faults import Fault
from trivium.messages.api import ApiKey
from trivium.messages.api.share_fetch import (
    AcknowledgementBatch,
    AcquiredRecords,
    LeaderIdAndEpoch,
    PartitionData,
    ShareFetchableTopicResponse,
    ShareFetchRequest,
    ShareFetchResponse,
)
from trivium.protocols.kafka.api import Api, Call
from trivium.protocols.kafka.faults import code_of

_RENEWAL_SINCE: Final = 2
_BATCHES_WHOLE: Final = 0
_RECORDS_COUNTED: Final = 1
"""Values of share_acquire_mode."""
_AS_BEFORE: Final = LeaderIdAndEpoch(leader_id=0, leader_epoch=0)
"""What Kafka says where nobody looks."""
_UNSAID: Final = LeaderIdAndEpoch(leader_id=-1, leader_epoch=-1)
"""Where an error comes with any other number, franz-go takes it for the node to ask from now on."""


def to_command(request: ShareFetchRequest, call: Call) -> ShareFetch | ShareFetchResponse:
    if request.group_id is None or request.member_id is None:
        return to_response(SharedRecords(Fault.INVALID_REQUEST, "A group and a member are needed."), call)
    if request.share_acquire_mode not in (_BATCHES_WHOLE, _RECORDS_COUNTED):
        words = f"Records cannot be acquired in mode {request.share_acquire_mode}."
        return to_response(SharedRecords(Fault.INVALID_REQUEST, words), call)
    return ShareFetch(
        group_id=request.group_id,
        member_id=request.member_id,
        session_epoch=request.share_session_epoch,
        parts=[
            AcknowledgedPart((topic.topic_id, part.partition_index), _ranges(part.acknowledgement_batches))
            for topic in request.topics
            for part in topic.partitions
        ],
        forgotten=[
            (topic.topic_id, number) for topic in request.forgotten_topics_data for number in topic.partitions
        ],
        max_wait_ms=request.max_wait_ms,
        min_bytes=request.min_bytes,
        max_bytes=request.max_bytes,
        max_records=request.max_records,
        is_strict=request.share_acquire_mode == _RECORDS_COUNTED,
        renews=request.is_renew_ack,
        can_renew=call.version >= _RENEWAL_SINCE,
    )


def _ranges(batches: list[AcknowledgementBatch]) -> list[Acknowledged]:
    return [Acknowledged(each.first_offset, each.last_offset, each.acknowledge_types) for each in batches]


def to_response(result: SharedRecords, call: Call) -> ShareFetchResponse:
    by_topic: dict[bytes, list[PartitionData]] = {}
    for shared in result.parts:
        topic_id, number = shared.part
        by_topic.setdefault(topic_id, []).append(_part(shared, number))
    return ShareFetchResponse(
        throttle_time_ms=0,
        error_code=code_of(result.fault),
        error_message=result.message,
        acquisition_lock_timeout_ms=result.lock_timeout_ms,
        responses=[
            ShareFetchableTopicResponse(topic_id=topic_id, partitions=parts)
            for topic_id, parts in by_topic.items()
        ],
        node_endpoints=[],
    )


def _part(part: SharedPart, number: int) -> PartitionData:
    return PartitionData(
        partition_index=number,
        error_code=code_of(part.fault),
        error_message=part.message,
        acknowledge_error_code=code_of(part.acknowledge_fault),
        acknowledge_error_message=part.acknowledge_message,
        current_leader=_AS_BEFORE if part.fault is None else _UNSAID,
        records=b"".join(part.runs),
        acquired_records=[
            AcquiredRecords(
                first_offset=each.offset_first,
                last_offset=each.offset_last,
                delivery_count=each.delivery_count,
            )
            for each in part.acquired
        ],
    )


API = Api(ApiKey.SHARE_FETCH, 1, 2, to_command, to_response)
