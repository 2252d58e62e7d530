"""DescribeConfigs (key 32): settings of topics, brokers, groups, client metrics and loggers.

Served: 0-4. No names, or an empty list of them, ask for all settings of a resource.
"""

from trivium.core.commands.configs import ConfigQuery, DescribeConfigs, DescribedConfigs
from trivium.core.config.description import Entry
from trivium.messages.api import ApiKey
from trivium.messages.api.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResourceResult,
    DescribeConfigsResponse,
    DescribeConfigsResult,
    DescribeConfigsSynonym,
)
from trivium.protocols.kafka.api import Api, Call
from trivium.protocols.kafka.faults import code_of


def to_command(request: DescribeConfigsRequest, call: Call) -> DescribeConfigs:
    return DescribeConfigs(
        [
            ConfigQuery(each.resource_type, each.resource_name, each.configuration_keys or None)
            for each in request.resources
        ]
    )


def to_response(results: list[DescribedConfigs], call: Call) -> DescribeConfigsResponse:
    return DescribeConfigsResponse(
        throttle_time_ms=0,
        results=[
            DescribeConfigsResult(
                error_code=code_of(result.fault),
                error_message=result.message or "",
                resource_type=result.kind,
                resource_name=result.resource,
                configs=[_config(entry, call) for entry in result.entries],
            )
            for result in results
        ],
    )


def _config(entry: Entry, call: Call) -> DescribeConfigsResourceResult:
    request: DescribeConfigsRequest = call.request
    definition = entry.definition
    return DescribeConfigsResourceResult(
        name=entry.name,
        value=entry.value,
        read_only=definition.is_read_only,
        is_default=call.version == 0 and entry.is_default,
        config_source=entry.source,
        is_sensitive=definition.is_sensitive,
        synonyms=[
            DescribeConfigsSynonym(name=synonym.name, value=synonym.value, source=synonym.source)
            for synonym in entry.synonyms
        ]
        if request.include_synonyms
        else [],
        config_type=definition.type,
        documentation=definition.doc if request.include_documentation else None,
    )


API = Api(ApiKey.DESCRIBE_CONFIGS, 0, 4, to_command, to_response)
