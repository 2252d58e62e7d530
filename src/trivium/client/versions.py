"""Which version of a request to speak: the newest that both sides know (mission 003.18).

The client knows brokers from Kafka 0.11 on, the first with today's record batches: ``OLDEST`` says so where a
message has older versions. ``NEWEST`` holds back the few versions that would cost more than they give.
"""

from collections.abc import Mapping
from typing import Final

from trivium.client.errors import Unsupported
from trivium.messages.api import ApiKey, api_name
from trivium.messages.api.api_versions import ApiVersionsResponse
from trivium.messages.schema import Request
from trivium.messages.version_range import NO_VERSIONS, VersionRange

OLDEST: Final[dict[int, int]] = {
    ApiKey.PRODUCE: 3,  # record batches of format 2
    ApiKey.FETCH: 4,  # the same, and isolation levels
    ApiKey.LIST_OFFSETS: 1,  # one offset for a timestamp, not a list of segments
    ApiKey.METADATA: 4,  # asking about a topic does not create it
}

NEWEST: Final[dict[int, int]] = {
    ApiKey.OFFSET_COMMIT: 9,  # 10 speaks of topics by id only, and groups outlive the topics they have read
    ApiKey.OFFSET_FETCH: 9,  # the same
    ApiKey.INIT_PRODUCER_ID: 5,  # 6 is for two-phase commit, and no broker offers it unasked
}


class Versions:
    """What one broker offers."""

    def __init__(self, offered: Mapping[int, VersionRange]) -> None:
        self._offered = offered

    @classmethod
    def of(cls, response: ApiVersionsResponse) -> "Versions":
        return cls({api.api_key: VersionRange(api.min_version, api.max_version) for api in response.api_keys})

    def offers(self, request: type[Request]) -> bool:
        common = self._common(request)
        return common.first <= common.last

    def pick(self, request: type[Request]) -> int:
        """The newest version of ``request`` that both sides speak."""
        common = self._common(request)
        if common.first > common.last:
            offered = self._offered.get(request.API_KEY, NO_VERSIONS)
            raise Unsupported(
                f"The broker does not offer {api_name(request.API_KEY)} in a version that is needed "
                f"(it has {offered}); update it, or do without."
            )
        return common.last

    def _common(self, request: type[Request]) -> VersionRange:
        key = request.API_KEY
        offered = self._offered.get(key, NO_VERSIONS)
        return VersionRange(
            max(offered.first, request.VERSIONS.first, OLDEST.get(key, 0)),
            min(offered.last, request.VERSIONS.last, NEWEST.get(key, request.VERSIONS.last)),
        )
