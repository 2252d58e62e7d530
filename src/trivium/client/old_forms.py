"""Messages whose older versions say the same in other fields.

The client makes and reads the newest form only. On the way out ``in_version`` moves what an older version
keeps elsewhere, on the way in ``newest_form`` moves it back.

    FindCoordinator 0-3   one key, the answer not in a list
    OffsetFetch     0-7   one group, its id and topics not in a list
    DeleteTopics    0-5   plain names
    LeaveGroup      0-2   one member id
"""

from typing import TypeVar

from trivium.messages.api.delete_topics import DeleteTopicsRequest
from trivium.messages.api.find_coordinator import (
    Coordinator,
    FindCoordinatorRequest,
    FindCoordinatorResponse,
)
from trivium.messages.api.leave_group import LeaveGroupRequest
from trivium.messages.api.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestTopic,
    OffsetFetchResponse,
    OffsetFetchResponseGroup,
    OffsetFetchResponsePartitions,
    OffsetFetchResponseTopics,
)
from trivium.messages.schema import Request, Response

R = TypeVar("R", bound=Response)


def in_version(request: Request, version: int) -> Request:
    """The request as this version of it says the same."""
    if isinstance(request, FindCoordinatorRequest) and version < 4:
        (key,) = request.coordinator_keys
        return FindCoordinatorRequest(key=key, key_type=request.key_type)
    if isinstance(request, OffsetFetchRequest) and version < 8:
        return _offset_fetch_of_one_group(request)
    if isinstance(request, DeleteTopicsRequest) and version < 6:
        names = [topic.name or "" for topic in request.topics]
        return DeleteTopicsRequest(topic_names=names, timeout_ms=request.timeout_ms)
    if isinstance(request, LeaveGroupRequest) and version < 3:
        (member,) = request.members
        return LeaveGroupRequest(group_id=request.group_id, member_id=member.member_id)
    return request


def newest_form(asked: Request, answer: R, version: int) -> R:
    """The answer to ``asked`` as the newest version would have said it."""
    if (
        isinstance(answer, FindCoordinatorResponse)
        and isinstance(asked, FindCoordinatorRequest)
        and version < 4
    ):
        answer.coordinators = [
            Coordinator(
                key=asked.coordinator_keys[0],
                node_id=answer.node_id,
                host=answer.host,
                port=answer.port,
                error_code=answer.error_code,
                error_message=answer.error_message,
            )
        ]
    if isinstance(answer, OffsetFetchResponse) and isinstance(asked, OffsetFetchRequest) and version < 8:
        answer.groups = [_group_of_plain_answer(asked.groups[0].group_id, answer)]
    return answer


def _offset_fetch_of_one_group(request: OffsetFetchRequest) -> OffsetFetchRequest:
    (group,) = request.groups
    topics = None
    if group.topics is not None:
        topics = [
            OffsetFetchRequestTopic(name=topic.name, partition_indexes=topic.partition_indexes)
            for topic in group.topics
        ]
    return OffsetFetchRequest(group_id=group.group_id, topics=topics)


def _group_of_plain_answer(group_id: str, answer: OffsetFetchResponse) -> OffsetFetchResponseGroup:
    topics = [
        OffsetFetchResponseTopics(
            name=topic.name,
            partitions=[
                OffsetFetchResponsePartitions(
                    partition_index=partition.partition_index,
                    committed_offset=partition.committed_offset,
                    committed_leader_epoch=partition.committed_leader_epoch,
                    metadata=partition.metadata,
                    error_code=partition.error_code,
                )
                for partition in topic.partitions
            ],
        )
        for topic in answer.topics
    ]
    return OffsetFetchResponseGroup(group_id=group_id, topics=topics, error_code=answer.error_code)
