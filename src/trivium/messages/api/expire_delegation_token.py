"""ExpireDelegationToken (key 40): end a delegation token early.

0   first version
1   same bytes; a throttled answer is sent at once, and the client waits
2   flexible
"""

from trivium.messages.schema import Request, Response
from trivium.messages.types import Bytes, Int16, Int32, Int64


class ExpireDelegationTokenRequest(Request, key=40, versions="0-2", flexible="2+"):
    hmac: Bytes
    expiry_time_period_ms: Int64


class ExpireDelegationTokenResponse(Response, key=40, versions="0-2", flexible="2+"):
    error_code: Int16
    expiry_timestamp_ms: Int64
    throttle_time_ms: Int32
