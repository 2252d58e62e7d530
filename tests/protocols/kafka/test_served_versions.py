"""The versions of administration that are served: all that Kafka 4.3.1 has, and those before, back to 0."""

import re
from importlib import import_module

import pytest

from trivium.messages.api import ApiKey, api_key, request_class
from trivium.protocols.kafka import apis
from trivium.protocols.kafka.api import Api
from trivium.protocols.kafka.apis import APIS, VERSIONS

KAFKA_4_3_1 = {
    ApiKey.PRODUCE: 13,
    ApiKey.METADATA: 13,
    ApiKey.CREATE_TOPICS: 7,
    ApiKey.DELETE_TOPICS: 6,
    ApiKey.DELETE_RECORDS: 2,
    ApiKey.DESCRIBE_CONFIGS: 4,
    ApiKey.ALTER_CONFIGS: 2,
    ApiKey.ALTER_REPLICA_LOG_DIRS: 2,
    ApiKey.DESCRIBE_LOG_DIRS: 5,
    ApiKey.CREATE_PARTITIONS: 3,
    ApiKey.ELECT_LEADERS: 2,
    ApiKey.INCREMENTAL_ALTER_CONFIGS: 1,
    ApiKey.ALTER_PARTITION_REASSIGNMENTS: 1,
    ApiKey.LIST_PARTITION_REASSIGNMENTS: 0,
    ApiKey.DESCRIBE_QUORUM: 2,
    ApiKey.DESCRIBE_CLUSTER: 2,
    ApiKey.UNREGISTER_BROKER: 0,
    ApiKey.LIST_CONFIG_RESOURCES: 1,
    ApiKey.DESCRIBE_TOPIC_PARTITIONS: 0,
    ApiKey.ADD_PARTITIONS_TO_TXN: 5,
    ApiKey.ADD_OFFSETS_TO_TXN: 4,
    ApiKey.END_TXN: 5,
    ApiKey.WRITE_TXN_MARKERS: 2,
    ApiKey.TXN_OFFSET_COMMIT: 5,
    ApiKey.UPDATE_FEATURES: 2,
    ApiKey.DESCRIBE_TRANSACTIONS: 0,
    ApiKey.LIST_TRANSACTIONS: 2,
}


SHARE_GROUPS = {
    ApiKey.SHARE_GROUP_HEARTBEAT: (1, 1),
    ApiKey.SHARE_GROUP_DESCRIBE: (1, 1),
    ApiKey.SHARE_FETCH: (1, 2),
    ApiKey.SHARE_ACKNOWLEDGE: (1, 2),
    ApiKey.DESCRIBE_SHARE_GROUP_OFFSETS: (0, 1),
    ApiKey.ALTER_SHARE_GROUP_OFFSETS: (0, 0),
    ApiKey.DELETE_SHARE_GROUP_OFFSETS: (0, 0),
}
"""What came before was never in a release."""


@pytest.mark.parametrize(
    ("key", "versions"), SHARE_GROUPS.items(), ids=lambda each: getattr(each, "name", each)
)
def test_api_of_share_groups_is_served_as_kafka_4_3_1_does(key: ApiKey, versions: tuple[int, int]) -> None:
    assert (APIS[key].version_min, APIS[key].version_last) == versions


@pytest.mark.parametrize(("key", "last"), KAFKA_4_3_1.items(), ids=lambda each: getattr(each, "name", each))
def test_api_of_administration_is_served_in_every_version(key: ApiKey, last: int) -> None:
    assert (APIS[key].version_min, APIS[key].version_last) == (0, last)
    assert {0, last} <= set(request_class(key).VERSIONS)


@pytest.mark.parametrize("key", sorted(VERSIONS), ids=lambda key: api_key(key).name)
def test_module_of_an_api_says_the_same_as_the_table(key: int) -> None:
    api = APIS[key]
    assert (api.key, api.version_min, api.version_last) == (key, *VERSIONS[key])
    versions = {int(number) for number in re.findall(r"\d+", _served_in_words(api))}
    assert versions == {api.version_min, api.version_last}


def _served_in_words(api: Api) -> str:
    """What the module tells its readers: ``Served: 0-13.``"""
    documentation = import_module(f"{apis.__name__}.{api.key.name.lower()}").__doc__ or ""
    found = re.search(r"Served: (\d+(?:-\d+)?)", documentation)
    assert found is not None, f"{api.key.name} does not say which versions are served"
    return found[1]


def test_api_that_is_not_served_is_not_in_the_table() -> None:
    assert APIS.get(ApiKey.LEADER_AND_ISR) is None
    assert ApiKey.LEADER_AND_ISR not in APIS
