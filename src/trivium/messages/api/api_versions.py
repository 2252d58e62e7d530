"""ApiVersions (key 18): which requests in which versions, and which features, a broker takes.

0   first version
1   response gains throttle_time_ms
2   same bytes; a throttled answer is sent at once, and the client waits
3   flexible; request gains client_software_name, client_software_version; response gains
    supported_features, finalized_features_epoch, finalized_features, zk_migration_ready (KIP-511)
4   same bytes; a feature may have the lowest version 0
"""

from trivium.messages.schema import Request, Response, Struct, field
from trivium.messages.types import Bool, Int16, Int32, Int64, String


class ApiVersionsRequest(Request, key=18, versions="0-4", flexible="3+"):
    client_software_name: String = field("3+", default="", ignorable=True)
    client_software_version: String = field("3+", default="", ignorable=True)


class ApiVersion(Struct):
    api_key: Int16
    min_version: Int16
    max_version: Int16


class SupportedFeatureKey(Struct):
    name: String
    min_version: Int16
    max_version: Int16


class FinalizedFeatureKey(Struct):
    name: String
    max_version_level: Int16
    min_version_level: Int16


class ApiVersionsResponse(Response, key=18, versions="0-4", flexible="3+"):
    error_code: Int16
    api_keys: list[ApiVersion]
    throttle_time_ms: Int32 = field("1+", default=0, ignorable=True)
    supported_features: list[SupportedFeatureKey] = field("3+", default_factory=list, tag=0, ignorable=True)
    finalized_features_epoch: Int64 = field("3+", default=-1, tag=1, ignorable=True)
    finalized_features: list[FinalizedFeatureKey] = field("3+", default_factory=list, tag=2, ignorable=True)
    zk_migration_ready: Bool = field("3+", default=False, tag=3, ignorable=True)
