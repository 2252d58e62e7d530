"""AddRaftVoter (key 80): add a voter to the metadata quorum.

0   first version, flexible
1   request gains ack_when_committed
"""

from trivium.messages.schema import Request, Response, Struct, field
from trivium.messages.types import Bool, Int16, Int32, String, UInt16, Uuid


class Listener(Struct):
    name: String
    host: String
    port: UInt16


class AddRaftVoterRequest(Request, key=80, versions="0-1", flexible="0+"):
    cluster_id: String | None
    timeout_ms: Int32
    voter_id: Int32
    voter_directory_id: Uuid
    listeners: list[Listener]
    ack_when_committed: Bool = field("1+", default=True)


class AddRaftVoterResponse(Response, key=80, versions="0-1", flexible="0+"):
    throttle_time_ms: Int32
    error_code: Int16
    error_message: String | None
