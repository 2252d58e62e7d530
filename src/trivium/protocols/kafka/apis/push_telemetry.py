"""PushTelemetry (key 72): a client hands in metrics (KIP-714). Served: 0."""

from trivium.core.commands.telemetry import PushMetrics
from trivium.core.faults import Fault
from trivium.messages.api import ApiKey
from trivium.messages.api.push_telemetry import PushTelemetryRequest, PushTelemetryResponse
from trivium.protocols.kafka.api import Api, Call
from trivium.protocols.kafka.faults import code_of


def to_command(request: PushTelemetryRequest, call: Call) -> PushMetrics:
    return PushMetrics(
        request.client_instance_id,
        request.subscription_id,
        request.terminating,
        request.compression_type,
        request.metrics,
    )


def to_response(fault: Fault | None, call: Call) -> PushTelemetryResponse:
    return PushTelemetryResponse(throttle_time_ms=0, error_code=code_of(fault))


API = Api(ApiKey.PUSH_TELEMETRY, 0, 0, to_command, to_response)
