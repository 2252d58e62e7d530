"""GetTelemetrySubscriptions (key 71): which metrics the broker wants of a client (KIP-714). Served: 0."""

from typing import Final

from trivium.core.commands.telemetry import GetSubscription, Subscription
from trivium.messages.api import ApiKey
from trivium.messages.api.get_telemetry_subscriptions import (
    GetTelemetrySubscriptionsRequest,
    GetTelemetrySubscriptionsResponse,
)
from trivium.protocols.kafka.api import Api, Call
from trivium.protocols.kafka.faults import code_of
from trivium.records.compression import Compression

ACCEPTED: Final = [Compression.ZSTD, Compression.LZ4, Compression.GZIP, Compression.SNAPPY]
"""What a push may be compressed by, the best first."""


def to_command(request: GetTelemetrySubscriptionsRequest, call: Call) -> GetSubscription:
    return GetSubscription(request.client_instance_id)


def to_response(result: Subscription, call: Call) -> GetTelemetrySubscriptionsResponse:
    return GetTelemetrySubscriptionsResponse(
        throttle_time_ms=0,
        error_code=code_of(result.fault),
        client_instance_id=result.client_instance_id,
        subscription_id=result.subscription_id,
        accepted_compression_types=[] if result.fault else list(ACCEPTED),
        push_interval_ms=result.push_interval_ms,
        telemetry_max_bytes=result.push_bytes_max,
        delta_temporality=result.fault is None,
        requested_metrics=list(result.metrics),
    )


API = Api(ApiKey.GET_TELEMETRY_SUBSCRIPTIONS, 0, 0, to_command, to_response)
