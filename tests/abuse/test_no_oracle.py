"""What is missing and what is forbidden look alike, byte by byte, to whom it is forbidden (S11).

For every API that names a topic, a group or a transactional id, in every version, at Kafka's door: with no
rights at all, and with every right on other things.
"""

import pytest

from tests.abuse.city import City, KafkaDoor
from tests.abuse.rows import ROWS
from tests.abuse.rows.row import MISSING, Names, there
from tests.abuse.test_kafka_rights import elsewhere, versions
from trivium.core.acls.entry import ResourceType

FIELDS = {
    ResourceType.TOPIC: ("topic", "topic_id"),
    ResourceType.GROUP: ("group", "share_group", "peopled_group", "peopled_share_group"),
    ResourceType.TRANSACTIONAL_ID: ("transactional_id", "query_id"),
}
NAMING = {row.name: row for row in ROWS if any(need.rights[0].resource_type in FIELDS for need in row.needs)}


@pytest.fixture(scope="module")
def ann(city: City) -> KafkaDoor:
    return KafkaDoor(city, "ann")


def without(names: Names, kind: ResourceType) -> Names:
    """The same, but what is of this kind is not there."""
    return names._replace(**{field: getattr(MISSING, field) for field in FIELDS[kind]})


def bytes_of(name: object) -> bytes:
    return name if isinstance(name, bytes) else str(name).encode()


def renamed(data: bytes, names: Names, missing: Names) -> bytes:
    """An answer with every name as if it were missing: all have their lengths in common."""
    for name, other in zip(names, missing, strict=True):
        one, another = (bytes_of(each) for each in (name, other))
        assert len(one) == len(another)
        data = data.replace(one, another)
    return data


@pytest.mark.parametrize("name", NAMING)
def test_missing_and_forbidden_are_one_answer(city: City, ann: KafkaDoor, name: str) -> None:
    row = NAMING[name]
    names = there(city)
    for need in row.needs:
        kind = need.rights[0].resource_type
        if kind not in FIELDS:
            continue
        missing = without(names, kind)
        for allowed in ([], elsewhere(need)):
            city.allow(*allowed)
            for version in versions(row):
                if kind is ResourceType.TOPIC and version >= row.is_by_id:
                    continue  # who knows an id of 16 random bytes knows of its topic: Kafka's words, too
                forbidden = ann.say(row.key, version, row.values(city, names)).data
                absent = ann.say(row.key, version, row.values(city, missing)).data
                assert renamed(forbidden, names, missing) == absent, f"version {version}"
