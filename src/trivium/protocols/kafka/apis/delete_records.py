"""DeleteRecords (key 21): move the start of partitions forward. Served: 0-2."""

from itertools import groupby

from trivium.core.commands.topics import DeletedRecordsPart, DeleteRecords, DeleteRecordsPart
from trivium.messages.api import ApiKey
from trivium.messages.api.delete_records import (
    DeleteRecordsPartitionResult,
    DeleteRecordsRequest,
    DeleteRecordsResponse,
    DeleteRecordsTopicResult,
)
from trivium.protocols.kafka.api import Api, Call
from trivium.protocols.kafka.faults import code_of


def to_command(request: DeleteRecordsRequest, call: Call) -> DeleteRecords:
    return DeleteRecords(
        [
            DeleteRecordsPart(topic.name, partition.partition_index, partition.offset)
            for topic in request.topics
            for partition in topic.partitions
        ],
        request.timeout_ms,
    )


def to_response(results: list[DeletedRecordsPart], call: Call) -> DeleteRecordsResponse:
    return DeleteRecordsResponse(
        throttle_time_ms=0,
        topics=[
            DeleteRecordsTopicResult(
                name=topic,
                partitions=[
                    DeleteRecordsPartitionResult(
                        partition_index=part.partition,
                        low_watermark=part.low_watermark,
                        error_code=code_of(part.fault),
                    )
                    for part in parts
                ],
            )
            for topic, parts in groupby(results, key=lambda part: part.topic)
        ],
    )


API = Api(ApiKey.DELETE_RECORDS, 0, 2, to_command, to_response)
