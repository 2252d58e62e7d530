"""The newest version that both sides speak (mission 003.18)."""

import pytest

from tests.client.scripted import all_requests
from trivium.client.errors import Unsupported
from trivium.client.versions import NEWEST, OLDEST, Versions
from trivium.messages.api import ApiKey, request_class
from trivium.messages.api.fetch import FetchRequest
from trivium.messages.api.metadata import MetadataRequest
from trivium.messages.schema import Request
from trivium.messages.version_range import VersionRange


@pytest.mark.parametrize(
    ("offered", "picked"), [((0, 13), 13), ((0, 99), 13), ((0, 5), 5), ((4, 4), 4), ((12, 30), 13)]
)
def test_version_is_the_newest_common_one(offered: tuple[int, int], picked: int) -> None:
    assert Versions({ApiKey.METADATA: VersionRange(*offered)}).pick(MetadataRequest) == picked


@pytest.mark.parametrize("offered", [VersionRange(0, 3), VersionRange(19, 25)])
def test_version_without_a_common_one_is_one_sentence(offered: VersionRange) -> None:
    versions = Versions({ApiKey.FETCH: offered})
    assert not versions.offers(FetchRequest)
    with pytest.raises(Unsupported, match=rf"does not offer Fetch .*it has {offered}"):
        versions.pick(FetchRequest)


def test_request_that_a_broker_does_not_have_is_not_offered() -> None:
    assert not Versions({}).offers(MetadataRequest)


@pytest.mark.parametrize("kind", all_requests())
def test_limits_of_versions_lie_within_what_the_message_has(kind: type[Request]) -> None:
    for limits in (OLDEST, NEWEST):
        limit = limits.get(ApiKey(kind.API_KEY))
        assert limit is None or limit in request_class(kind.API_KEY).VERSIONS
