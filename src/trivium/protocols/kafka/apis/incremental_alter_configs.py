"""IncrementalAlterConfigs (key 44): change single settings of a resource. Served: 0-1."""

from trivium.core.commands.configs import AlterConfigs, AlteredConfigs, ConfigChanges
from trivium.core.config.change import Change, Operation
from trivium.core.faults import Fault
from trivium.messages.api import ApiKey
from trivium.messages.api.incremental_alter_configs import (
    AlterConfigsResource,
    AlterConfigsResourceResponse,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)
from trivium.protocols.kafka.api import Api, Call
from trivium.protocols.kafka.faults import code_of


def to_command(request: IncrementalAlterConfigsRequest, call: Call) -> AlterConfigs:
    call.state = refused = []
    resources = []
    for resource in request.resources:
        unknown = _unknown_operation(resource)
        if unknown is None:
            resources.append(_changes(resource))
        else:
            message = f"Unknown operations type {unknown}"
            refused.append(
                AlteredConfigs(resource.resource_type, resource.resource_name, Fault.INVALID_REQUEST, message)
            )
    return AlterConfigs(resources, validate_only=request.validate_only)


def _unknown_operation(resource: AlterConfigsResource) -> int | None:
    codes = {config.config_operation for config in resource.configs} - set(Operation)
    return min(codes, default=None)


def _changes(resource: AlterConfigsResource) -> ConfigChanges:
    return ConfigChanges(
        resource.resource_type,
        resource.resource_name,
        [
            Change(config.name, Operation(config.config_operation), config.value)
            for config in resource.configs
        ],
    )


def to_response(results: list[AlteredConfigs], call: Call) -> IncrementalAlterConfigsResponse:
    return IncrementalAlterConfigsResponse(
        throttle_time_ms=0,
        responses=[
            AlterConfigsResourceResponse(
                error_code=code_of(result.fault),
                error_message=result.message,
                resource_type=result.kind,
                resource_name=result.resource,
            )
            for result in (*call.state, *results)
        ],
    )


API = Api(ApiKey.INCREMENTAL_ALTER_CONFIGS, 0, 1, to_command, to_response)
