"""RemoveRaftVoter (key 81): remove a voter from the metadata quorum.

0   first version, flexible
"""

from trivium.messages.schema import Request, Response
from trivium.messages.types import Int16, Int32, String, Uuid


class RemoveRaftVoterRequest(Request, key=81, versions="0", flexible="0+"):
    cluster_id: String | None
    voter_id: Int32
    voter_directory_id: Uuid


class RemoveRaftVoterResponse(Response, key=81, versions="0", flexible="0+"):
    throttle_time_ms: Int32
    error_code: Int16
    error_message: String | None
