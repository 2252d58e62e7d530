"""PushTelemetry (key 72): a client hands in metrics (KIP-714).

0   first version, flexible
"""

from trivium.messages.schema import Request, Response
from trivium.messages.types import Bool, Bytes, Int8, Int16, Int32, Uuid


class PushTelemetryRequest(Request, key=72, versions="0", flexible="0+"):
    client_instance_id: Uuid
    subscription_id: Int32
    terminating: Bool
    compression_type: Int8
    metrics: Bytes


class PushTelemetryResponse(Response, key=72, versions="0", flexible="0+"):
    throttle_time_ms: Int32
    error_code: Int16
