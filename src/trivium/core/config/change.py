"""Changes of settings: IncrementalAlterConfigs, AlterConfigs, and what a new topic is created with.

A change is checked as Kafka checks it and refused in Kafka's words, or it becomes what is to be written: the
names that get another value, with None for those that lose theirs. What a resource had before is taken as it
is, even where it would be refused today: a setting that an older Kafka left is in nobody's way.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from enum import IntEnum
from typing import Final, NamedTuple, TypeAlias

from trivium.core.config.broker import BROKER, PER_LISTENER, find_definition
from trivium.core.config.client_metrics import CLIENT_METRICS, IllegalPattern
from trivium.core.config.consistency import check_broker, check_group, check_topic
from trivium.core.config.definition import Definition, Update, ValueType
from trivium.core.config.group import GROUP
from trivium.core.config.layers import Layers
from trivium.core.config.topic import TOPIC
from trivium.core.config.valid import InvalidValue
from trivium.core.faults import Fault, Refused
from trivium.core.metadata_configs import ALL_BROKERS, ConfigResource, ConfigType

Delta: TypeAlias = dict[str, str | None]
"""What is to be written: names with their new value, None for those that have none any more."""


class Operation(IntEnum):
    """The codes are those of IncrementalAlterConfigs."""

    SET = 0
    DELETE = 1
    APPEND = 2
    SUBTRACT = 3


class Change(NamedTuple):
    name: str
    operation: Operation
    value: str | None = None


_TABLES: Final = {
    ConfigType.TOPIC: TOPIC,
    ConfigType.BROKER: BROKER,
    ConfigType.GROUP: GROUP,
    ConfigType.CLIENT_METRICS: CLIENT_METRICS,
}

_UNKNOWN_NAME: Final = {
    ConfigType.TOPIC: "Unknown topic config name: ",
    ConfigType.GROUP: "Unknown group config name: ",
    ConfigType.CLIENT_METRICS: "Unknown client metrics configuration: ",
}

_FAULTS: Final = {
    ConfigType.TOPIC: Fault.INVALID_CONFIG,
    ConfigType.GROUP: Fault.INVALID_CONFIG,
    ConfigType.BROKER: Fault.INVALID_REQUEST,
    ConfigType.CLIENT_METRICS: Fault.INVALID_REQUEST,
}


def altered(kind: ConfigType, own: Mapping[str, str], changes: Sequence[Change]) -> Delta:
    """What single changes make of the settings that a resource has of its own; not checked yet."""
    _refuse_duplicates(change.name for change in changes)
    _refuse_nulls(
        change.name for change in changes if change.value is None and change.operation is not Operation.DELETE
    )
    return {change.name: _applied(kind, change, own) for change in changes}


def replaced(own: Mapping[str, str], values: Sequence[tuple[str, str | None]]) -> Delta:
    """What giving a resource these settings and no others comes to; not checked yet."""
    _refuse_duplicates(name for name, _ in values)
    _refuse_nulls(name for name, value in values if value is None)
    return dict.fromkeys(own) | dict(values)


def check_new_topic(values: Sequence[tuple[str, str | None]], layers: Layers) -> dict[str, str]:
    """The settings that a topic is created with."""
    nulls = [name for name, value in values if value is None]
    if nulls:
        raise Refused(Fault.INVALID_CONFIG, f"Null value not supported for topic configs: {','.join(nulls)}")
    delta = checked(ConfigResource(ConfigType.TOPIC, ""), {}, dict(values), layers)
    return {name: value for name, value in delta.items() if value is not None}


def _refuse_duplicates(names: Iterable[str]) -> None:
    listed = list(names)
    if len(set(listed)) < len(listed):
        raise Refused(Fault.INVALID_REQUEST, "Error due to duplicate config keys")


def _refuse_nulls(names: Iterable[str]) -> None:
    listed = ",".join(names)
    if listed:
        raise Refused(Fault.INVALID_REQUEST, f"Null value not supported for : {listed}")


def _applied(kind: ConfigType, change: Change, own: Mapping[str, str]) -> str | None:
    if change.operation is Operation.DELETE:
        return None
    assert change.value is not None
    if change.operation is Operation.SET:
        return change.value
    definition = _TABLES[kind].get(change.name)
    if definition is None and kind is ConfigType.BROKER:
        raise Refused(Fault.INVALID_CONFIG, f"Unknown config name: {change.name}")
    if definition is None or definition.type is not ValueType.LIST:
        verb = change.operation.name
        raise Refused(
            Fault.INVALID_CONFIG,
            f"Config value {verb.lower()} is not allowed for config key: {change.name}"
            if kind is ConfigType.BROKER
            else f"Can't {verb} to key {change.name} because its type is not LIST.",
        )
    before = own.get(change.name, definition.default_text or "")
    items = [item.strip() for item in before.split(",") if item.strip()]
    for item in (item.strip() for item in change.value.split(",")):
        if change.operation is Operation.APPEND and item not in items:
            items.append(item)
        if change.operation is Operation.SUBTRACT and item in items:
            items.remove(item)
    return ",".join(items)


def checked(
    resource: ConfigResource, own: Mapping[str, str], wanted: Mapping[str, str | None], layers: Layers
) -> Delta:
    """What is to be written, if the resource may have such settings."""
    given = {name: value for name, value in wanted.items() if value is not None}
    after = {name: value for name, value in {**own, **wanted}.items() if value is not None}
    try:
        if resource.type is ConfigType.BROKER:
            _check_broker_names(resource, given)
        _check_values(resource.type, given)
        if resource.type is ConfigType.TOPIC:
            check_topic(after, layers)
        elif resource.type is ConfigType.GROUP:
            check_group(after, layers)
        elif resource.type is ConfigType.BROKER:
            check_broker(_with(layers, resource, after))
    except IllegalPattern as error:
        raise Refused(Fault.INVALID_CONFIG, str(error)) from None
    except InvalidValue as error:
        raise Refused(_FAULTS[resource.type], str(error)) from None
    return {name: value for name, value in wanted.items() if own.get(name) != value}


def _check_values(kind: ConfigType, given: Mapping[str, str]) -> None:
    for name, text in given.items():
        definition = find_definition(name) if kind is ConfigType.BROKER else _TABLES[kind].get(name)
        if definition is not None:
            definition.parse(text)
        elif kind is not ConfigType.BROKER:
            # A broker takes any name: plug-ins have settings that it knows nothing of.
            raise InvalidValue(_UNKNOWN_NAME[kind] + name)


def _check_broker_names(resource: ConfigResource, given: Mapping[str, str]) -> None:
    known = [BROKER[name] for name in sorted(given) if name in BROKER]
    _refuse_names("Cannot update these configs dynamically", (each for each in known if each.is_read_only))
    _refuse_names(
        "These security configs can be dynamically updated only per-listener using the listener prefix",
        (each for each in known if each.name in PER_LISTENER),
    )
    if resource.name == ALL_BROKERS:
        _refuse_names(
            "Cannot update these configs at default cluster level, broker id must be specified",
            (each for each in known if each.update is Update.PER_BROKER),
        )


def _refuse_names(reason: str, definitions: Iterable[Definition]) -> None:
    names = ", ".join(definition.name for definition in definitions)
    if names:
        raise InvalidValue(f"{reason}: [{names}]")


def _with(layers: Layers, resource: ConfigResource, values: Mapping[str, str]) -> Layers:
    if resource.name == ALL_BROKERS:
        return replace(layers, all_brokers=values)
    return replace(layers, this_broker=values)
