"""UpdateFeatures (key 57): raise or lower feature levels of the cluster.

0   first version, flexible
1   request gains upgrade_type, validate_only; loses allow_downgrade
2   response loses results
"""

from trivium.messages.schema import Request, Response, Struct, field
from trivium.messages.types import Bool, Int8, Int16, Int32, String


class FeatureUpdateKey(Struct):
    feature: String
    max_version_level: Int16
    allow_downgrade: Bool = field("0", default=False)
    upgrade_type: Int8 = field("1+", default=1)


class UpdateFeaturesRequest(Request, key=57, versions="0-2", flexible="0+"):
    timeout_ms: Int32 = 60000
    feature_updates: list[FeatureUpdateKey]
    validate_only: Bool = field("1+", default=False)


class UpdatableFeatureResult(Struct):
    feature: String
    error_code: Int16
    error_message: String | None


class UpdateFeaturesResponse(Response, key=57, versions="0-2", flexible="0+"):
    throttle_time_ms: Int32
    error_code: Int16
    error_message: String | None
    results: list[UpdatableFeatureResult] = field("0-1", default_factory=list, ignorable=True)
