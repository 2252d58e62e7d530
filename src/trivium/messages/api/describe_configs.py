"""DescribeConfigs (key 32): read settings of topics, brokers, groups and loggers.

0   first version
1   request gains include_synonyms; response gains config_source, synonyms; loses is_default (KIP-226)
2   same bytes; a throttled answer is sent at once, and the client waits
3   request gains include_documentation; response gains config_type, documentation (KIP-569)
4   flexible
"""

from trivium.messages.schema import Request, Response, Struct, field
from trivium.messages.types import Bool, Int8, Int16, Int32, String


class DescribeConfigsResource(Struct):
    resource_type: Int8
    resource_name: String
    configuration_keys: list[String] | None


class DescribeConfigsRequest(Request, key=32, versions="0-4", flexible="4+"):
    resources: list[DescribeConfigsResource]
    include_synonyms: Bool = field("1+", default=False)
    include_documentation: Bool = field("3+", default=False)


class DescribeConfigsSynonym(Struct):
    name: String
    value: String | None
    source: Int8


class DescribeConfigsResourceResult(Struct):
    name: String
    value: String | None
    read_only: Bool
    is_default: Bool = field("0", default=False)
    config_source: Int8 = field("1+", default=-1, ignorable=True)
    is_sensitive: Bool
    synonyms: list[DescribeConfigsSynonym] = field("1+", default_factory=list, ignorable=True)
    config_type: Int8 = field("3+", default=0, ignorable=True)
    documentation: String | None = field("3+", default="", ignorable=True)


class DescribeConfigsResult(Struct):
    error_code: Int16
    error_message: String | None
    resource_type: Int8
    resource_name: String
    configs: list[DescribeConfigsResourceResult]


class DescribeConfigsResponse(Response, key=32, versions="0-4", flexible="4+"):
    throttle_time_ms: Int32
    results: list[DescribeConfigsResult]
