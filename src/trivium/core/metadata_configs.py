"""Settings as the metadata log tells them: by resource, only what somebody has set, values as text."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Final, NamedTuple

from trivium.messages.stored.metadata_topics import ConfigRecord
from trivium.wire.errors import DecodeError

ALL_BROKERS: Final = ""
"""The resource name under which settings of every broker in the cluster stand."""


class ConfigType(IntEnum):
    """What can have settings; the codes are those of the record."""

    TOPIC = 2
    BROKER = 4
    CLIENT_METRICS = 16
    GROUP = 32


class ConfigResource(NamedTuple):
    type: ConfigType
    name: str


@dataclass(slots=True)
class Configs:
    by_resource: dict[ConfigResource, dict[str, str]] = field(default_factory=dict)
    changes: int = field(default=0, compare=False)
    """How often anything was set or taken back: who has read a value may keep it until this moves."""

    def set(self, record: ConfigRecord) -> None:
        """Set one value, or take it back where the record has none."""
        resource = ConfigResource(_config_type(record), record.resource_name)
        self.changes += 1
        values = self.by_resource.setdefault(resource, {})
        if record.value is not None:
            values[record.name] = record.value
        else:
            values.pop(record.name, None)
        if not values:
            del self.by_resource[resource]

    def remove_topic(self, name: str) -> None:
        self.changes += 1
        self.by_resource.pop(ConfigResource(ConfigType.TOPIC, name), None)

    def of_topic(self, name: str) -> Mapping[str, str]:
        return self.by_resource.get(ConfigResource(ConfigType.TOPIC, name), {})

    def of_broker(self, broker_id: int) -> Mapping[str, str]:
        """What is set for all brokers, and over it what is set for this one."""
        everywhere = self.by_resource.get(ConfigResource(ConfigType.BROKER, ALL_BROKERS), {})
        return everywhere | self.by_resource.get(ConfigResource(ConfigType.BROKER, str(broker_id)), {})


def _config_type(record: ConfigRecord) -> ConfigType:
    try:
        return ConfigType(record.resource_type)
    except ValueError as error:
        raise DecodeError(f"{record.name} is set for a resource of type {record.resource_type}") from error
