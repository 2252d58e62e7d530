"""ApiVersions (key 18): what is served here, and in which versions.

Served: 0-4. A request in a version that is not served is answered all the same, in version 0, with error 35
and the one row of this API, so that the client can ask again (KIP-511; mission 000.*, 001.8-001.13). From
version 3 on the client introduces itself, a name or version that is none is an invalid request, and the
answer lists feature levels; before version 4 no client understands a feature whose lowest level is 0. Our own
APIs are listed for clients that ask by a tagged field, and for nobody else (ADR 11).
"""

import re
from functools import cache
from typing import Final

from trivium.core.commands.features import DescribeFeatures, FeatureLevels
from trivium.messages.api import ApiKey
from trivium.messages.api.api_versions import (
    ApiVersion,
    ApiVersionsRequest,
    ApiVersionsResponse,
    FinalizedFeatureKey,
    SupportedFeatureKey,
)
from trivium.messages.codec import encode
from trivium.messages.errors import ErrorCode
from trivium.messages.extensions import EXTENSION_KEY_MIN, EXTENSIONS_TAG
from trivium.protocols.kafka.api import Answer, Api, Call
from trivium.protocols.kafka.apis import VERSIONS

VERSION_MIN, VERSION_LAST = 0, 4
_INTRODUCTION_SINCE: Final = 3
_LEVEL_0_SINCE: Final = 4
_TELEMETRY: Final = frozenset((ApiKey.GET_TELEMETRY_SUBSCRIPTIONS, ApiKey.PUSH_TELEMETRY))
"""Listed while somebody wants metrics, as in Kafka: clients that see them ask on every connection."""
_WORD: Final = re.compile(r"[a-zA-Z0-9](?:[a-zA-Z0-9\-.]*[a-zA-Z0-9])?")
"""How a client may call itself and its version (KIP-511)."""


@cache
def _rows(*, with_extensions: bool = False, with_telemetry: bool = False) -> list[ApiVersion]:
    return [
        ApiVersion(api_key=key, min_version=version_min, max_version=version_last)
        for key, (version_min, version_last) in sorted(VERSIONS.items())
        if (key < EXTENSION_KEY_MIN or with_extensions) and (key not in _TELEMETRY or with_telemetry)
    ]


@cache
def _plain(version: int) -> bytes:
    return encode(ApiVersionsResponse(error_code=ErrorCode.NONE, api_keys=_rows()), version)


def to_command(request: ApiVersionsRequest, call: Call) -> DescribeFeatures | Answer:
    if call.version < _INTRODUCTION_SINCE:
        return _plain(call.version)
    name, version = request.client_software_name, request.client_software_version
    if not (_WORD.fullmatch(name) and _WORD.fullmatch(version)):
        return ApiVersionsResponse(error_code=ErrorCode.INVALID_REQUEST, api_keys=[])
    call.introduce(name, version)
    return DescribeFeatures()


def to_response(levels: FeatureLevels, call: Call) -> ApiVersionsResponse:
    return ApiVersionsResponse(
        error_code=ErrorCode.NONE,
        api_keys=_rows(
            with_extensions=EXTENSIONS_TAG in call.request.unknown_tags,
            with_telemetry=levels.collects_metrics,
        ),
        supported_features=[
            SupportedFeatureKey(name=name, min_version=level_min, max_version=level_last)
            for name, (level_min, level_last) in sorted(levels.supported.items())
            if level_min > 0 or call.version >= _LEVEL_0_SINCE
        ],
        finalized_features_epoch=levels.epoch,
        finalized_features=[
            FinalizedFeatureKey(name=name, max_version_level=level, min_version_level=level)
            for name, level in sorted(levels.finalized.items())
        ],
    )


def unsupported() -> ApiVersionsResponse:
    return ApiVersionsResponse(
        error_code=ErrorCode.UNSUPPORTED_VERSION,
        api_keys=[ApiVersion(api_key=ApiKey.API_VERSIONS, min_version=VERSION_MIN, max_version=VERSION_LAST)],
    )


API = Api(ApiKey.API_VERSIONS, VERSION_MIN, VERSION_LAST, to_command, to_response)
