"""RenewDelegationToken (key 39): prolong a delegation token.

0   first version
1   same bytes; a throttled answer is sent at once, and the client waits
2   flexible
"""

from trivium.messages.schema import Request, Response
from trivium.messages.types import Bytes, Int16, Int32, Int64


class RenewDelegationTokenRequest(Request, key=39, versions="0-2", flexible="2+"):
    hmac: Bytes
    renew_period_ms: Int64


class RenewDelegationTokenResponse(Response, key=39, versions="0-2", flexible="2+"):
    error_code: Int16
    expiry_timestamp_ms: Int64
    throttle_time_ms: Int32
