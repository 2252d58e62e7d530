"""AlterConfigs (key 33): replace all settings of a resource. Served: 0-2."""

from trivium.core.commands.configs import AlteredConfigs, ConfigReplacement, ReplaceConfigs
from trivium.messages.api import ApiKey
from trivium.messages.api.alter_configs import (
    AlterConfigsRequest,
    AlterConfigsResourceResponse,
    AlterConfigsResponse,
)
from trivium.protocols.kafka.api import Api, Call
from trivium.protocols.kafka.faults import code_of


def to_command(request: AlterConfigsRequest, call: Call) -> ReplaceConfigs:
    return ReplaceConfigs(
        [
            ConfigReplacement(
                each.resource_type,
                each.resource_name,
                [(config.name, config.value) for config in each.configs],
            )
            for each in request.resources
        ],
        validate_only=request.validate_only,
    )


def to_response(results: list[AlteredConfigs], call: Call) -> AlterConfigsResponse:
    return AlterConfigsResponse(
        throttle_time_ms=0,
        responses=[
            AlterConfigsResourceResponse(
                error_code=code_of(result.fault),
                error_message=result.message,
                resource_type=result.kind,
                resource_name=result.resource,
            )
            for result in results
        ],
    )


API = Api(ApiKey.ALTER_CONFIGS, 0, 2, to_command, to_response)
