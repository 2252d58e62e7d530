"""UpdateFeatures (key 57): raise or lower feature levels of the cluster (KIP-584, KIP-778).

Served: 0-2.
0   allow_downgrade
1   upgrade_type instead, and validate_only
2   one error for all, since either all are changed or none
"""

from typing import Final

from trivium.core.commands.features import FeatureUpdate, UpdatedFeatures, UpdateFeatures
from trivium.messages.api import ApiKey
from trivium.messages.api.update_features import (
    FeatureUpdateKey,
    UpdatableFeatureResult,
    UpdateFeaturesRequest,
    UpdateFeaturesResponse,
)
from trivium.messages.errors import ErrorCode
from trivium.protocols.kafka.api import Api, Call
from trivium.protocols.kafka.faults import code_of

_TYPES_SINCE: Final = 1
_ONE_ERROR_SINCE: Final = 2
_UPGRADE, _SAFE_DOWNGRADE, _UNSAFE_DOWNGRADE = 1, 2, 3


def to_command(request: UpdateFeaturesRequest, call: Call) -> UpdateFeatures | UpdateFeaturesResponse:
    if call.version >= _TYPES_SINCE:
        for update in request.feature_updates:
            if update.upgrade_type not in (_UPGRADE, _SAFE_DOWNGRADE, _UNSAFE_DOWNGRADE):
                return UpdateFeaturesResponse(
                    throttle_time_ms=0,
                    error_code=ErrorCode.INVALID_UPDATE_VERSION,
                    error_message=f"{update.upgrade_type} is no upgrade type: 1 raises, 2 and 3 lower.",
                )
    return UpdateFeatures(
        [
            FeatureUpdate(each.feature, each.max_version_level, _lowers(each, call.version))
            for each in request.feature_updates
        ],
        request.validate_only,
    )


def _lowers(update: FeatureUpdateKey, version: int) -> bool:
    if version >= _TYPES_SINCE:
        return bool(update.upgrade_type != _UPGRADE)
    return bool(update.allow_downgrade)


def to_response(result: UpdatedFeatures, call: Call) -> UpdateFeaturesResponse:
    is_done = result.fault is None
    return UpdateFeaturesResponse(
        throttle_time_ms=0,
        error_code=code_of(result.fault),
        error_message=result.message,
        results=[
            UpdatableFeatureResult(feature=each.feature, error_code=ErrorCode.NONE, error_message=None)
            for each in call.request.feature_updates
            if is_done and call.version < _ONE_ERROR_SINCE
        ],
    )


API = Api(ApiKey.UPDATE_FEATURES, 0, 2, to_command, to_response)
