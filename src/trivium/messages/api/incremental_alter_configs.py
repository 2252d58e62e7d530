"""IncrementalAlterConfigs (key 44): change single settings of a resource.

0   first version
1   flexible
"""

from trivium.messages.schema import Request, Response, Struct
from trivium.messages.types import Bool, Int8, Int16, Int32, String


class AlterableConfig(Struct):
    name: String
    config_operation: Int8
    value: String | None


class AlterConfigsResource(Struct):
    resource_type: Int8
    resource_name: String
    configs: list[AlterableConfig]


class IncrementalAlterConfigsRequest(Request, key=44, versions="0-1", flexible="1+"):
    resources: list[AlterConfigsResource]
    validate_only: Bool


class AlterConfigsResourceResponse(Struct):
    error_code: Int16
    error_message: String | None
    resource_type: Int8
    resource_name: String


class IncrementalAlterConfigsResponse(Response, key=44, versions="0-1", flexible="1+"):
    throttle_time_ms: Int32
    responses: list[AlterConfigsResourceResponse]
