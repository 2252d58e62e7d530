"""UnregisterBroker (key 64): forget a broker that will not come back. Served: 0."""

from trivium.core.commands.cluster import UnregisterBroker, Unregistered
from trivium.messages.api import ApiKey
from trivium.messages.api.unregister_broker import UnregisterBrokerRequest, UnregisterBrokerResponse
from trivium.protocols.kafka.api import Api, Call
from trivium.protocols.kafka.faults import code_of


def to_command(request: UnregisterBrokerRequest, call: Call) -> UnregisterBroker:
    return UnregisterBroker(request.broker_id)


def to_response(result: Unregistered, call: Call) -> UnregisterBrokerResponse:
    return UnregisterBrokerResponse(
        throttle_time_ms=0, error_code=code_of(result.fault), error_message=result.message
    )


API = Api(ApiKey.UNREGISTER_BROKER, 0, 0, to_command, to_response)
