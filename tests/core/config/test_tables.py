"""The tables against Kafka 4.3.1: every setting, and every fact about it."""

import re
from typing import Any

import pytest

from tests.core.config.recorded import TABLES, lines
from trivium.core.config.broker import BROKER, PER_LISTENER, UNITS, find_definition
from trivium.core.config.definition import ValueType
from trivium.core.config.topic import TOPIC
from trivium.core.config.valid import (
    GzipLevel,
    ListOf,
    NotEmpty,
    OffsetReset,
    OneOf,
    Range,
    ThrottledReplicas,
)
from trivium.log.settings import LogSettings
from trivium.log.topic_settings import topic_settings

RECORDED = lines("definitions")
ONLY_DYNAMIC = {
    "follower.replication.throttled.rate",
    "leader.replication.throttled.rate",
    "replica.alter.log.dirs.io.max.bytes.per.second",
}
"""What a broker takes only while it runs: no definition of Kafka's file lists it."""


@pytest.mark.parametrize("kind", TABLES)
def test_tables_have_the_settings_of_kafka_and_no_others(kind: str) -> None:
    assert set(TABLES[kind]) - ONLY_DYNAMIC == {row["name"] for row in RECORDED if row["of"] == kind}


@pytest.mark.parametrize("kind", TABLES)
def test_definitions_are_those_of_kafka(kind: str) -> None:
    """Issue 4: all names and defaults as Kafka reports them."""
    for row in RECORDED:
        if row["of"] == kind:
            definition = TABLES[kind][row["name"]]
            assert definition.type.name == row["type"], row["name"]
            assert definition.default_text == row["default"], row["name"]
            assert definition.internal == row.get("internal", False), row["name"]
            if not definition.internal:
                assert definition.is_read_only == row["read_only"], row["name"]
                assert definition.is_sensitive == row["sensitive"], row["name"]
            if kind == "broker":
                assert definition.update.value == row.get("update", "read-only"), row["name"]


@pytest.mark.parametrize("row", [row for row in RECORDED if "valid" in row], ids=lambda row: str(row["name"]))
def test_rule_is_that_of_kafka(row: dict[str, Any]) -> None:
    definition = TABLES[row["of"]][row["name"]]
    written = row["valid"]
    if re.fullmatch(r"\[-?[0-9.]+,\.\.\.(,-?[0-9.]+)?\]", written):
        bounds = [float(number) for number in re.findall(r"-?[0-9]+(?:\.[0-9]+)?", written)]
        assert isinstance(definition.rule, Range)
        assert [definition.rule.low, definition.rule.high] == [*bounds, None][:2]
    elif written in RULES:
        assert type(definition.rule) is RULES[written]
    else:
        words = tuple(re.findall(r"[\w-]+", written.removeprefix("(case insensitive)")))
        assert isinstance(definition.rule, OneOf | ListOf)
        assert definition.rule.words == words


RULES = {
    "non-empty string": NotEmpty,
    "[1,...,9] or -1": GzipLevel,
    "[latest, earliest, by_duration:PnDTnHnMn.nS]": OffsetReset,
    "[partitionId]:[brokerId],[partitionId]:[brokerId],...": ThrottledReplicas,
    "non-null string": type(None),
    # Of controllers, which are none here: taken as they are.
    "non-empty list": type(None),
}


def test_broker_name_of_a_topic_or_group_setting_is_its_synonym_in_kafka() -> None:
    for row in RECORDED:
        if row["of"] != "broker" and not row.get("internal"):
            broker_name = TABLES[row["of"]][row["name"]].broker_name
            if broker_name in UNITS:
                # Kafka lists none as long as the finest unit has no value.
                assert row["synonyms"] == []
            elif row["synonyms"] not in ([], [row["name"]]) or broker_name is not None:
                assert row["synonyms"] == [broker_name]


def test_broker_names_and_units_exist() -> None:
    names = {definition.broker_name for table in TABLES.values() for definition in table.values()} - {None}
    assert names <= set(BROKER)
    assert {name for units in UNITS.values() for name, _ in units} <= set(BROKER)
    assert set(BROKER) >= PER_LISTENER


def test_every_setting_of_topics_and_groups_is_explained() -> None:
    for kind in ("topic", "group"):
        unexplained = [
            name
            for name, definition in TABLES[kind].items()
            if not definition.doc and not definition.internal
        ]
        assert unexplained == []


def test_explanations_are_one_sentence() -> None:
    for table in TABLES.values():
        for definition in table.values():
            if definition.doc is not None:
                assert definition.doc.endswith("."), definition.name
                assert len(definition.doc) <= 200, definition.name


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("listener.name.internal.ssl.keystore.password", ValueType.PASSWORD),
        ("listener.name.sasl_plaintext.scram-sha-256.sasl.jaas.config", ValueType.PASSWORD),
        ("listener.name.external.max.connections", ValueType.INT),
    ],
)
def test_setting_of_one_listener_has_the_type_of_the_general_one(name: str, kind: ValueType) -> None:
    definition = find_definition(name)
    assert definition is not None
    assert (definition.name, definition.type, definition.is_read_only) == (name, kind, True)


def test_unknown_name_has_no_definition() -> None:
    assert find_definition("log.retention.msx") is None
    assert find_definition("listener.name.x.nothing") is None


def test_log_and_core_agree_on_names_and_defaults() -> None:
    """The log has its own reading of the settings it needs: neighbours do not know each other."""
    defaults = {
        name: str(definition.default_text) for name, definition in TOPIC.items() if not definition.internal
    }
    assert topic_settings(defaults, {}) == topic_settings({}, {}) == LogSettings()
    broker = {
        name: text for name, definition in BROKER.items() if (text := definition.default_text) is not None
    }
    assert topic_settings({}, broker) == LogSettings()
