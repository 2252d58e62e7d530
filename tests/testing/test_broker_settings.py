"""What a broker for tests is set to, and what is said to a setting that cannot be."""

from pathlib import Path

import pytest

from trivium.server.configuration.configuration import Durability, Protocol
from trivium.server.configuration.errors import ConfigurationError
from trivium.testing import Broker
from trivium.testing.broker_settings import SettingValue, by_keyword, configuration


def test_configuration_is_quick_and_listens_for_kafka_alone() -> None:
    made = configuration((), {})
    assert [(listener.protocol, str(listener.address)) for listener in made.listeners] == [
        (Protocol.KAFKA, "127.0.0.1:0")
    ]
    assert made.broker_setting("group.initial.rebalance.delay.ms") == 0
    assert made.durability is Durability.PAGE_CACHE


@pytest.mark.parametrize(
    ("settings", "found"),
    [({}, (-1, 168)), ({"log.retention.hours": 1}, (None, 1)), ({"log.retention.ms": 5}, (5, 168))],
)
def test_records_of_any_year_stay_unless_the_test_says_for_how_long(
    settings: dict[str, SettingValue], found: tuple[int | None, int]
) -> None:
    made = configuration((), settings)
    assert (made.broker_setting("log.retention.ms"), made.broker_setting("log.retention.hours")) == found


def test_configuration_on_a_disk_syncs_as_a_real_one() -> None:
    made = configuration((Path("/one"), Path("/two")), {})
    assert made.data_directories == (Path("/one"), Path("/two"))
    assert made.durability is Durability.FSYNC


def test_configuration_takes_every_kind_of_value_and_defaults_give_way() -> None:
    settings: dict[str, SettingValue] = {
        "group.initial.rebalance.delay.ms": 5,
        "auto.create.topics.enable": False,
        "log.cleaner.min.cleanable.ratio": 0.25,
        "durability": "fsync",
    }
    made = configuration((), settings)
    assert [made.broker_setting(name) for name in list(settings)[:3]] == [5, False, 0.25]
    assert made.durability is Durability.FSYNC


def test_configuration_after_a_restart_listens_where_it_did() -> None:
    made = configuration((), {"listen.kafka": "127.0.0.1:0"}, listen={"listen.kafka": "127.0.0.1:4711"})
    assert [str(listener.address) for listener in made.listeners] == ["127.0.0.1:4711"]


def test_keywords_are_settings_with_underscores() -> None:
    keywords: dict[str, SettingValue] = {
        "num_partitions": 3,
        "limits_requests_in_flight": 7,
        "durability": "fsync",
    }
    assert by_keyword(keywords) == {
        "num.partitions": 3,
        "limits.requests-in-flight": 7,
        "durability": "fsync",
    }


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        (
            {"num.partition": 3},
            r"num\.partition \(Broker settings\) is no setting; the nearest is num\.partitions",
        ),
        ({"num.partitions": 0}, r"num\.partitions = '0' \(Broker settings\) is not allowed"),
        ({"num.partitions": None}, "num.partitions cannot be set to None: give a string"),
        ({"log.dirs": "/data"}, r"log\.dirs is not for settings: write Broker\(data='/data'\)"),
    ],
)
def test_wrong_setting_is_refused_with_a_sentence(settings: dict[str, SettingValue], sentence: str) -> None:
    with pytest.raises(ConfigurationError, match=sentence):
        Broker(settings=settings)


def test_wrong_keyword_is_refused_with_the_nearest_setting() -> None:
    with pytest.raises(ConfigurationError, match=r"the nearest is num\.partitions"):
        Broker(num_partition=3)
