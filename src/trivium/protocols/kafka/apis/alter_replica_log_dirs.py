"""AlterReplicaLogDirs (key 34): move replicas to other log directories of this broker. Served: 0-2."""

from trivium.core.commands.placement import PlacedPart, RelocatePartitions, Relocation
from trivium.messages.api import ApiKey
from trivium.messages.api.alter_replica_log_dirs import (
    AlterReplicaLogDirPartitionResult,
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirsResponse,
    AlterReplicaLogDirTopicResult,
)
from trivium.protocols.kafka.api import Api, Call
from trivium.protocols.kafka.faults import code_of


def to_command(request: AlterReplicaLogDirsRequest, call: Call) -> RelocatePartitions:
    return RelocatePartitions(
        [
            Relocation(topic.name, index, directory.path)
            for directory in request.dirs
            for topic in directory.topics
            for index in topic.partitions
        ]
    )


def to_response(results: list[PlacedPart], call: Call) -> AlterReplicaLogDirsResponse:
    by_topic: dict[str, list[AlterReplicaLogDirPartitionResult]] = {}
    for part in results:
        by_topic.setdefault(part.topic, []).append(
            AlterReplicaLogDirPartitionResult(partition_index=part.partition, error_code=code_of(part.fault))
        )
    return AlterReplicaLogDirsResponse(
        throttle_time_ms=0,
        results=[
            AlterReplicaLogDirTopicResult(topic_name=topic, partitions=partitions)
            for topic, partitions in by_topic.items()
        ],
    )


API = Api(ApiKey.ALTER_REPLICA_LOG_DIRS, 0, 2, to_command, to_response)
