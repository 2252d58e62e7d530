"""Every API and version at Kafka's door against no rights, rights on something else, and a deny (S10).

The rows are made from the table of what is served: an API that nobody has said anything about fails here.
"""

from collections.abc import Iterator

import pytest

from tests.abuse.city import City, KafkaDoor, Right, everything_of
from tests.abuse.rows import FREE, ROWS
from tests.abuse.rows.row import AUTHORIZATION, Need, Row, there
from trivium.core.acls.entry import Operation, ResourceType
from trivium.messages.api import ApiKey
from trivium.messages.errors import ErrorCode
from trivium.protocols.kafka.apis import VERSIONS

ROWS_BY_NAME = {row.name: row for row in ROWS}
assert len(ROWS_BY_NAME) == len(ROWS)


@pytest.fixture(scope="module")
def ann(city: City) -> KafkaDoor:
    return KafkaDoor(city, "ann")


def versions(row: Row) -> range:
    first, last = VERSIONS[row.key]
    return range(max(first, row.versions[0]), min(last, row.versions[1]) + 1)


def elsewhere(need: Need) -> list[Right]:
    """Everything, but on other things than the ones that are needed."""
    others = {
        kind
        for kind, name in ((right.resource_type, right.name) for right in need.rights)
        if kind is not ResourceType.CLUSTER and name != "*"
    }
    kinds = {right.resource_type for right in need.rights}
    return [
        *(everything_of(kind) for kind in ResourceType if kind not in kinds),
        *(everything_of(kind, "elsewhere") for kind in others),
    ]


def settings(row: Row) -> Iterator[tuple[str, list[Right], tuple[Right, ...], Need]]:
    """What is allowed, what is denied, and which need is then not met."""
    everything = [everything_of(kind) for kind in ResourceType]
    yield "no rights", [], (), row.needs[0]
    for need in row.needs:
        of_its_kind = [
            each for each in row.needs if each.rights[0].resource_type is need.rights[0].resource_type
        ]
        yield "something else", elsewhere(need), (), of_its_kind[0]
        yield "a deny", everything, need.rights, need


def test_every_api_that_is_served_has_its_row() -> None:
    """Rule 6: an API that nobody has thought about does not pass."""
    assert {row.key for row in ROWS} | FREE.keys() == set(VERSIONS)
    covered = {(row.key, version) for row in ROWS for version in versions(row)}
    assert [
        (key, version)
        for key, (first, last) in VERSIONS.items()
        if key not in FREE
        for version in range(first, last + 1)
        if (key, version) not in covered
    ] == [(38, 1), (38, 2)], "before version 3 one makes tokens for oneself"


@pytest.mark.parametrize("name", ROWS_BY_NAME)
def test_api_without_its_right_is_refused_in_the_right_place_and_changes_nothing(
    city: City, ann: KafkaDoor, name: str
) -> None:
    row = ROWS_BY_NAME[name]
    city.allow()
    before = city.state()
    for word, allowed, denied, need in settings(row):
        city.allow(*allowed, deny=denied)
        for version in versions(row):
            answered = ann.say(row.key, version, row.values(city, there(city)))
            where = f"version {version} with {word}"
            assert answered.errors == need.errors(version), where
            if not need.errors(version):
                hidden = need.rights[0].name.removeprefix("User:")
                assert hidden.encode() not in answered.data, where
    city.allow()
    assert changes(before, city.state()) == []


def changes(before: dict[object, object], after: dict[object, object]) -> list[object]:
    """Everything that is different, but for the metadata log, in which the lists themselves are."""
    return [key for key in before | after if key != "metadata" and before.get(key) != after.get(key)]


@pytest.mark.parametrize("version", [1, 2])
def test_acknowledging_records_of_a_topic_that_may_not_be_read_any_more_is_refused(
    city: City, ann: KafkaDoor, version: int
) -> None:
    topics = [{"topic_id": city.topic_ids["orders"], "partitions": [{"partition_index": 0}]}]
    member = {"group_id": "drinkers", "member_id": f"{'A' * 21}{version}", "topics": topics}
    everything = [everything_of(kind) for kind in ResourceType]
    city.allow(*everything)
    assert not ann.say(ApiKey.SHARE_FETCH, version, member).errors
    city.allow(*everything, deny=[Right(Operation.READ, ResourceType.TOPIC, "orders")])
    answered = ann.say(ApiKey.SHARE_ACKNOWLEDGE, version, member | {"share_session_epoch": 1})
    assert answered.errors == {("responses.partitions.error_code", ErrorCode.TOPIC_AUTHORIZATION_FAILED)}


@pytest.mark.parametrize("key", [ApiKey.RENEW_DELEGATION_TOKEN, ApiKey.EXPIRE_DELEGATION_TOKEN])
def test_token_of_somebody_else_is_neither_renewed_nor_ended_by_whoever_has_its_secret(
    city: City, ann: KafkaDoor, key: ApiKey
) -> None:
    city.allow(*(everything_of(kind) for kind in ResourceType))
    before = city.state()
    for version in range(1, 3):
        answered = ann.say(key, version, {"hmac": city.token})
        assert answered.errors == {("error_code", ErrorCode.DELEGATION_TOKEN_OWNER_MISMATCH)}
    assert changes(before, city.state()) == []


def test_api_with_the_rights_of_its_row_and_no_other_is_not_refused(city: City, ann: KafkaDoor) -> None:
    """The same requests: the refusals above are no mistakes of the test."""
    refused = []
    for name, row in ROWS_BY_NAME.items():
        if row.key == ApiKey.SHARE_ACKNOWLEDGE:
            continue  # its topic is a matter of its session, see above
        for right_number in range(len(row.needs[0].rights)):
            first = row.needs[0].rights[right_number]
            city.allow(first, *(need.rights[0] for need in row.needs[1:]))
            answered = ann.say(row.key, versions(row)[-1], row.values(city, there(city)))
            if any(code in AUTHORIZATION for path, code in answered.errors if "config_error" not in path):
                refused.append((name, first, answered.errors))
    assert refused == []
