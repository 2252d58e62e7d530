"""Settings told and changed, and that a change counts at once. Kafka's sentences are in ``tests/golden``."""

from collections.abc import Mapping

import pytest

from tests.core.fakes import World
from tests.core.rights import Denying
from trivium.core.access import Access, Operation, Resource
from trivium.core.commands.configs import (
    KINDS,
    LOGGER,
    AlterConfigs,
    AlteredConfigs,
    ConfigChanges,
    ConfigQuery,
    ConfigReplacement,
    DescribeConfigs,
    ListConfigs,
    ReplaceConfigs,
)
from trivium.core.config.change import Change
from trivium.core.config.change import Operation as Op
from trivium.core.configs import Configs
from trivium.core.faults import Fault
from trivium.core.metadata_configs import ALL_BROKERS, ConfigResource, ConfigType

TOPIC, BROKER, GROUP, CLIENT_METRICS = (
    ConfigType.TOPIC,
    ConfigType.BROKER,
    ConfigType.GROUP,
    ConfigType.CLIENT_METRICS,
)


class MemoryLoggers:
    def __init__(self) -> None:
        self.by_name: dict[str, str | None] = {"root": "INFO", "trivium": "INFO", "trivium.server": "WARN"}

    def levels(self) -> Mapping[str, str]:
        return {name: level or "INFO" for name, level in self.by_name.items()}

    def set_level(self, name: str, level: str | None) -> None:
        self.by_name[name] = level


class Fixture:
    def __init__(self, access: Access | None = None, static: Mapping[str, str] | None = None) -> None:
        self.world = World(static)
        self.loggers = MemoryLoggers()
        configs = Configs(self.world.cluster, self.world.settings, access or self.world.access, self.loggers)
        self.world.add(configs.routes)
        self.world.create_topic("a")

    def alter(self, kind: int, name: str, *changes: Change, validate_only: bool = False) -> AlteredConfigs:
        command = AlterConfigs([ConfigChanges(kind, name, changes)], validate_only)
        (result,) = self.world.execute(command)
        return result

    def set(self, kind: int, name: str, setting: str, value: str) -> Fault | None:
        return self.alter(kind, name, Change(setting, Op.SET, value)).fault

    def value(self, kind: int, name: str, setting: str) -> str | None:
        (result,) = self.world.execute(DescribeConfigs([ConfigQuery(kind, name, [setting])]))
        assert result.fault is None
        return {entry.name: entry.value for entry in result.entries}[setting]


@pytest.mark.parametrize(
    ("setting", "value", "rule", "expected"),
    [
        ("max.message.bytes", "77", "max_message_bytes", 77),
        ("message.timestamp.type", "LogAppendTime", "append_time", True),
        ("message.timestamp.before.max.ms", "88", "timestamp_before_max_ms", 88),
        ("message.timestamp.after.max.ms", "99", "timestamp_after_max_ms", 99),
        ("compression.type", "zstd", "compression", "zstd"),
        ("cleanup.policy", "compact,delete", "compacted", True),
        ("min.insync.replicas", "2", "min_insync_replicas", 2),
    ],
)
def test_setting_of_a_topic_counts_for_the_next_write(
    setting: str, value: str, rule: str, expected: object
) -> None:
    """Mission 001.44: topic configuration."""
    fixture = Fixture()
    live = fixture.world.cluster.partition("a", 0)
    before = getattr(live.rules, rule)
    assert before != expected
    assert fixture.set(TOPIC, "a", setting, value) is None
    assert getattr(live.rules, rule) == expected
    assert fixture.alter(TOPIC, "a", Change(setting, Op.DELETE)).fault is None
    assert getattr(live.rules, rule) == before


def test_setting_of_all_brokers_counts_for_topics_without_their_own() -> None:
    fixture = Fixture()
    fixture.world.create_topic("own", max_message_bytes="11")
    mine, own = (fixture.world.cluster.partition(name, 0) for name in ("a", "own"))
    assert fixture.set(BROKER, ALL_BROKERS, "message.max.bytes", "22") is None
    assert (mine.rules.max_message_bytes, own.rules.max_message_bytes) == (22, 11)
    assert fixture.set(BROKER, "1", "message.max.bytes", "33") is None
    assert (mine.rules.max_message_bytes, own.rules.max_message_bytes) == (33, 11)


