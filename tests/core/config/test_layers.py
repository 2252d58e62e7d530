"""Which of several values counts."""

import pytest

from trivium.core.config.layers import Layers, broker_value, group_value, topic_value

HOUR_MS = 3_600_000


def test_topic_value_own_one_wins_over_all_brokers() -> None:
    layers = Layers(this_broker={"log.retention.ms": "1"}, static={"log.retention.ms": "2"})
    assert topic_value("retention.ms", {"retention.ms": "3"}, layers) == 3


@pytest.mark.parametrize(
    ("layers", "value"),
    [
        (Layers(), 1_048_588),
        (Layers(static={"message.max.bytes": "1"}), 1),
        (Layers(static={"message.max.bytes": "1"}, all_brokers={"message.max.bytes": "2"}), 2),
        (
            Layers(
                static={"message.max.bytes": "1"},
                all_brokers={"message.max.bytes": "2"},
                this_broker={"message.max.bytes": "3"},
            ),
            3,
        ),
    ],
)
def test_value_of_the_strongest_layer_counts(layers: Layers, value: int) -> None:
    assert broker_value("message.max.bytes", layers) == value
    assert topic_value("max.message.bytes", {}, layers) == value


@pytest.mark.parametrize(
    ("static", "value"),
    [
        ({}, 168 * HOUR_MS),
        ({"log.retention.hours": "2"}, 2 * HOUR_MS),
        ({"log.retention.hours": "2", "log.retention.minutes": "3"}, 180_000),
        ({"log.retention.hours": "2", "log.retention.minutes": "3", "log.retention.ms": "4"}, 4),
        ({"log.retention.hours": "-1"}, -1),
        ({"log.retention.minutes": "-7"}, -1),
    ],
)
def test_retention_in_several_units_the_finest_counts(static: dict[str, str], value: int) -> None:
    assert topic_value("retention.ms", {}, Layers(static=static)) == value


def test_unit_that_is_finer_counts_also_in_a_weaker_layer() -> None:
    layers = Layers(static={"log.roll.ms": "5"})
    assert topic_value("segment.ms", {}, layers) == 5
    assert topic_value("segment.jitter.ms", {}, Layers(static={"log.roll.jitter.hours": "1"})) == HOUR_MS


def test_flush_interval_falls_back_to_that_of_the_scheduler() -> None:
    assert topic_value("flush.ms", {}, Layers()) == (1 << 63) - 1
    assert topic_value("flush.ms", {}, Layers(static={"log.flush.scheduler.interval.ms": "9"})) == 9


def test_group_value_falls_back_to_that_of_the_broker() -> None:
    layers = Layers(static={"group.consumer.session.timeout.ms": "50000"})
    assert group_value("consumer.session.timeout.ms", {}, layers) == 50_000
    assert (
        group_value("consumer.session.timeout.ms", {"consumer.session.timeout.ms": "46000"}, layers) == 46_000
    )
    assert group_value("share.auto.offset.reset", {}, layers) == "latest"


def test_stored_value_that_is_not_allowed_is_passed_over() -> None:
    layers = Layers(this_broker={"log.cleanup.policy": "shred"}, static={"log.cleanup.policy": "compact"})
    assert topic_value("cleanup.policy", {"cleanup.policy": "burn"}, layers) == ("compact",)
