"""Settings that contradict each other."""

import pytest

from trivium.core.config.consistency import check_broker, check_group, check_topic
from trivium.core.config.layers import Layers
from trivium.core.config.valid import InvalidValue


def test_settings_of_kafka_by_default_are_consistent() -> None:
    check_broker(Layers())
    check_topic({}, Layers())
    check_group({}, Layers())


def test_topic_lag_is_compared_with_that_of_the_broker() -> None:
    layers = Layers(static={"log.cleaner.max.compaction.lag.ms": "5"})
    check_topic({"min.compaction.lag.ms": "5"}, layers)
    with pytest.raises(InvalidValue, match=r"min.compaction.lag.ms \(6\) > max.compaction.lag.ms \(5\)"):
        check_topic({"min.compaction.lag.ms": "6"}, layers)


def test_local_retention_may_be_longer_where_nothing_is_remote() -> None:
    """Kafka compares the two only for topics with tiered storage, which there is not."""
    check_topic({"retention.ms": "1000", "local.retention.ms": "5000"}, Layers())


def test_topic_with_remote_storage_is_refused() -> None:
    with pytest.raises(InvalidValue, match="Tiered Storage functionality is disabled"):
        check_topic({"remote.storage.enable": "true"}, Layers())


@pytest.mark.parametrize(
    ("static", "sentence"),
    [
        ({"log.roll.ms": "0"}, "log.roll.ms must be greater than or equal to 1"),
        ({"log.retention.minutes": "0"}, "log.retention.ms must be unlimited"),
        ({"queued.max.request.bytes": "5"}, "queued.max.request.bytes must be larger or equal"),
        ({"max.connections.per.ip": "0"}, "can be set to zero only if"),
        (
            {"group.consumer.session.timeout.ms": "1000"},
            "group.consumer.session.timeout.ms must be greater than or equal to group.consumer.min.session",
        ),
        (
            {"group.streams.num.standby.replicas": "3"},
            "group.streams.num.standby.replicas must be less than or equal to group.streams.max.standby",
        ),
        (
            {
                "group.share.session.timeout.ms": "6000",
                "group.share.min.session.timeout.ms": "1",
                "group.share.heartbeat.interval.ms": "6000",
            },
            "group.share.session.timeout.ms must be greater than group.share.heartbeat.interval.ms",
        ),
        (
            {"log.cleaner.min.compaction.lag.ms": "6", "log.cleaner.max.compaction.lag.ms": "5"},
            "log.cleaner.min.compaction.lag.ms \\(6\\) > log.cleaner.max.compaction.lag.ms \\(5\\)",
        ),
    ],
)
def test_broker_that_contradicts_itself_is_refused(static: dict[str, str], sentence: str) -> None:
    with pytest.raises(InvalidValue, match=sentence):
        check_broker(Layers(static=static))


@pytest.mark.parametrize(
    "static",
    [
        {"log.retention.ms": "-7"},
        {"queued.max.request.bytes": "-1"},
        {"max.connections.per.ip": "0", "max.connections.per.ip.overrides": "127.0.0.1:5"},
    ],
)
def test_broker_whose_settings_only_look_wrong_is_taken(static: dict[str, str]) -> None:
    check_broker(Layers(static=static))


def test_group_is_bound_by_what_the_broker_was_given() -> None:
    own = {"consumer.session.timeout.ms": "70000"}
    with pytest.raises(InvalidValue, match=r"less than or equal to group.consumer.max.session.timeout.ms"):
        check_group(own, Layers())
    check_group(own, Layers(static={"group.consumer.max.session.timeout.ms": "80000"}))


def test_group_session_must_outlast_a_heartbeat() -> None:
    layers = Layers(
        static={
            "group.consumer.min.session.timeout.ms": "1",
            "group.consumer.max.heartbeat.interval.ms": "60000",
        }
    )
    own = {"consumer.session.timeout.ms": "6000", "consumer.heartbeat.interval.ms": "6000"}
    with pytest.raises(InvalidValue, match=r"consumer.session.timeout.ms must be greater than"):
        check_group(own, layers)
