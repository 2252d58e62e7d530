"""OffsetCommit and OffsetFetch: how far a group has read, the same store that Kafka's groups have (X.3).

RustLog loses committed offsets with its process (mission 004.11); here they are records like any others.
"""

from typing import Final

from trivium.core.commands.offsets import (
    NO_COMMITTED_OFFSET,
    CommitOffsets,
    CommittedPart,
    FetchOffsets,
    GroupOffsets,
    GroupOffsetsWanted,
    OffsetToCommit,
)
from trivium.core.faults import Fault
from trivium.protocols.rustlog.call import Call
from trivium.protocols.rustlog.faults import error_of, sentence
from trivium.protocols.rustlog.messages import (
    OffsetCommitRequest,
    OffsetCommitResponse,
    OffsetFetchRequest,
    OffsetFetchResponse,
    shown,
)

OFFSET_MAX: Final = (1 << 63) - 1


def commit_offset(request: OffsetCommitRequest, call: Call) -> None:
    if request.offset > OFFSET_MAX:
        call.answer(OffsetCommitResponse(False, f"No record has an offset above {OFFSET_MAX}."))
        return

    def reply(parts: list[CommittedPart]) -> None:
        fault = parts[0].fault
        if fault is None:
            call.answer(OffsetCommitResponse(True))
        elif fault is Fault.UNKNOWN_TOPIC:
            where = f"topic={shown(request.topic)}, partition={request.partition}"
            call.answer(OffsetCommitResponse(False, f"partition not found: {where}"))
        else:
            call.answer(OffsetCommitResponse(False, sentence(fault)))

    offset = OffsetToCommit(request.topic, request.partition, request.offset)
    call.execute(CommitOffsets(request.group_id, [offset]), reply)


def fetch_offset(request: OffsetFetchRequest, call: Call) -> None:
    def reply(groups: list[GroupOffsets]) -> None:
        group = groups[0]
        fault = group.fault or group.offsets[0].fault
        if fault is not None:
            call.answer(error_of(fault, topic=request.topic, partition=request.partition))
        else:
            offset = group.offsets[0].offset
            call.answer(OffsetFetchResponse(None if offset == NO_COMMITTED_OFFSET else offset))

    wanted = GroupOffsetsWanted(request.group_id, [(request.topic, request.partition)])
    call.execute(FetchOffsets([wanted]), reply)
