"""What DescribeConfigs tells about a resource: its settings with value, source and synonyms.

The synonyms of a setting are everything that has a say in it, the strongest first: the resource's own value,
then under the broker's names for it the value of this broker, of all brokers, of its file, and the default.
The first of them is the one in force, and its source is the setting's.

Two oddities of Kafka are kept, because tools print what they get. Where a broker says a time in hours, the
setting in milliseconds that follows from it has no synonyms and counts as a default. And a value that its
resource has itself is reported as it was understood (``0.5``), others as they were written (``.50``).
"""

from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

from trivium.core.config.broker import BROKER, UNITS, find_definition
from trivium.core.config.client_metrics import CLIENT_METRICS
from trivium.core.config.definition import Definition, ValueType, to_text
from trivium.core.config.group import GROUP
from trivium.core.config.layers import Layers, Source, broker_value, group_value, topic_value
from trivium.core.config.topic import TOPIC
from trivium.core.config.valid import InvalidValue, Value


class Synonym(NamedTuple):
    name: str
    value: str | None
    source: Source


class Entry(NamedTuple):
    definition: Definition
    value: str | None
    """None for a setting without a value, and for one whose value is nobody's business."""
    source: Source
    synonyms: tuple[Synonym, ...]

    @property
    def name(self) -> str:
        return self.definition.name

    @property
    def is_default(self) -> bool:
        return self.source is Source.DEFAULT_CONFIG


def describe_topic(
    own: Mapping[str, str], layers: Layers, names: Collection[str] | None = None
) -> list[Entry]:
    """All settings of a topic that has these of its own; with ``names`` only those that exist among them."""
    return [
        _entry(
            definition,
            topic_value(definition.name, own, layers),
            [
                *_own(definition, own, Source.DYNAMIC_TOPIC_CONFIG),
                *(_broker_synonyms(definition.broker_name, layers) if definition.broker_name else ()),
            ],
        )
        for definition in _listed(TOPIC, own, names)
    ]


def describe_group(
    own: Mapping[str, str], layers: Layers, names: Collection[str] | None = None
) -> list[Entry]:
    """All settings of a group, also of one that does not exist yet."""
    return [
        _entry(
            definition,
            group_value(definition.name, own, layers),
            [
                *_own(definition, own, Source.GROUP_CONFIG),
                *(
                    _broker_synonyms(definition.broker_name, layers)
                    if definition.broker_name
                    else [Synonym(definition.name, definition.default_text, Source.DEFAULT_CONFIG)]
                ),
            ],
        )
        for definition in _listed(GROUP, own, names)
    ]


def describe_broker(layers: Layers, names: Collection[str] | None = None) -> list[Entry]:
    """All settings of this broker, and whatever else somebody has set for it."""
    given = {name for _, values in layers for name in values}
    unknown = {
        name: find_definition(name) or Definition(name, ValueType.UNKNOWN, None)
        for name in given - set(BROKER)
    }
    return [
        _entry(definition, _broker_value(definition, layers), _broker_synonyms(definition.name, layers))
        for definition in _listed({**BROKER, **unknown}, given, names)
    ]


def describe_all_brokers(values: Mapping[str, str], names: Collection[str] | None = None) -> list[Entry]:
    """What is set for every broker of the cluster: nothing else has a place there."""
    layers = Layers(all_brokers=values)
    return [
        Entry(entry.definition, entry.value, entry.source, entry.synonyms[:1])
        for entry in describe_broker(layers, names)
        if entry.name in values
    ]


def describe_client_metrics(own: Mapping[str, str], names: Collection[str] | None = None) -> list[Entry]:
    """A subscription to metrics of clients."""
    return [
        _entry(
            definition,
            _parsed_or(definition, own.get(definition.name), definition.default),
            _own(definition, own, Source.CLIENT_METRICS_CONFIG),
        )
        for definition in _listed(CLIENT_METRICS, own, names)
    ]


def _listed(
    table: Mapping[str, Definition], given: Iterable[str], names: Collection[str] | None
) -> list[Definition]:
    """By name. What is internal is listed only if somebody has set it."""
    listed = {name for name, definition in table.items() if not definition.internal} | set(given) & set(table)
    return [table[name] for name in sorted(listed if names is None else listed & set(names))]


def _entry(definition: Definition, value: Value, synonyms: list[Synonym]) -> Entry:
    source = synonyms[0].source if synonyms else Source.DEFAULT_CONFIG
    return Entry(definition, None if definition.is_sensitive else to_text(value), source, tuple(synonyms))


def _own(definition: Definition, own: Mapping[str, str], source: Source) -> list[Synonym]:
    value = _parsed_or(definition, own.get(definition.name), None)
    return [] if value is None else [Synonym(definition.name, to_text(value), source)]


def _broker_synonyms(broker_name: str, layers: Layers) -> list[Synonym]:
    names = [name for name, _ in UNITS.get(broker_name, ((broker_name, 1),))]
    synonyms = [
        Synonym(name, _shown(name, values[name]), source)
        for source, values in layers
        for name in names
        if name in values
    ]
    synonyms += [
        Synonym(name, _shown(name, default), Source.DEFAULT_CONFIG)
        for name in names
        if (default := _default_text(name)) is not None
    ]
    # What stands before the setting itself does not count as a synonym of it.
    while synonyms and synonyms[0].name != broker_name:
        del synonyms[0]
    return synonyms


def _default_text(name: str) -> str | None:
    return BROKER[name].default_text if name in BROKER else None


def _shown(name: str, text: str) -> str | None:
    definition = find_definition(name)
    return None if definition is None or definition.is_sensitive else text


def _broker_value(definition: Definition, layers: Layers) -> Value:
    if definition.name in BROKER:
        return broker_value(definition.name, layers)
    texts = (values[definition.name] for _, values in layers if definition.name in values)
    return _parsed_or(definition, next(texts, None), None)


def _parsed_or(definition: Definition, text: str | None, other: Value) -> Value:
    try:
        return other if text is None else definition.parse(text)
    except InvalidValue:
        return other
