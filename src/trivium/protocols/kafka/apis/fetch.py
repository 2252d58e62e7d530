"""Fetch (key 1): read record batches from partitions.

Served: 0-18.

    0-3     the client knows no record batches: what it gets is converted down (0-1 to messages of format 0,
            2-3 to format 1)
    4-6     batches, and whether only committed records are wanted
    7-12    a request may belong to a session (``fetch_sessions``, KIP-227)
    10      before it, a topic whose compression.type is zstd is refused (KIP-110)
    13-18   topics are named by their id; from 16 on an answer says whom to ask instead (KIP-951)

A client that has read more than its quota allows gets an answer without partitions, and the time it is not
listened to; its session stays as it was.

Brokers do not follow each other here: a fetch of a replica is refused. Racks are not looked at.
"""

from typing import Final

from trivium.core.commands.command import TopicRef
from trivium.core.commands.records import Fetch, FetchedPart, FetchPart
from trivium.core.commands.topics import Node
from trivium.core.faults import Fault
from trivium.messages.api import ApiKey
from trivium.messages.api.fetch import (
    AbortedTransaction,
    EpochEndOffset,
    FetchableTopicResponse,
    FetchRequest,
    FetchResponse,
    LeaderIdAndEpoch,
    NodeEndpoint,
    PartitionData,
)
from trivium.messages.errors import ErrorCode
from trivium.protocols.kafka.api import Api, Call, Withholding
from trivium.protocols.kafka.faults import code_of
from trivium.protocols.kafka.fetch_sessions import EPOCH_CLOSE, EPOCH_NEW, FetchSession, PartKey
from trivium.records.legacy import convert_down
from trivium.wire.errors import DecodeError, EncodeError

_FORMAT_1_SINCE: Final = 2
_BATCHES_SINCE: Final = 4
_STORAGE_ERROR_SINCE: Final = 6
_ZSTD_SINCE: Final = 10
_LEADERS_SINCE: Final = 12
_BY_ID_SINCE: Final = 13
_REPLICA_STATE_SINCE: Final = 15
_ENDPOINTS_SINCE: Final = 16
_READ_COMMITTED: Final = 1
_OF_NO_PARTITION: Final = frozenset((Fault.UNKNOWN_TOPIC, Fault.NOT_AUTHORIZED_TOPIC))
"""Refused before anything is read: not even the list of aborted transactions is left out."""
_ZSTD: Final = "zstd"


def to_command(request: FetchRequest, call: Call) -> Fetch | FetchResponse:
    by_id = call.version >= _BY_ID_SINCE
    parts = [
        FetchPart(
            topic.topic_id if by_id else topic.topic,
            part.partition,
            part.fetch_offset,
            part.partition_max_bytes,
            part.current_leader_epoch,
            part.last_fetched_epoch,
        )
        for topic in request.topics
        for part in topic.partitions
    ]
    sessions = call.protocol.fetch_sessions
    if request.session_epoch == EPOCH_CLOSE:
        sessions.close(request.session_id)
        parts = _each_once(parts)
    elif request.session_epoch == EPOCH_NEW:
        sessions.close(request.session_id)
        parts = _each_once(parts)
        call.state = sessions.open(parts, by_id=by_id) if parts else None
    else:
        session = sessions.get(request.session_id)
        if session is None:
            return _refused(ErrorCode.FETCH_SESSION_ID_NOT_FOUND)
        if session.epoch != request.session_epoch:
            return _refused(ErrorCode.INVALID_FETCH_SESSION_EPOCH)
        if session.by_id != by_id:
            return _refused(ErrorCode.FETCH_SESSION_TOPIC_ID_ERROR)
        session.update(parts, _forgotten(request, by_id=by_id))
        parts = list(session.parts.values())
        if parts:
            session.advance()
            call.state = session
        else:
            sessions.close(request.session_id)
    max_bytes = call.fetch_bytes_max(request.max_bytes)
    return Fetch(
        parts,
        request.max_wait_ms,
        min(request.min_bytes, max_bytes),
        max_bytes,
        request.isolation_level == _READ_COMMITTED,
        request.replica_state.replica_id if call.version >= _REPLICA_STATE_SINCE else request.replica_id,
    )


def _each_once(parts: list[FetchPart]) -> list[FetchPart]:
    """The last word about each partition, in the order of the first."""
    return list({(part.topic, part.partition): part for part in parts}.values()) if len(parts) > 1 else parts


def _forgotten(request: FetchRequest, *, by_id: bool) -> list[PartKey]:
    return [
        (topic.topic_id if by_id else topic.topic, partition)
        for topic in request.forgotten_topics_data
        for partition in topic.partitions
    ]


def _refused(code: ErrorCode) -> FetchResponse:
    return FetchResponse(error_code=code, session_id=0, responses=[])


