"""The settings in force: what a topic or this broker was given, else what stands in its place.

Strongest first: the topic's own value, this broker's dynamic value, the dynamic value for all brokers,
the static value (file, environment, flags), the default. ``config.layers`` has the rules; here they meet
what this broker was given.
"""

from collections.abc import Callable, Mapping
from typing import Final

from trivium.core.config.layers import Layers, group_value, in_force, topic_value
from trivium.core.config.valid import Value
from trivium.core.metadata import MetadataImage
from trivium.core.metadata_configs import ALL_BROKERS, ConfigResource, ConfigType
from trivium.core.partition import Rules

_LEVELS: Final = {codec: f"compression.{codec}.level" for codec in ("gzip", "lz4", "zstd")}
"""The setting of each codec that has levels."""
NO_GROUP: Final = ""
"""Stands for all groups that have set nothing for themselves; no group has this name."""
NO_TOPIC: Final = ""
"""The same for topics."""


class Settings:
    def __init__(
        self, static: Mapping[str, str], image: MetadataImage, node_id: int, *, durable: bool = True
    ) -> None:
        self.static = static
        self._image = image
        self._node_id = node_id
        self._durable = durable
        self._kept: dict[tuple[str | None, str], Value] = {}
        """By group, None for the broker, and name: requests ask for the same ones over and over."""
        self._kept_bounded: dict[tuple[str, str, str], int] = {}
        """By group, kind of group and name."""
        self._kept_since = -1
        self._kept_rules: dict[str, Rules] = {}
        """By topic: each of its partitions asks for them."""

    @property
    def layers(self) -> Layers:
        """What somebody has set for this broker, layer by layer."""
        configs = self._image.configs.by_resource
        return Layers(
            this_broker=configs.get(ConfigResource(ConfigType.BROKER, str(self._node_id)), {}),
            all_brokers=configs.get(ConfigResource(ConfigType.BROKER, ALL_BROKERS), {}),
            static=self.static,
        )

    def broker(self, name: str) -> Value:
        kept = self._current()
        if (None, name) not in kept:
            kept[None, name] = in_force(name, self.layers)
        return kept[None, name]

    def topic(self, topic: str, name: str) -> Value:
        return topic_value(name, self._image.configs.of_topic(topic), self.layers)

    def group(self, group_id: str, name: str) -> Value:
        own = self._image.configs.by_resource.get(ConfigResource(ConfigType.GROUP, group_id))
        if own is None:
            group_id = NO_GROUP
        kept = self._current()
        if (group_id, name) not in kept:
            kept[group_id, name] = group_value(name, own or {}, self.layers)
        return kept[group_id, name]

    def bounded(self, group_id: str, kind: str, name: str) -> int:
        """A number that a group has set, no less and no more than the broker allows groups of its kind."""
        self._current()
        if ConfigResource(ConfigType.GROUP, group_id) not in self._image.configs.by_resource:
            group_id = NO_GROUP
        found = self._kept_bounded.get((group_id, kind, name))
        if found is None:
            least = whole(self.broker, f"group.{kind}.min.{name}")
            most = whole(self.broker, f"group.{kind}.max.{name}")
            own = whole(lambda setting: self.group(group_id, setting), f"{kind}.{name}")
            found = self._kept_bounded[group_id, kind, name] = max(least, min(own, most))
        return found

    def _current(self) -> dict[tuple[str | None, str], Value]:
        """What is kept, as far as it still holds."""
        changes = self._image.configs.changes
        if changes != self._kept_since:
            self._kept.clear()
            self._kept_bounded.clear()
            self._kept_rules.clear()
            self._kept_since = changes
        return self._kept

    def rules(self, topic: str) -> Rules:
        own = self._image.configs.of_topic(topic)
        if not own:
            topic = NO_TOPIC
        self._current()
        if topic not in self._kept_rules:
            self._kept_rules[topic] = self._rules(own)
        return self._kept_rules[topic]

    def _rules(self, own: Mapping[str, str]) -> Rules:
        layers = self.layers

        def value(name: str) -> Value:
            return topic_value(name, own, layers)

        policy, compression = value("cleanup.policy"), str(value("compression.type"))
        return Rules(
            max_message_bytes=whole(value, "max.message.bytes"),
            append_time=value("message.timestamp.type") == "LogAppendTime",
            timestamp_before_max_ms=whole(value, "message.timestamp.before.max.ms"),
            timestamp_after_max_ms=whole(value, "message.timestamp.after.max.ms"),
            compression=compression,
            compression_level=whole(value, levels) if (levels := _LEVELS.get(compression)) else None,
            compacted=isinstance(policy, tuple) and "compact" in policy,
            min_insync_replicas=whole(value, "min.insync.replicas"),
            durable=self._durable,
            sync_each=whole(value, "flush.messages") == 1,
            segment_bytes=whole(value, "segment.bytes"),
        )


def whole(value: Callable[[str], Value], name: str) -> int:
    """A setting that is a number by its definition."""
    found = value(name)
    assert isinstance(found, int), f"{name} is {found!r}"
    return found
