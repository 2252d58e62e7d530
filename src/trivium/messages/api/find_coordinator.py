"""FindCoordinator (key 10): who coordinates a group, a transactional id or a share partition.

0   first version
1   request gains key_type; response gains throttle_time_ms, error_message (KIP-98)
2   same bytes; a throttled answer is sent at once, and the client waits
3   flexible
4   request gains coordinator_keys; loses key; response gains coordinators; loses error_code,
    error_message, node_id, host, port (KIP-699)
5   same bytes; an answer may say TRANSACTION_ABORTABLE (KIP-890)
6   same bytes; key type 2 asks for a share partition (KIP-932)
"""

from trivium.messages.schema import Request, Response, Struct, field
from trivium.messages.types import Int8, Int16, Int32, String


class FindCoordinatorRequest(Request, key=10, versions="0-6", flexible="3+"):
    key: String = field("0-3", default="")
    key_type: Int8 = field("1+", default=0)
    coordinator_keys: list[String] = field("4+", default_factory=list)


class Coordinator(Struct):
    key: String
    node_id: Int32
    host: String
    port: Int32
    error_code: Int16
    error_message: String | None


class FindCoordinatorResponse(Response, key=10, versions="0-6", flexible="3+"):
    throttle_time_ms: Int32 = field("1+", default=0, ignorable=True)
    error_code: Int16 = field("0-3", default=0)
    error_message: String | None = field("1-3", default="", ignorable=True)
    node_id: Int32 = field("0-3", default=0)
    host: String = field("0-3", default="")
    port: Int32 = field("0-3", default=0)
    coordinators: list[Coordinator] = field("4+", default_factory=list)
