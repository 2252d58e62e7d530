"""DescribeLogDirs (key 35): what lies in the log directories, and how large it is.

0   first version
1   same bytes; a throttled answer is sent at once, and the client waits
2   flexible
3   response gains error_code
4   response gains total_bytes, usable_bytes
5   response gains is_cordoned
"""

from trivium.messages.schema import Request, Response, Struct, field
from trivium.messages.types import Bool, Int16, Int32, Int64, String


class DescribableLogDirTopic(Struct):
    topic: String
    partitions: list[Int32]


class DescribeLogDirsRequest(Request, key=35, versions="0-5", flexible="2+"):
    topics: list[DescribableLogDirTopic] | None


class DescribeLogDirsPartition(Struct):
    partition_index: Int32
    partition_size: Int64
    offset_lag: Int64
    is_future_key: Bool


class DescribeLogDirsTopic(Struct):
    name: String
    partitions: list[DescribeLogDirsPartition]


class DescribeLogDirsResult(Struct):
    error_code: Int16
    log_dir: String
    topics: list[DescribeLogDirsTopic]
    total_bytes: Int64 = field("4+", default=-1, ignorable=True)
    usable_bytes: Int64 = field("4+", default=-1, ignorable=True)
    is_cordoned: Bool = field("5+", default=False, ignorable=True)


class DescribeLogDirsResponse(Response, key=35, versions="0-5", flexible="2+"):
    throttle_time_ms: Int32
    error_code: Int16 = field("3+", default=0, ignorable=True)
    results: list[DescribeLogDirsResult]