def test_logs_are_told_of_the_topic_whose_settings_changed_or_of_all() -> None:
    fixture = Fixture()
    told = fixture.world.storage.configured
    del told[:]
    fixture.set(TOPIC, "a", "retention.ms", "5")
    fixture.set(GROUP, "g", "consumer.session.timeout.ms", "50000")
    fixture.set(BROKER, "1", "log.retention.ms", "5")
    assert told == ["a", ""]


def test_change_is_told_of_when_it_is_durable() -> None:
    fixture = Fixture()
    fixture.world.storage.holds_syncs = True
    command = AlterConfigs([ConfigChanges(TOPIC, "a", [Change("flush.ms", Op.SET, "5")])])
    replies = fixture.world.submit(command)
    assert replies == []
    fixture.world.storage.sync()
    assert replies == [[AlteredConfigs(TOPIC, "a")]]


def test_change_that_cannot_be_written_is_refused_and_does_not_count() -> None:
    fixture = Fixture()
    fixture.world.log("__cluster_metadata").fault = Fault.STORAGE
    assert fixture.set(TOPIC, "a", "flush.ms", "5") is Fault.STORAGE
    assert fixture.world.image.configs.of_topic("a") == {}


def test_change_that_changes_nothing_writes_nothing() -> None:
    fixture = Fixture()
    fixture.set(TOPIC, "a", "flush.ms", "5")
    end = fixture.world.log("__cluster_metadata").log_end_offset
    assert fixture.set(TOPIC, "a", "flush.ms", "5") is None
    assert fixture.alter(TOPIC, "a", Change("flush.messages", Op.DELETE)).fault is None
    assert fixture.world.log("__cluster_metadata").log_end_offset == end


def test_resources_of_one_request_are_changed_each_for_itself() -> None:
    fixture = Fixture()
    changes = [Change("flush.ms", Op.SET, "5")]
    command = AlterConfigs([ConfigChanges(TOPIC, name, changes) for name in ("missing", "a")])
    assert [result.fault for result in fixture.world.execute(command)] == [Fault.UNKNOWN_TOPIC, None]
    assert fixture.value(TOPIC, "a", "flush.ms") == "5"


def test_replacement_leaves_only_what_it_names() -> None:
    fixture = Fixture()
    fixture.set(BROKER, ALL_BROKERS, "message.max.bytes", "22")
    fixture.set(BROKER, ALL_BROKERS, "log.retention.ms", "33")
    command = ReplaceConfigs([ConfigReplacement(BROKER, ALL_BROKERS, [("log.retention.ms", "44")])])
    assert fixture.world.execute(command) == [AlteredConfigs(BROKER, ALL_BROKERS)]
    stored = fixture.world.image.configs.by_resource[ConfigResource(BROKER, ALL_BROKERS)]
    assert stored == {"log.retention.ms": "44"}


def test_replacement_that_is_only_checked_changes_nothing() -> None:
    fixture = Fixture()
    fixture.set(TOPIC, "a", "flush.ms", "5")
    fixture.world.execute(ReplaceConfigs([ConfigReplacement(TOPIC, "a", [])], validate_only=True))
    assert fixture.value(TOPIC, "a", "flush.ms") == "5"


@pytest.mark.parametrize(
    ("kind", "name", "resource", "fault"),
    [
        (TOPIC, "a", Resource.TOPIC, Fault.NOT_AUTHORIZED_TOPIC),
        (TOPIC, "missing", Resource.TOPIC, Fault.NOT_AUTHORIZED_TOPIC),
        (GROUP, "g", Resource.GROUP, Fault.NOT_AUTHORIZED_GROUP),
        (BROKER, "1", Resource.CLUSTER, Fault.NOT_AUTHORIZED_CLUSTER),
        (CLIENT_METRICS, "s", Resource.CLUSTER, Fault.NOT_AUTHORIZED_CLUSTER),
        (LOGGER, "1", Resource.CLUSTER, Fault.NOT_AUTHORIZED_CLUSTER),
    ],
)
def test_settings_are_refused_to_who_has_no_right_to_them(
    kind: int, name: str, resource: Resource, fault: Fault
) -> None:
    fixture = Fixture(Denying((Operation.ALTER_CONFIGS, resource), (Operation.DESCRIBE_CONFIGS, resource)))
    assert fixture.alter(kind, name).fault is fault
    (told,) = fixture.world.execute(DescribeConfigs([ConfigQuery(kind, name)]))
    assert (told.fault, told.entries) == (fault, ())


