"""Settings and quotas: set, overridden, taken back."""

import pytest

from trivium.core.metadata_configs import ConfigResource, Configs, ConfigType
from trivium.core.metadata_quotas import ClientQuotas
from trivium.messages.stored.metadata_access import ClientQuotaRecord, EntityData
from trivium.messages.stored.metadata_topics import ConfigRecord
from trivium.wire.errors import DecodeError


def config(resource_type: int, resource: str, name: str, value: str | None) -> ConfigRecord:
    return ConfigRecord(resource_type=resource_type, resource_name=resource, name=name, value=value)


def quota(*entity: tuple[str, str | None], value: float = 1.0, remove: bool = False) -> ClientQuotaRecord:
    parts = [EntityData(entity_type=kind, entity_name=name) for kind, name in entity]
    return ClientQuotaRecord(entity=parts, key="producer_byte_rate", value=value, remove=remove)


def test_setting_when_set_again_has_the_last_value() -> None:
    configs = Configs()
    configs.set(config(2, "t", "retention.ms", "1"))
    configs.set(config(2, "t", "retention.ms", "2"))
    assert configs.of_topic("t") == {"retention.ms": "2"}
    assert configs.of_topic("other") == {}


def test_setting_without_a_value_is_taken_back_and_leaves_nothing() -> None:
    configs = Configs()
    configs.set(config(32, "g", "consumer.session.timeout.ms", "1"))
    configs.set(config(32, "g", "consumer.session.timeout.ms", None))
    assert configs.by_resource == {}


def test_setting_of_one_broker_wins_over_that_of_all() -> None:
    configs = Configs()
    configs.set(config(4, "", "log.retention.ms", "1"))
    configs.set(config(4, "", "log.roll.ms", "2"))
    configs.set(config(4, "7", "log.retention.ms", "3"))
    assert configs.of_broker(7) == {"log.retention.ms": "3", "log.roll.ms": "2"}
    assert configs.of_broker(8) == {"log.retention.ms": "1", "log.roll.ms": "2"}


def test_settings_of_a_topic_and_a_group_of_one_name_are_apart() -> None:
    configs = Configs()
    configs.set(config(2, "x", "a", "1"))
    configs.set(config(32, "x", "a", "2"))
    configs.remove_topic("x")
    assert configs.by_resource == {ConfigResource(ConfigType.GROUP, "x"): {"a": "2"}}


def test_setting_of_an_unknown_kind_of_resource_is_refused() -> None:
    with pytest.raises(DecodeError, match="resource of type 3"):
        Configs().set(config(3, "x", "a", "1"))


def test_quota_of_an_entity_does_not_depend_on_the_order_of_its_parts() -> None:
    quotas = ClientQuotas()
    quotas.set(quota(("user", "u"), ("client-id", None), value=1.0))
    quotas.set(quota(("client-id", None), ("user", "u"), value=2.0))
    assert quotas.by_entity == {(("client-id", None), ("user", "u")): {"producer_byte_rate": 2.0}}


def test_quota_of_the_default_user_is_not_that_of_a_user_without_a_name() -> None:
    quotas = ClientQuotas()
    quotas.set(quota(("user", None), value=1.0))
    quotas.set(quota(("user", ""), value=2.0))
    assert len(quotas.by_entity) == 2


def test_quota_when_lifted_leaves_nothing() -> None:
    quotas = ClientQuotas()
    quotas.set(quota(("ip", "127.0.0.1")))
    quotas.set(quota(("ip", "127.0.0.1"), remove=True))
    assert quotas.by_entity == {}


def test_quota_for_nobody_or_for_two_of_a_kind_is_refused() -> None:
    for entity in ((), (("user", "a"), ("user", "b"))):
        with pytest.raises(DecodeError, match="entities of"):
            ClientQuotas().set(quota(*entity))
