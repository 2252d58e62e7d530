"""Settings in force: what was read once is kept, and only as long as nobody changes anything."""

from tests.core.fakes import NODE_ID
from trivium.core.metadata import MetadataImage
from trivium.core.metadata_configs import ConfigType
from trivium.core.settings import Settings
from trivium.messages.stored.metadata_topics import ConfigRecord

NAME = "group.consumer.session.timeout.ms"
OWN_NAME = "consumer.session.timeout.ms"


def set_config(image: MetadataImage, kind: ConfigType, resource: str, name: str, value: str | None) -> None:
    image.replay(ConfigRecord(resource_type=kind, resource_name=resource, name=name, value=value))


def test_broker_setting_that_is_changed_counts_from_then_on() -> None:
    image = MetadataImage()
    settings = Settings({NAME: "50000"}, image, NODE_ID)
    assert settings.broker(NAME) == 50_000
    set_config(image, ConfigType.BROKER, str(NODE_ID), NAME, "51000")
    assert settings.broker(NAME) == 51_000
    set_config(image, ConfigType.BROKER, str(NODE_ID), NAME, None)
    assert settings.broker(NAME) == 50_000


def test_setting_of_a_group_counts_for_no_other_group() -> None:
    image = MetadataImage()
    settings = Settings({NAME: "50000"}, image, NODE_ID)
    assert settings.group("a", OWN_NAME) == settings.group("b", OWN_NAME) == 50_000
    set_config(image, ConfigType.GROUP, "a", OWN_NAME, "52000")
    assert settings.group("a", OWN_NAME) == 52_000
    assert settings.group("b", OWN_NAME) == 50_000
    set_config(image, ConfigType.BROKER, str(NODE_ID), NAME, "51000")
    assert settings.group("a", OWN_NAME) == 52_000
    assert settings.group("b", OWN_NAME) == 51_000


def test_number_of_a_group_that_is_bounded_follows_the_group_and_its_bounds() -> None:
    image = MetadataImage()
    settings = Settings({NAME: "50000"}, image, NODE_ID)

    def bounded(group_id: str) -> int:
        return settings.bounded(group_id, "consumer", "session.timeout.ms")

    assert bounded("a") == bounded("b") == 50_000
    set_config(image, ConfigType.GROUP, "a", OWN_NAME, "58000")
    assert (bounded("a"), bounded("b")) == (58_000, 50_000)
    set_config(image, ConfigType.BROKER, str(NODE_ID), "group.consumer.max.session.timeout.ms", "56000")
    assert (bounded("a"), bounded("b")) == (56_000, 50_000)


def test_rules_of_a_topic_are_worked_out_once_until_a_setting_changes() -> None:
    image = MetadataImage()
    settings = Settings({}, image, NODE_ID)
    set_config(image, ConfigType.TOPIC, "a", "segment.bytes", "2000000")
    set_config(image, ConfigType.TOPIC, "b", "segment.bytes", "3000000")
    assert settings.rules("a") is settings.rules("a")
    assert settings.rules("c") is settings.rules("d"), "topics without settings share theirs"
    assert (settings.rules("a").segment_bytes, settings.rules("b").segment_bytes) == (2_000_000, 3_000_000)
    assert settings.rules("c").segment_bytes not in (2_000_000, 3_000_000)
    set_config(image, ConfigType.TOPIC, "a", "segment.bytes", "4000000")
    assert settings.rules("a").segment_bytes == 4_000_000
    set_config(image, ConfigType.TOPIC, "a", "segment.bytes", None)
    assert settings.rules("a") is settings.rules("c")
