"""Settings from the environment."""

import re
from pathlib import Path

import pytest

import trivium
from trivium.core.config.broker import BROKER
from trivium.server.configuration.environment import from_environment, variable_of
from trivium.server.configuration.errors import ConfigurationError
from trivium.server.configuration.given import Given
from trivium.server.configuration.own_settings import OWN


@pytest.mark.parametrize(
    ("variable", "name"),
    [
        ("TRIVIUM_DATA", "data"),
        ("TRIVIUM_NODE_ID", "node-id"),
        ("TRIVIUM_LISTEN_KAFKA", "listen.kafka"),
        ("TRIVIUM_LIMITS_SLOW_READER_MS", "limits.slow-reader-ms"),
        ("TRIVIUM_KAFKA_LOG_RETENTION_HOURS", "log.retention.hours"),
        ("TRIVIUM_KAFKA_NODE_ID", "node.id"),
    ],
)
def test_variable_names_a_setting(variable: str, name: str) -> None:
    assert from_environment({variable: "1"}) == [Given(name, "1", variable)]
    assert variable_of(name) == variable


def test_variables_of_all_settings_lead_back_to_them() -> None:
    for name in [*OWN, *BROKER]:
        assert from_environment({variable_of(name): "1"})[0].name == name


@pytest.mark.parametrize(
    "variable",
    [
        "TRIVIUM_SERVICE_HOST",
        "TRIVIUM_SERVICE_PORT",
        "TRIVIUM_SERVICE_PORT_KAFKA",
        "TRIVIUM_PORT",
        "TRIVIUM_PORT_9092_TCP",
        "TRIVIUM_PORT_9092_TCP_ADDR",
        "TRIVIUM_KAFKA_SERVICE_HOST",
        "TRIVIUM_KAFKA_PORT_9092_TCP_PORT",
        "TRIVIUM_CONFIG",
        "HOME",
    ],
)
def test_variable_that_is_no_setting_of_ours_is_passed_over(variable: str) -> None:
    assert from_environment({variable: "tcp://10.0.0.1:9092"}) == []


def test_variables_that_other_parts_read_are_passed_over() -> None:
    """Whoever lets another part of the product read a variable finds out here."""
    source = Path(trivium.__file__).parent
    texts = [path.read_text() for path in source.rglob("*.py") if "configuration" not in path.parts]
    variables = {name for text in texts for name in re.findall(r"TRIVIUM_[A-Z_]+", text)} - {"TRIVIUM_"}
    assert variables >= {"TRIVIUM_BROKER", "TRIVIUM_KERNEL"}
    assert from_environment(dict.fromkeys(variables, "1")) == []


def test_variable_without_a_value_says_nothing() -> None:
    assert from_environment({"TRIVIUM_DATA": ""}) == []


@pytest.mark.parametrize(
    ("variable", "meant"),
    [
        ("TRIVIUM_KAFKA", "TRIVIUM_LISTEN_KAFKA"),
        ("TRIVIUM_NODEID", "TRIVIUM_NODE_ID"),
        ("TRIVIUM_KAFKA_NUM_PARTITONS", "TRIVIUM_KAFKA_NUM_PARTITIONS"),
    ],
)
def test_unknown_variable_is_refused_with_the_nearest(variable: str, meant: str) -> None:
    with pytest.raises(ConfigurationError) as refused:
        from_environment({variable: "1"})
    assert str(refused.value) == f"{variable} in the environment is no setting; the nearest is {meant}."
