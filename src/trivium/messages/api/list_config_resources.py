"""ListConfigResources (key 74): names of resources that have settings.

0   first version, flexible
1   request gains resource_types; response gains resource_type (KIP-1142)
"""

from trivium.messages.schema import Request, Response, Struct, field
from trivium.messages.types import Int8, Int16, Int32, String


class ListConfigResourcesRequest(Request, key=74, versions="0-1", flexible="0+"):
    resource_types: list[Int8] = field("1+", default_factory=list)


class ConfigResource(Struct):
    resource_name: String
    resource_type: Int8 = field("1+", default=16, ignorable=True)


class ListConfigResourcesResponse(Response, key=74, versions="0-1", flexible="0+"):
    throttle_time_ms: Int32
    error_code: Int16
    config_resources: list[ConfigResource]
