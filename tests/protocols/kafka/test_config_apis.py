"""Settings over the wire, in every version."""

import logging
from collections.abc import Iterator
from typing import Any

import pytest

from tests.core.rights import Denying
from tests.protocols.kafka.administrator import Administrator, versions
from trivium.core.access import Operation, Resource
from trivium.messages.api.alter_configs import AlterableConfig as ReplacedConfig
from trivium.messages.api.alter_configs import AlterConfigsRequest
from trivium.messages.api.alter_configs import AlterConfigsResource as ReplacedResource
from trivium.messages.api.describe_configs import DescribeConfigsRequest, DescribeConfigsResource
from trivium.messages.api.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from trivium.messages.api.list_config_resources import ListConfigResourcesRequest
from trivium.messages.errors import ErrorCode

TOPIC, BROKER, LOGGER, CLIENT_METRICS = 2, 4, 8, 16
SET, DELETE = 0, 1
TOPIC_SOURCE, STATIC_SOURCE, DEFAULT_SOURCE = 1, 4, 5
LONG, LIST = 5, 7


def describe(resource_type: int, name: str, *keys: str, **options: bool) -> DescribeConfigsRequest:
    resource = DescribeConfigsResource(
        resource_type=resource_type, resource_name=name, configuration_keys=list(keys) or None
    )
    return DescribeConfigsRequest(resources=[resource], **options)


def alter(resource_type: int, name: str, *operations: tuple[str, int, str | None]) -> Any:
    resource = AlterConfigsResource(
        resource_type=resource_type,
        resource_name=name,
        configs=[
            AlterableConfig(name=key, config_operation=operation, value=value)
            for key, operation, value in operations
        ],
    )
    return IncrementalAlterConfigsRequest(resources=[resource], validate_only=False)


@pytest.mark.parametrize("version", versions(DescribeConfigsRequest))
def test_describe_configs_tells_value_and_source_as_its_version_can(version: int) -> None:
    administrator = Administrator(static={"log.cleanup.policy": "compact"})
    administrator.world.create_topic("a", retention_ms="5")
    request = describe(TOPIC, "a", "retention.ms", "cleanup.policy", "flush.messages")
    (result,) = administrator.ask(request, version).results
    by_name = {config.name: config for config in result.configs}
    assert {name: config.value for name, config in by_name.items()} == {
        "retention.ms": "5",
        "cleanup.policy": "compact",
        "flush.messages": "9223372036854775807",
    }
    names = ("retention.ms", "cleanup.policy", "flush.messages")
    if version == 0:
        assert [by_name[name].is_default for name in names] == [False, False, True]
    else:
        sources = [by_name[name].config_source for name in names]
        assert sources == [TOPIC_SOURCE, STATIC_SOURCE, DEFAULT_SOURCE]
    if version >= 3:
        assert [by_name[name].config_type for name in names] == [LONG, LIST, LONG]


def test_describe_configs_tells_synonyms_and_documentation_if_asked() -> None:
    administrator = Administrator()
    administrator.world.create_topic("a", cleanup_policy="compact")
    for asked in (False, True):
        request = describe(TOPIC, "a", "cleanup.policy", include_synonyms=asked, include_documentation=asked)
        (config,) = administrator.ask(request, 4).results[0].configs
        assert [synonym.name for synonym in config.synonyms] == (
            ["cleanup.policy", "log.cleanup.policy"] if asked else []
        )
        assert bool(config.documentation) == asked


def test_describe_configs_never_tells_a_secret() -> None:
    """Promise S15."""
    administrator = Administrator(static={"ssl.key.password": "canary"})
    answer = administrator.ask(describe(BROKER, "1", include_synonyms=True, include_documentation=True), 4)
    assert "canary" not in repr(answer)
    (secret,) = [each for each in answer.results[0].configs if each.name == "ssl.key.password"]
    assert (secret.value, secret.is_sensitive) == (None, True)


