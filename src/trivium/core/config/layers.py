"""What counts, where several have a say: a topic or group, this broker, all brokers, the broker's own file.

Values are text, as the metadata log and configuration files have them. A stored value that its setting does
not take, as another version of Kafka may have left it, is passed over: whoever sets one is told at once, and
nobody is served worse years later for a check that has become stricter.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import IntEnum

from trivium.core.config.broker import BROKER, UNITS
from trivium.core.config.definition import Definition
from trivium.core.config.group import GROUP
from trivium.core.config.topic import TOPIC
from trivium.core.config.valid import InvalidValue, Value


class Source(IntEnum):
    """Where a value comes from; the codes are those of DescribeConfigs."""

    UNKNOWN = 0
    DYNAMIC_TOPIC_CONFIG = 1
    DYNAMIC_BROKER_CONFIG = 2
    DYNAMIC_DEFAULT_BROKER_CONFIG = 3
    STATIC_BROKER_CONFIG = 4
    DEFAULT_CONFIG = 5
    DYNAMIC_BROKER_LOGGER_CONFIG = 6
    CLIENT_METRICS_CONFIG = 7
    GROUP_CONFIG = 8


@dataclass(frozen=True, slots=True)
class Layers:
    """What somebody has set for a broker, the strongest first."""

    this_broker: Mapping[str, str] = field(default_factory=dict)
    """While it runs, for it alone."""
    all_brokers: Mapping[str, str] = field(default_factory=dict)
    """While they run, for every broker of the cluster."""
    static: Mapping[str, str] = field(default_factory=dict)
    """Before it started: file, environment, flags."""

    def __iter__(self) -> Iterator[tuple[Source, Mapping[str, str]]]:
        yield Source.DYNAMIC_BROKER_CONFIG, self.this_broker
        yield Source.DYNAMIC_DEFAULT_BROKER_CONFIG, self.all_brokers
        yield Source.STATIC_BROKER_CONFIG, self.static


def broker_value(name: str, layers: Layers) -> Value:
    """A broker's setting, as it was set, else its default."""
    definition = BROKER[name]
    for _, values in layers:
        found = _parsed(definition, values.get(name))
        if found is not None:
            return found
    return definition.default


def topic_value(name: str, own: Mapping[str, str], layers: Layers) -> Value:
    """A topic's setting: its own value, else the broker's in the topic's unit."""
    return _value(TOPIC[name], own, layers)


def group_value(name: str, own: Mapping[str, str], layers: Layers) -> Value:
    """A group's setting: its own value, else the broker's."""
    return _value(GROUP[name], own, layers)


def _value(definition: Definition, own: Mapping[str, str], layers: Layers) -> Value:
    found = _parsed(definition, own.get(definition.name))
    if found is not None:
        return found
    return definition.default if definition.broker_name is None else in_force(definition.broker_name, layers)


def in_force(broker_name: str, layers: Layers) -> Value:
    """A broker's setting with those that say the same in other units: the finest that has a value counts."""
    for name, unit in UNITS.get(broker_name, ((broker_name, 1),)):
        value = broker_value(name, layers)
        if value is None:
            continue
        if broker_name in UNITS:
            assert isinstance(value, int)
            # Below zero is a word ("no limit"), not a quantity that could have a unit.
            return value * unit if value >= 0 else -1
        return value
    return None


def _parsed(definition: Definition, text: str | None) -> Value:
    if text is None:
        return None
    try:
        return definition.parse(text)
    except InvalidValue:
        return None
