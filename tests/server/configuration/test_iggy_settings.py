"""The settings of Iggy's door."""

import pytest

from trivium.server.configuration.assembly import assemble
from trivium.server.configuration.configuration import Durability, IggySettings
from trivium.server.configuration.errors import ConfigurationError
from trivium.server.configuration.given import Given, by_name


def iggy(**texts: str) -> IggySettings:
    return assemble(
        by_name(Given(f"iggy.{name.replace('_', '-')}", text, "test") for name, text in texts.items())
    ).iggy


def test_iggy_settings_without_any_find_out_and_wait_for_nothing() -> None:
    assert iggy() == IggySettings(Durability.PAGE_CACHE, None, 0)


def test_iggy_settings_that_are_given_count() -> None:
    assert iggy(durability="fsync", generation="0.5", heartbeat_ms="5000") == IggySettings(
        Durability.FSYNC, "0.5", 5_000
    )


@pytest.mark.parametrize(
    ("name", "text"), [("durability", "never"), ("generation", "0.9"), ("heartbeat_ms", "-1")]
)
def test_iggy_settings_that_make_no_sense_are_refused(name: str, text: str) -> None:
    with pytest.raises(ConfigurationError, match=name.replace("_", "-")):
        iggy(**{name: text})