def test_wrong_setting_is_told_before_a_topic_that_is_not_there() -> None:
    fixture = Fixture()
    assert fixture.set(TOPIC, "gone", "retention.ms", "soon") is Fault.INVALID_CONFIG
    assert fixture.set(TOPIC, "gone", "retention.ms", "5") is Fault.UNKNOWN_TOPIC
    assert fixture.alter(TOPIC, "", Change("retention.ms", Op.APPEND, "5")).fault is Fault.INVALID_CONFIG
    assert fixture.set(TOPIC, "", "retention.ms", "soon") is Fault.INVALID_REQUEST


def test_question_about_a_kind_that_is_none_is_refused_as_a_whole() -> None:
    queries = [ConfigQuery(TOPIC, "a"), ConfigQuery(99, "a")]
    results = Fixture().world.execute(DescribeConfigs(queries))
    assert [(each.fault, each.entries) for each in results] == [(Fault.INVALID_REQUEST, ())] * 2


# -- which resources have settings ---------------------------------------------------------------


def test_topics_and_brokers_are_listed_always_and_others_with_settings_of_their_own() -> None:
    fixture = Fixture()
    fixture.world.create_topic("configured", flush_ms="5")
    fixture.set(BROKER, ALL_BROKERS, "message.max.bytes", "22")
    fixture.set(CLIENT_METRICS, "s", "interval.ms", "1000")
    listed = fixture.world.execute(ListConfigs(sorted(KINDS)))
    assert set(listed.resources) == {
        (TOPIC, "a"),
        (TOPIC, "configured"),
        (BROKER, "1"),
        (LOGGER, "1"),
        (CLIENT_METRICS, "s"),
    }


# -- loggers -------------------------------------------------------------------------------------


def test_level_of_a_logger_is_told_and_changed() -> None:
    fixture = Fixture()
    assert fixture.value(LOGGER, "1", "trivium.server") == "WARN"
    assert fixture.set(LOGGER, "1", "trivium.server", "DEBUG") is None
    assert fixture.value(LOGGER, "1", "trivium.server") == "DEBUG"
    assert fixture.alter(LOGGER, "1", Change("trivium.server", Op.DELETE)).fault is None
    assert fixture.loggers.by_name["trivium.server"] is None


def test_level_of_a_logger_is_never_stored() -> None:
    fixture = Fixture()
    end = fixture.world.log("__cluster_metadata").log_end_offset
    fixture.set(LOGGER, "1", "trivium", "DEBUG")
    assert fixture.world.log("__cluster_metadata").log_end_offset == end


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (Change("trivium", Op.SET, "LOUD"), Fault.INVALID_CONFIG),
        (Change("trivium", Op.SET), Fault.INVALID_CONFIG),
        (Change("missing", Op.SET, "INFO"), Fault.INVALID_CONFIG),
        (Change("trivium", Op.APPEND, "INFO"), Fault.INVALID_REQUEST),
        (Change("root", Op.DELETE), Fault.INVALID_REQUEST),
    ],
)
def test_level_that_makes_no_sense_is_refused_and_changes_no_other(change: Change, fault: Fault) -> None:
    fixture = Fixture()
    assert fixture.alter(LOGGER, "1", Change("trivium.server", Op.SET, "ERROR"), change).fault is fault
    assert fixture.loggers.by_name["trivium.server"] == "WARN"


def test_level_that_is_only_checked_stays() -> None:
    fixture = Fixture()
    change = Change("trivium", Op.SET, "ERROR")
    assert fixture.alter(LOGGER, "1", change, validate_only=True).fault is None
    assert fixture.loggers.by_name["trivium"] == "INFO"
