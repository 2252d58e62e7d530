"""ListConfigResources (key 74): which resources have settings.

Served: 0-1. Version 0, then called ListClientMetricsResources, knows subscriptions to client metrics only.
"""

from typing import Final

from trivium.core.commands.configs import KINDS, ListConfigs, ListedConfigs
from trivium.core.metadata_configs import ConfigType
from trivium.messages.api import ApiKey
from trivium.messages.api.list_config_resources import (
    ConfigResource,
    ListConfigResourcesRequest,
    ListConfigResourcesResponse,
)
from trivium.protocols.kafka.api import Api, Call
from trivium.protocols.kafka.faults import code_of

_KINDS_SINCE: Final = 1


def to_command(request: ListConfigResourcesRequest, call: Call) -> ListConfigs:
    if call.version < _KINDS_SINCE:
        return ListConfigs([ConfigType.CLIENT_METRICS])
    return ListConfigs(request.resource_types or sorted(KINDS))


def to_response(result: ListedConfigs, call: Call) -> ListConfigResourcesResponse:
    return ListConfigResourcesResponse(
        throttle_time_ms=0,
        error_code=code_of(result.fault),
        config_resources=[
            ConfigResource(resource_name=name, resource_type=kind) for kind, name in result.resources
        ],
    )


API = Api(ApiKey.LIST_CONFIG_RESOURCES, 0, 1, to_command, to_response)