@pytest.mark.parametrize("version", versions(IncrementalAlterConfigsRequest))
def test_incremental_alter_configs_changes_one_setting_and_leaves_others(version: int) -> None:
    administrator = Administrator()
    administrator.world.create_topic("a", retention_ms="5", flush_ms="6")
    request = alter(TOPIC, "a", ("retention.ms", SET, "7"), ("segment.ms", SET, "8"))
    (result,) = administrator.ask(request, version).responses
    assert (result.error_code, result.error_message) == (0, None)
    assert (result.resource_type, result.resource_name) == (TOPIC, "a")
    assert administrator.world.image.configs.of_topic("a") == {
        "retention.ms": "7",
        "flush.ms": "6",
        "segment.ms": "8",
    }


def test_incremental_alter_configs_of_an_operation_that_there_is_not_is_refused() -> None:
    administrator = Administrator()
    administrator.world.create_topic("a")
    request = alter(TOPIC, "a", ("retention.ms", SET, "7"), ("segment.ms", 9, "8"))
    (result,) = administrator.ask(request, 1).responses
    assert result.error_code == ErrorCode.INVALID_REQUEST
    assert result.error_message == "Unknown operations type 9"
    assert administrator.world.image.configs.of_topic("a") == {}


@pytest.mark.parametrize("version", versions(AlterConfigsRequest))
def test_alter_configs_replaces_all_settings(version: int) -> None:
    administrator = Administrator()
    administrator.world.create_topic("a", retention_ms="5", flush_ms="6")
    resource = ReplacedResource(
        resource_type=TOPIC,
        resource_name="a",
        configs=[ReplacedConfig(name="retention.ms", value="7")],
    )
    request = AlterConfigsRequest(resources=[resource], validate_only=False)
    (result,) = administrator.ask(request, version).responses
    assert (result.error_code, result.resource_type, result.resource_name) == (0, TOPIC, "a")
    assert administrator.world.image.configs.of_topic("a") == {"retention.ms": "7"}


@pytest.fixture
def logger() -> Iterator[logging.Logger]:
    made = logging.getLogger("trivium.test_config_apis")
    yield made
    made.setLevel(logging.NOTSET)


def test_incremental_alter_configs_of_a_logger_changes_its_level(logger: logging.Logger) -> None:
    administrator = Administrator()
    (result,) = administrator.ask(alter(LOGGER, "1", (logger.name, SET, "ERROR")), 1).responses
    assert result.error_code == 0
    assert logger.level == logging.ERROR
    (described,) = administrator.ask(describe(LOGGER, "1", logger.name), 4).results
    assert [(config.name, config.value) for config in described.configs] == [(logger.name, "ERROR")]
    administrator.ask(alter(LOGGER, "1", (logger.name, DELETE, None)), 1)
    assert logger.level == logging.NOTSET


@pytest.mark.parametrize("version", versions(ListConfigResourcesRequest))
def test_list_config_resources_knows_more_kinds_since_version_1(version: int) -> None:
    administrator = Administrator()
    administrator.world.create_topic("a", retention_ms="5")
    administrator.ask(alter(CLIENT_METRICS, "s", ("interval.ms", SET, "1000")), 1)
    answer = administrator.ask(ListConfigResourcesRequest(), version)
    found = {(each.resource_type, each.resource_name) for each in answer.config_resources}
    assert found == (
        {(CLIENT_METRICS, "s")}
        if version == 0
        else {(CLIENT_METRICS, "s"), (TOPIC, "a"), (BROKER, "1"), (LOGGER, "1")}
    )


def test_list_config_resources_is_refused_to_who_may_not_see_them() -> None:
    administrator = Administrator(Denying((Operation.DESCRIBE_CONFIGS, Resource.CLUSTER)))
    answer = administrator.ask(ListConfigResourcesRequest(), 1)
    assert answer.error_code == ErrorCode.CLUSTER_AUTHORIZATION_FAILED
    assert answer.config_resources == []
