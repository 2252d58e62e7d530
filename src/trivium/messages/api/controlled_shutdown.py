"""ControlledShutdown (key 7): a broker wants its leaders moved before it stops; ZooKeeper only.

0   first version
1   same bytes; from here on the request header has a client id
2   request gains broker_epoch
3   flexible
"""

from trivium.messages.schema import Request, Response, Struct, field
from trivium.messages.types import Int16, Int32, Int64, String


class ControlledShutdownRequest(Request, key=7, versions="0-3", flexible="3+"):
    broker_id: Int32
    broker_epoch: Int64 = field("2+", default=-1, ignorable=True)


class RemainingPartition(Struct):
    topic_name: String
    partition_index: Int32


class ControlledShutdownResponse(Response, key=7, versions="0-3", flexible="3+"):
    error_code: Int16
    remaining_partitions: list[RemainingPartition]
