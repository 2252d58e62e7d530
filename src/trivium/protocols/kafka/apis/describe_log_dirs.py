"""DescribeLogDirs (key 35): what lies in the log directories, and how large it is.

Served: 0-5. Null asks for all partitions, an empty list for the directories alone. A partition that is being
moved is listed twice: where it is, and as a future one where it will be (KIP-113).
"""

from itertools import groupby

from trivium.core.commands.placement import DescribedDirectories, DescribedDirectory, DescribeDirectories
from trivium.messages.api import ApiKey
from trivium.messages.api.describe_log_dirs import (
    DescribeLogDirsPartition,
    DescribeLogDirsRequest,
    DescribeLogDirsResponse,
    DescribeLogDirsResult,
    DescribeLogDirsTopic,
)
from trivium.protocols.kafka.api import Api, Call
from trivium.protocols.kafka.faults import code_of


def to_command(request: DescribeLogDirsRequest, call: Call) -> DescribeDirectories:
    if request.topics is None:
        return DescribeDirectories(None)
    return DescribeDirectories(
        [(topic.topic, index) for topic in request.topics for index in topic.partitions]
    )


def to_response(result: DescribedDirectories, call: Call) -> DescribeLogDirsResponse:
    return DescribeLogDirsResponse(
        throttle_time_ms=0,
        error_code=code_of(result.fault),
        results=[_directory(directory) for directory in result.directories],
    )


def _directory(directory: DescribedDirectory) -> DescribeLogDirsResult:
    rows = [(topic, index, size, 0, False) for (topic, index), size in directory.sizes.items()]
    rows += [
        (topic, index, future.size_bytes, future.offset_lag, True)
        for (topic, index), future in directory.arriving.items()
    ]
    return DescribeLogDirsResult(
        error_code=code_of(directory.fault),
        log_dir=directory.path,
        topics=[
            DescribeLogDirsTopic(
                name=topic,
                partitions=[
                    DescribeLogDirsPartition(
                        partition_index=index, partition_size=size, offset_lag=lag, is_future_key=is_future
                    )
                    for _, index, size, lag, is_future in parts
                ],
            )
            for topic, parts in groupby(sorted(rows), key=lambda row: row[0])
        ],
        total_bytes=directory.total_bytes,
        usable_bytes=directory.usable_bytes,
        is_cordoned=directory.is_cordoned,
    )


API = Api(ApiKey.DESCRIBE_LOG_DIRS, 0, 5, to_command, to_response)
