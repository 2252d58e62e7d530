"""AlterConfigs (key 33): replace all settings of a resource.

0   first version
1   same bytes; a throttled answer is sent at once, and the client waits
2   flexible
"""

from trivium.messages.schema import Request, Response, Struct
from trivium.messages.types import Bool, Int8, Int16, Int32, String


class AlterableConfig(Struct):
    name: String
    value: String | None


class AlterConfigsResource(Struct):
    resource_type: Int8
    resource_name: String
    configs: list[AlterableConfig]


class AlterConfigsRequest(Request, key=33, versions="0-2", flexible="2+"):
    resources: list[AlterConfigsResource]
    validate_only: Bool


class AlterConfigsResourceResponse(Struct):
    error_code: Int16
    error_message: String | None
    resource_type: Int8
    resource_name: String


class AlterConfigsResponse(Response, key=33, versions="0-2", flexible="2+"):
    throttle_time_ms: Int32
    responses: list[AlterConfigsResourceResponse]
