"""Changes of settings, in the order in which Kafka 4.3.1 saw them, and refused as it refused them."""

from typing import Any

import pytest

from tests.core.config.recorded import layers_of, lines
from trivium.core.config.change import Change, Operation, altered, check_new_topic, checked, replaced
from trivium.core.config.layers import Layers
from trivium.core.faults import Fault, Refused
from trivium.core.metadata_configs import ALL_BROKERS, ConfigResource, ConfigType

TOPIC = ConfigResource(ConfigType.TOPIC, "t")


def alter(
    resource: ConfigResource, own: dict[str, str], changes: list[Change], layers: Layers
) -> dict[str, str | None]:
    return checked(resource, own, altered(resource.type, own, changes), layers)


class Replay:
    """A cluster's settings, changed line by line."""

    def __init__(self, given: dict[str, Any]) -> None:
        self.static = given["static"]
        self.own: dict[ConfigResource, dict[str, str]] = {
            ConfigResource(ConfigType.TOPIC, "own"): given["topic"],
            ConfigResource(ConfigType.GROUP, "g"): given["group"],
            ConfigResource(ConfigType.BROKER, "1"): given["this_broker"],
            ConfigResource(ConfigType.BROKER, ALL_BROKERS): given["all_brokers"],
        }

    def layers(self) -> Layers:
        return Layers(
            this_broker=self.own[ConfigResource(ConfigType.BROKER, "1")],
            all_brokers=self.own[ConfigResource(ConfigType.BROKER, ALL_BROKERS)],
            static=self.static,
        )

    def step(self, line: dict[str, Any]) -> None:
        if "create" in line:
            check_new_topic(list(line["create"].items()), self.layers())
            return
        kind, name = line.get("alter") or line["replace"]
        resource = ConfigResource(ConfigType[kind], name)
        own = self.own.setdefault(resource, {})
        if "alter" in line:
            changes = [Change(name, Operation[word], value) for word, name, value in line["changes"]]
            delta = alter(resource, own, changes, self.layers())
        else:
            wanted = replaced(own, [tuple(pair) for pair in line["changes"]])
            delta = checked(resource, own, wanted, self.layers())
        for name, value in delta.items():
            if value is None:
                own.pop(name)
            else:
                own[name] = value


def test_changes_are_taken_and_refused_as_kafka_does() -> None:
    """003.8, 003.9: AlterConfigs, IncrementalAlterConfigs, CreateTopics with settings."""
    given, *steps = lines("changes")
    replay = Replay(given["given"])
    for line in steps:
        refusal = None
        try:
            replay.step(line)
        except Refused as refused:
            refusal = [refused.fault.name, refused.message]
        assert refusal == line["refused"], line
    assert replay.own[ConfigResource(ConfigType.TOPIC, "own")] == {
        "flush.ms": "7",
        "cleanup.policy": " compact , delete ",
    }
    assert layers_of(given["given"]).static == replay.static


@pytest.mark.parametrize(
    ("before", "change", "after"),
    [
        ({}, Change("cleanup.policy", Operation.APPEND, "compact"), "delete,compact"),
        ({"cleanup.policy": ""}, Change("cleanup.policy", Operation.APPEND, "compact"), "compact"),
        ({"cleanup.policy": "compact"}, Change("cleanup.policy", Operation.SUBTRACT, "compact"), ""),
        ({}, Change("cleanup.policy", Operation.SUBTRACT, "delete"), ""),
        ({"cleanup.policy": "compact"}, Change("cleanup.policy", Operation.DELETE), None),
    ],
)
def test_change_of_a_list_starts_from_its_own_value_or_the_default(
    before: dict[str, str], change: Change, after: str | None
) -> None:
    assert alter(TOPIC, before, [change], Layers()) == {"cleanup.policy": after}


def test_change_that_changes_nothing_writes_nothing() -> None:
    own = {"cleanup.policy": "compact", "retention.ms": "5"}
    changes = [
        Change("cleanup.policy", Operation.APPEND, "compact"),
        Change("retention.ms", Operation.SET, "5"),
        Change("segment.ms", Operation.DELETE),
    ]
    assert alter(TOPIC, own, changes, Layers()) == {}


def test_replacement_takes_away_what_it_does_not_name() -> None:
    own = {"cleanup.policy": "compact", "retention.ms": "5"}
    delta = checked(TOPIC, own, replaced(own, [("retention.ms", "5"), ("flush.ms", "1")]), Layers())
    assert delta == {"cleanup.policy": None, "flush.ms": "1"}


def test_setting_left_by_an_older_kafka_is_in_nobodys_way() -> None:
    own = {"message.format.version": "2.8", "segment.bytes": "14"}
    assert alter(TOPIC, own, [Change("retention.ms", Operation.SET, "5")], Layers()) == {"retention.ms": "5"}
    assert alter(TOPIC, own, [Change("message.format.version", Operation.DELETE)], Layers()) == {
        "message.format.version": None
    }


def test_change_of_a_broker_that_no_topic_could_bear_is_refused() -> None:
    """Kafka takes it, and then refuses every change of every topic."""
    changes = [
        Change("log.cleaner.min.compaction.lag.ms", Operation.SET, "10"),
        Change("log.cleaner.max.compaction.lag.ms", Operation.SET, "5"),
    ]
    with pytest.raises(Refused, match=r"min.compaction.lag.ms \(10\) > log.cleaner.max"):
        alter(ConfigResource(ConfigType.BROKER, "1"), {}, changes, Layers())


def test_change_of_all_brokers_names_every_setting_that_needs_one_broker() -> None:
    changes = [
        Change("listeners", Operation.SET, "A://:1"),
        Change("sasl.enabled.mechanisms", Operation.SET, "PLAIN"),
    ]
    with pytest.raises(Refused) as refused:
        alter(ConfigResource(ConfigType.BROKER, ALL_BROKERS), {}, changes, Layers())
    assert refused.value.fault is Fault.INVALID_REQUEST
    assert str(refused.value).endswith("broker id must be specified: [listeners, sasl.enabled.mechanisms]")


def test_new_topic_keeps_what_it_is_given_as_it_is_written() -> None:
    assert check_new_topic([("min.cleanable.dirty.ratio", ".50")], Layers()) == {
        "min.cleanable.dirty.ratio": ".50"
    }
