"""DescribeConfigs against the answers of Kafka 4.3.1."""

from itertools import groupby
from typing import Any

import pytest

from tests.core.config.recorded import layers_of, lines
from trivium.core.config.description import (
    Entry,
    describe_all_brokers,
    describe_broker,
    describe_client_metrics,
    describe_group,
    describe_topic,
)
from trivium.core.config.layers import Layers, Source

KAFKA_FORGETS = [("broker", "log.retention.hours")]
"""Once log.retention.ms is set while it runs, Kafka reports the default of its hours, not the file's."""


def recorded_states() -> list[tuple[dict[str, Any], dict[str, list[list[Any]]]]]:
    states: list[tuple[dict[str, Any], dict[str, list[list[Any]]]]] = []
    for line in lines("described"):
        if "given" in line:
            states.append((line["given"], {}))
        else:
            states[-1][1].setdefault(line["of"], []).append(line["entry"])
    return states


def described(given: dict[str, Any], kind: str) -> list[Entry]:
    layers = layers_of(given)
    if kind == "topic":
        return describe_topic(given["topic"], layers)
    if kind == "empty topic":
        return describe_topic({}, layers)
    if kind == "group":
        return describe_group(given["group"], layers)
    return describe_broker(layers) if kind == "broker" else describe_all_brokers(given["all_brokers"])


def spelled(entry: Entry) -> list[Any]:
    return [
        entry.name,
        entry.value,
        entry.definition.is_read_only,
        entry.source,
        entry.definition.is_sensitive,
        entry.definition.type,
        [[each.name, each.value, each.source] for each in entry.synonyms],
    ]


@pytest.mark.parametrize("kind", ["topic", "empty topic", "group", "broker", "all brokers"])
@pytest.mark.parametrize("moment", [0, 1], ids=["as started", "changed while running"])
def test_description_is_that_of_kafka(moment: int, kind: str) -> None:
    """003.8: DescribeConfigs, with values, sources and synonyms."""
    given, answers = recorded_states()[moment]
    ours = {entry.name: spelled(entry) for entry in described(given, kind)}
    for answer in answers[kind]:
        if (kind, answer[0]) not in KAFKA_FORGETS:
            assert ours[answer[0]] == answer
    if kind == "broker":
        others = {name for name, entry in ours.items() if entry[3] != Source.DEFAULT_CONFIG}
        assert others <= {answer[0] for answer in answers[kind]}
    else:
        assert set(ours) == {answer[0] for answer in answers[kind]}


def test_description_of_a_secret_shows_nothing_of_it() -> None:
    """S15."""
    layers = Layers(
        this_broker={"listener.name.a.ssl.key.password": "canary"},
        static={"ssl.keystore.password": "canary", "made.up.by.a.plug.in": "canary"},
    )
    entries = describe_broker(layers)
    assert {entry.name for entry in entries} > {"ssl.keystore.password", "made.up.by.a.plug.in"}
    assert "canary" not in repr(entries)


def test_description_of_chosen_names_leaves_out_what_does_not_exist() -> None:
    entries = describe_topic({}, Layers(), ["retention.ms", "no.such"])
    assert [entry.name for entry in entries] == ["retention.ms"]


def test_description_is_sorted_by_name() -> None:
    names = [entry.name for entry in describe_broker(Layers(static={"a": "1", "zz": "2"}))]
    assert names == sorted(names)
    assert all(len(list(group)) == 1 for _, group in groupby(names))


def test_internal_setting_is_listed_once_it_is_set() -> None:
    def listed(own: dict[str, str]) -> bool:
        return any(entry.name == "internal.segment.bytes" for entry in describe_topic(own, Layers()))

    assert not listed({})
    assert listed({"internal.segment.bytes": "5"})


def test_client_metrics_without_settings_have_defaults() -> None:
    entries = {entry.name: entry for entry in describe_client_metrics({"interval.ms": "5000"})}
    assert (entries["interval.ms"].value, entries["interval.ms"].source) == (
        "5000",
        Source.CLIENT_METRICS_CONFIG,
    )
    assert (entries["match"].value, entries["match"].is_default) == ("", True)
