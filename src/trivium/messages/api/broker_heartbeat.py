"""BrokerHeartbeat (key 63): a broker tells the controller that it lives.

0   first version, flexible
1   request gains offline_log_dirs
2   request gains cordoned_log_dirs
"""

from trivium.messages.schema import Request, Response, field
from trivium.messages.types import Bool, Int16, Int32, Int64, Uuid


class BrokerHeartbeatRequest(Request, key=63, versions="0-2", flexible="0+"):
    broker_id: Int32
    broker_epoch: Int64 = -1
    current_metadata_offset: Int64
    want_fence: Bool
    want_shut_down: Bool
    offline_log_dirs: list[Uuid] = field("1+", default_factory=list, tag=0)
    cordoned_log_dirs: list[Uuid] | None = field("2+", default=None, tag=1)


class BrokerHeartbeatResponse(Response, key=63, versions="0-2", flexible="0+"):
    throttle_time_ms: Int32
    error_code: Int16
    is_caught_up: Bool = False
    is_fenced: Bool = True
    should_shut_down: Bool
