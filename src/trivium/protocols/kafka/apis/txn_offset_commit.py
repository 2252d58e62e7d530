"""TxnOffsetCommit (key 28): store offsets of a group that count once a transaction has (mission 003.7).

Served: 0-5.
2   leader epochs (KIP-320)
3   flexible; generation, member and instance id: members of older generations are refused (KIP-447)
4   TRANSACTION_ABORTABLE may be said (KIP-890)
5   the group becomes a part of the transaction by this, without AddOffsetsToTxn (KIP-890)
"""

from itertools import groupby
from typing import Final

from trivium.core.commands.command import TopicRef
from trivium.core.commands.offsets import CommittedPart, OffsetToCommit
from trivium.core.commands.transactions import CommitInTransaction
from trivium.core.faults import Fault
from trivium.messages.api import ApiKey
from trivium.messages.api.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitResponse,
    TxnOffsetCommitResponsePartition,
    TxnOffsetCommitResponseTopic,
)
from trivium.messages.errors import ErrorCode
from trivium.protocols.kafka.api import Api, Call
from trivium.protocols.kafka.faults import code_of

_ABORTABLE_SINCE: Final = 4
_JOINS_SINCE: Final = 5


def to_command(request: TxnOffsetCommitRequest, call: Call) -> CommitInTransaction:
    return CommitInTransaction(
        request.transactional_id,
        request.producer_id,
        request.producer_epoch,
        request.group_id,
        [
            OffsetToCommit(
                topic.name,
                part.partition_index,
                part.committed_offset,
                part.committed_leader_epoch,
                part.committed_metadata,
            )
            for topic in request.topics
            for part in topic.partitions
        ],
        request.member_id,
        request.group_instance_id,
        request.generation_id,
        call.version >= _JOINS_SINCE,
    )


def to_response(results: list[CommittedPart], call: Call) -> TxnOffsetCommitResponse:
    return TxnOffsetCommitResponse(
        throttle_time_ms=0,
        topics=[
            TxnOffsetCommitResponseTopic(
                name=str(topic),
                partitions=[
                    TxnOffsetCommitResponsePartition(
                        partition_index=part.partition, error_code=_code(part.fault, call.version)
                    )
                    for part in parts
                ],
            )
            for topic, parts in groupby(results, key=_topic)
        ],
    )


def _topic(part: CommittedPart) -> TopicRef:
    return part.topic


def _code(fault: Fault | None, version: int) -> int:
    if fault is Fault.GROUP_ID_NOT_FOUND:
        # A generation of a group that is not there; no version of this API has another word for it.
        return ErrorCode.ILLEGAL_GENERATION
    if fault is Fault.TRANSACTION_ABORTABLE and version < _ABORTABLE_SINCE:
        return ErrorCode.INVALID_TXN_STATE
    if fault is Fault.CONCURRENT_TRANSACTIONS and version < _JOINS_SINCE:
        # Old clients do not expect it here, and ask again after this one.
        return ErrorCode.COORDINATOR_NOT_AVAILABLE
    return code_of(fault)


API = Api(ApiKey.TXN_OFFSET_COMMIT, 0, 5, to_command, to_response)
