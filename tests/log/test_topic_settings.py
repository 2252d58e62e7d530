"""Settings as people write them become the settings of a log."""

import pytest

from trivium.log.settings import LogSettings
from trivium.log.topic_settings import topic_settings
from trivium.wire.errors import DecodeError


def test_settings_without_any_are_the_defaults() -> None:
    assert topic_settings({}, {}) == LogSettings()


def test_every_topic_setting_is_taken_over() -> None:
    topic = {
        "segment.bytes": "1048576",
        "segment.ms": "1",
        "segment.index.bytes": "2",
        "index.interval.bytes": "3",
        "retention.ms": "4",
        "retention.bytes": "5",
        "cleanup.policy": "compact",
        "min.cleanable.dirty.ratio": "0.25",
        "min.compaction.lag.ms": "6",
        "max.compaction.lag.ms": "7",
        "delete.retention.ms": "8",
        "flush.messages": "9",
        "flush.ms": "10",
        "segment.jitter.ms": "12",
        "preallocate": "true",
        "file.delete.delay.ms": "13",
    }
    assert topic_settings(topic, {}) == LogSettings(
        segment_bytes=1048576,
        segment_ms=1,
        segment_index_bytes=2,
        index_interval_bytes=3,
        retention_ms=4,
        retention_bytes=5,
        delete=False,
        compact=True,
        min_cleanable_dirty_ratio=0.25,
        min_compaction_lag_ms=6,
        max_compaction_lag_ms=7,
        delete_retention_ms=8,
        flush_messages=9,
        flush_ms=10,
        segment_jitter_ms=12,
        preallocate=True,
        file_delete_delay_ms=13,
    )


def test_every_broker_setting_counts_where_the_topic_has_none() -> None:
    broker = {
        "log.segment.bytes": "1048576",
        "log.roll.ms": "1",
        "log.index.size.max.bytes": "2",
        "log.index.interval.bytes": "3",
        "log.retention.ms": "4",
        "log.retention.bytes": "5",
        "log.cleanup.policy": "compact,delete",
        "log.cleaner.min.cleanable.ratio": "0.25",
        "log.cleaner.min.compaction.lag.ms": "6",
        "log.cleaner.max.compaction.lag.ms": "7",
        "log.cleaner.delete.retention.ms": "8",
        "log.flush.interval.messages": "9",
        "log.flush.interval.ms": "10",
        "producer.id.expiration.ms": "11",
        "log.roll.jitter.ms": "12",
        "log.preallocate": "true",
        "log.segment.delete.delay.ms": "13",
    }
    assert topic_settings({}, broker) == LogSettings(
        segment_bytes=1048576,
        segment_ms=1,
        segment_index_bytes=2,
        index_interval_bytes=3,
        retention_ms=4,
        retention_bytes=5,
        delete=True,
        compact=True,
        min_cleanable_dirty_ratio=0.25,
        min_compaction_lag_ms=6,
        max_compaction_lag_ms=7,
        delete_retention_ms=8,
        flush_messages=9,
        flush_ms=10,
        producer_id_expiration_ms=11,
        segment_jitter_ms=12,
        preallocate=True,
        file_delete_delay_ms=13,
    )


def test_topic_setting_wins_over_the_brokers() -> None:
    broker = {"log.retention.ms": "1", "log.cleanup.policy": "compact"}
    settings = topic_settings({"retention.ms": "2", "cleanup.policy": "delete"}, broker)
    assert (settings.retention_ms, settings.compact, settings.delete) == (2, False, True)


def test_broker_setting_in_the_finest_unit_wins() -> None:
    hours = {"log.retention.hours": "2", "log.roll.hours": "3"}
    minutes = hours | {"log.retention.minutes": "5"}
    assert topic_settings({}, hours).retention_ms == 2 * 3_600_000
    assert topic_settings({}, hours).segment_ms == 3 * 3_600_000
    assert topic_settings({}, minutes).retention_ms == 5 * 60_000
    assert topic_settings({}, minutes | {"log.retention.ms": "7"}).retention_ms == 7


def test_no_limit_has_no_unit() -> None:
    assert topic_settings({}, {"log.retention.hours": "-1"}).retention_ms == -1


@pytest.mark.parametrize(
    ("policy", "compact", "delete"),
    [
        ("delete", False, True),
        ("compact", True, False),
        ("compact,delete", True, True),
        (" delete , compact ", True, True),
        ("", False, False),
    ],
)
def test_cleanup_policy_is_any_set_of_two_words(policy: str, compact: bool, delete: bool) -> None:
    settings = topic_settings({"cleanup.policy": policy}, {})
    assert (settings.compact, settings.delete) == (compact, delete)


@pytest.mark.parametrize(
    "topic",
    [
        {"segment.bytes": "1 MB"},
        {"retention.ms": ""},
        {"cleanup.policy": "compress"},
        {"preallocate": "maybe"},
    ],
)
def test_value_that_is_not_what_its_name_asks_for_is_refused_by_name(topic: dict[str, str]) -> None:
    with pytest.raises(DecodeError, match=next(iter(topic))):
        topic_settings(topic, {})


def test_settings_that_do_not_concern_a_log_are_passed_over() -> None:
    assert topic_settings({"compression.type": "zstd"}, {"log.cleaner.threads": "x"}) == LogSettings()
