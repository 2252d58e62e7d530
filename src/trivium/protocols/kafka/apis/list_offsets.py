"""ListOffsets (key 2): find offsets by time, or by a negative number that names a place.

Served: 0-11.

    -1  the end, as the isolation level sees it         -2  the beginning
    -3  the youngest record, from 7 on (KIP-734)        -4  the beginning on this disk, from 8 on (KIP-405)
    -5  the last that was tiered, from 9 on (KIP-1005)  -6  the first not tiered yet, from 11 on (KIP-1023)

Version 0 wants a list, newest first: the offset, and after it the beginning of the partition. It was the
start of each segment once; whoever still asks takes the first.
"""

from typing import Final

from trivium.core.commands.list_offsets import FindOffsets, FoundOffset, OffsetQuery, Spot
from trivium.core.faults import Fault
from trivium.messages.api import ApiKey
from trivium.messages.api.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsPartitionResponse,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopicResponse,
)
from trivium.protocols.kafka.api import Api, Call
from trivium.protocols.kafka.faults import code_of

_SPOTS: Final = {
    -1: (0, Spot.LATEST),
    -2: (0, Spot.EARLIEST),
    -3: (7, Spot.YOUNGEST),
    -4: (8, Spot.EARLIEST),
    -5: (9, Spot.TIERED),
    -6: (11, Spot.TIERED),
}
"""Since which version a place may be asked for."""
_NOT_AVAILABLE_SINCE: Final = 5
_READ_COMMITTED: Final = 1


def to_command(request: ListOffsetsRequest, call: Call) -> FindOffsets:
    """What is refused here never gets to the core; ``call.state`` keeps it for the answer."""
    refused: dict[tuple[str, int], FoundOffset] = {}
    queries: dict[tuple[str, int], OffsetQuery] = {}
    for topic in request.topics:
        for part in topic.partitions:
            key = (topic.name, part.partition_index)
            at = _at(part, call.version)
            if key in queries or key in refused:
                queries.pop(key, None)
                refused[key] = FoundOffset(*key, Fault.INVALID_REQUEST)
            elif at is None:
                refused[key] = FoundOffset(*key, Fault.UNSUPPORTED)
            else:
                queries[key] = OffsetQuery(*key, at, part.current_leader_epoch)
    call.state = refused
    return FindOffsets(list(queries.values()), committed=request.isolation_level == _READ_COMMITTED)


def _at(part: ListOffsetsPartition, version: int) -> Spot | int | None:
    """What is asked for; None if this version has no such question."""
    if part.timestamp >= 0:
        return part.timestamp
    since, spot = _SPOTS.get(part.timestamp, (version + 1, None))
    return spot if version >= since else None


def to_response(results: list[FoundOffset], call: Call) -> ListOffsetsResponse:
    by_topic: dict[str, list[ListOffsetsPartitionResponse]] = {}
    wanted = _wanted(call.request) if call.version == 0 else {}
    for result in (*results, *call.state.values()):
        assert isinstance(result.topic, str)
        by_topic.setdefault(result.topic, []).append(
            _old_style(result, wanted[result.topic, result.partition])
            if call.version == 0
            else _partition(result, call.version)
        )
    return ListOffsetsResponse(
        topics=[ListOffsetsTopicResponse(name=name, partitions=parts) for name, parts in by_topic.items()]
    )


def _partition(result: FoundOffset, version: int) -> ListOffsetsPartitionResponse:
    fault = result.fault
    if fault is Fault.OFFSET_NOT_AVAILABLE and version < _NOT_AVAILABLE_SINCE:
        fault = Fault.LEADER_NOT_AVAILABLE
    response = ListOffsetsPartitionResponse(
        partition_index=result.partition,
        error_code=code_of(fault),
        timestamp=result.timestamp_ms,
        offset=result.offset,
    )
    if version >= 4:
        response.leader_epoch = result.leader_epoch
    return response


def _wanted(request: ListOffsetsRequest) -> dict[tuple[str, int], int]:
    return {
        (topic.name, part.partition_index): part.max_num_offsets
        for topic in request.topics
        for part in topic.partitions
    }


def _old_style(result: FoundOffset, offsets_max: int) -> ListOffsetsPartitionResponse:
    offsets: list[int] = []
    if result.fault is None:
        # A time after the last record is answered by the end: reading from there gets what is younger.
        first = result.offset if result.offset >= 0 else result.high_watermark
        offsets = sorted({first, result.log_start_offset}, reverse=True)[: max(offsets_max, 0)]
    return ListOffsetsPartitionResponse(
        partition_index=result.partition, error_code=code_of(result.fault), old_style_offsets=offsets
    )


API = Api(ApiKey.LIST_OFFSETS, 0, 11, to_command, to_response)
