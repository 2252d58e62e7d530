"""WriteTxnMarkers (key 27): end transactions in partitions (mission 003.7). Coordinators send it to other
brokers, and administrators to end what no coordinator knows (``kafka-transactions abort``).

Served: 0-2.
1   flexible
2   transaction_version: from 2 on a marker must be newer than all records (KIP-1228)
"""

from collections.abc import Sequence
from typing import Final

from trivium.core.commands.transactions import AddedPart, MarkersToWrite, WriteMarkers
from trivium.messages.api import ApiKey
from trivium.messages.api.write_txn_markers import (
    WritableTxnMarkerPartitionResult,
    WritableTxnMarkerResult,
    WritableTxnMarkerTopicResult,
    WriteTxnMarkersRequest,
    WriteTxnMarkersResponse,
)
from trivium.protocols.kafka.api import Api, Call
from trivium.protocols.kafka.faults import code_of

_STRICT_SINCE: Final = 2


def to_command(request: WriteTxnMarkersRequest, call: Call) -> WriteMarkers:
    return WriteMarkers(
        [
            MarkersToWrite(
                marker.producer_id,
                marker.producer_epoch,
                marker.transaction_result,
                marker.coordinator_epoch,
                [(topic.name, partition) for topic in marker.topics for partition in topic.partition_indexes],
                marker.transaction_version >= _STRICT_SINCE,
            )
            for marker in request.markers
        ]
    )


def to_response(results: list[Sequence[AddedPart]], call: Call) -> WriteTxnMarkersResponse:
    return WriteTxnMarkersResponse(
        markers=[
            WritableTxnMarkerResult(producer_id=marker.producer_id, topics=_topics(parts))
            for marker, parts in zip(call.request.markers, results, strict=True)
        ]
    )


def _topics(parts: Sequence[AddedPart]) -> list[WritableTxnMarkerTopicResult]:
    by_topic: dict[str, list[WritableTxnMarkerPartitionResult]] = {}
    for part in parts:
        by_topic.setdefault(part.topic, []).append(
            WritableTxnMarkerPartitionResult(partition_index=part.partition, error_code=code_of(part.fault))
        )
    return [
        WritableTxnMarkerTopicResult(name=name, partitions=partitions)
        for name, partitions in by_topic.items()
    ]


API = Api(ApiKey.WRITE_TXN_MARKERS, 0, 2, to_command, to_response)