def to_response(results: list[FetchedPart], call: Call) -> FetchResponse:
    session: FetchSession | None = call.state
    if session is not None:
        news = session.news(results)
        is_full = call.request.session_epoch == EPOCH_NEW
        results = results if is_full else news
    version = call.version
    by_topic: dict[TopicRef, list[PartitionData]] = {}
    for result in results:
        if version < _ZSTD_SINCE:
            result = _for_old_client(result, call)
        by_topic.setdefault(result.topic, []).append(_part(result, version))
    response = FetchResponse(
        session_id=0 if session is None else session.session_id,
        responses=[
            FetchableTopicResponse(topic_id=topic, partitions=parts)
            if isinstance(topic, bytes)
            else FetchableTopicResponse(topic=topic, partitions=parts)
            for topic, parts in by_topic.items()
        ],
    )
    if version >= _ENDPOINTS_SINCE:
        leaders = {result.leader.node_id for result in results if result.leader is not None}
        response.node_endpoints = [_endpoint(node_id, call) for node_id in sorted(leaders)]
    return response


def _size_bytes(results: list[FetchedPart]) -> int:
    return sum(len(run) for result in results for run in result.runs)


def _withheld(call: Call) -> FetchResponse:
    session: FetchSession | None = call.state
    session_id = 0
    if session is not None:
        if call.request.session_epoch == EPOCH_NEW:
            call.protocol.fetch_sessions.close(session.session_id)  # the client hears of none
        else:
            session_id = session.session_id
    return FetchResponse(session_id=session_id, responses=[])


def _endpoint(node_id: int, call: Call) -> NodeEndpoint:
    host, port = call.endpoint(Node(node_id))
    return NodeEndpoint(node_id=node_id, host=host, port=port)


def _part(part: FetchedPart, version: int) -> PartitionData:
    if part.fault is not None:
        return _refused_part(part, version)
    data = PartitionData(
        partition_index=part.partition,
        error_code=0,
        high_watermark=part.high_watermark,
        last_stable_offset=part.last_stable_offset,
        log_start_offset=part.log_start_offset,
        aborted_transactions=None
        if part.aborted is None
        else [AbortedTransaction(producer_id=each[0], first_offset=each[1]) for each in part.aborted],
        records=_joined(part),
    )
    if part.diverging is not None:
        data.diverging_epoch = EpochEndOffset(epoch=part.diverging[0], end_offset=part.diverging[1])
    return data


def _joined(part: FetchedPart) -> bytes | memoryview:
    return part.runs[0] if len(part.runs) == 1 else b"".join(part.runs)


def _refused_part(part: FetchedPart, version: int) -> PartitionData:
    if part.fault is Fault.UNKNOWN_TOPIC_ID:
        # Nothing is known of such a topic, not even that its offsets are unknown (mission 001.40).
        return PartitionData(
            partition_index=part.partition,
            error_code=ErrorCode.UNKNOWN_TOPIC_ID,
            high_watermark=0,
            last_stable_offset=0,
            log_start_offset=0,
            records=None,
        )
    data = PartitionData(
        partition_index=part.partition,
        error_code=code_of(part.fault),
        high_watermark=part.high_watermark,
        aborted_transactions=[] if part.fault in _OF_NO_PARTITION else None,
        records=b"",
    )
    if part.leader is not None and version >= _LEADERS_SINCE:
        data.current_leader = LeaderIdAndEpoch(
            leader_id=part.leader.node_id, leader_epoch=part.leader.leader_epoch
        )
    return data


def _for_old_client(part: FetchedPart, call: Call) -> FetchedPart:
    """The same in words that the client knows: its error codes, its record formats."""
    if part.fault is Fault.STORAGE and call.version < _STORAGE_ERROR_SINCE:
        # It looks the leader up again and retries, as it should.
        return part._replace(fault=Fault.NOT_LEADER)
    if part.fault is None and part.compression == _ZSTD:
        return FetchedPart(part.topic, part.partition, Fault.UNSUPPORTED_COMPRESSION)
    if call.version >= _BATCHES_SINCE or not part.runs:
        return part
    magic = 1 if call.version >= _FORMAT_1_SINCE else 0
    try:
        messages = convert_down(_joined(part), magic, first_offset=_offset_asked(part, call.request))
    except EncodeError:
        return FetchedPart(part.topic, part.partition, Fault.UNSUPPORTED_COMPRESSION)
    except DecodeError:
        # The checksum is right, so a client sent it like this.
        return FetchedPart(part.topic, part.partition, Fault.CORRUPT_MESSAGE)
    return part._replace(runs=(memoryview(messages),))


def _offset_asked(part: FetchedPart, request: FetchRequest) -> int:
    return next(
        asked.fetch_offset
        for topic in request.topics
        for asked in topic.partitions
        if (topic.topic, asked.partition) == (part.topic, part.partition)
    )


API = Api(ApiKey.FETCH, 0, 18, to_command, to_response, withholding=Withholding(_size_bytes, _withheld))
