"""What a broker inside a test is set to: quick and quiet, unless the test says otherwise.

Settings are those of ``trivium serve``, ours and Kafka's, by name (``{"num.partitions": 3}``) or as keywords
with underscores (``num_partitions=3``).
"""

import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Final

from trivium.core.config.broker import BROKER
from trivium.server.configuration.assembly import assemble
from trivium.server.configuration.configuration import Configuration
from trivium.server.configuration.errors import ConfigurationError
from trivium.server.configuration.given import Given, by_name
from trivium.server.configuration.merging import merge
from trivium.server.configuration.own_settings import KAFKA_NAMES, OWN

SettingValue = str | int | float | bool | Path

DEFAULTS: Final[Mapping[str, str]] = {
    "listen.kafka": "127.0.0.1:0",
    "listen.iggy": "off",
    "listen.rustlog": "off",
    "listen.console": "off",
    # Kafka waits three seconds for more members before a new group gets to work: a test knows its members.
    "group.initial.rebalance.delay.ms": "0",
}

FOREVER: Final[Mapping[str, str]] = {"log.retention.ms": "-1"}
"""Tests write records of any year and expect to find them. It would win over the other two names."""
_RETENTIONS: Final = frozenset(("log.retention.ms", "log.retention.minutes", "log.retention.hours"))

IN_MEMORY: Final[Mapping[str, str]] = {
    "data": "/memory",
    # There is nothing to be synced, so nobody need wait for it.
    "durability": "page-cache",
}

_DIRECTORIES: Final = ("data", *KAFKA_NAMES["data"])


def configuration(
    directories: Sequence[Path],
    settings: Mapping[str, SettingValue],
    listen: Mapping[str, str] | None = None,
) -> Configuration:
    """The configuration of a broker, in memory if it has no directories. ``listen``: where it was before.

    ``ConfigurationError`` with a sentence for what cannot be.
    """
    chosen = {"data": ",".join(map(str, directories))} if directories else dict(IN_MEMORY)
    for name in _DIRECTORIES:
        if name in settings:
            raise ConfigurationError(f"{name} is not for settings: write Broker(data={settings[name]!r}).")
    if _RETENTIONS.isdisjoint(settings):
        chosen |= FOREVER
    return assemble(
        merge(
            _layer({**DEFAULTS, **chosen}, "default of a broker for tests"),
            _layer({name: _text(name, value) for name, value in settings.items()}, "Broker settings"),
            _layer(listen or {}, "the address before the restart"),
        )
    )


def by_keyword(keywords: Mapping[str, SettingValue]) -> dict[str, SettingValue]:
    """Settings by their names, of keywords with underscores."""
    names = _names_by_keyword()
    # A keyword that is no setting's is passed on as if it were: whoever checks names says what is near.
    return {names.get(word, word.replace("_", ".")): value for word, value in keywords.items()}


@cache
def _names_by_keyword() -> dict[str, str]:
    return {re.sub(r"[.-]", "_", name): name for name in (*BROKER, *OWN)}


def _layer(texts: Mapping[str, str], source: str) -> dict[str, Given]:
    return by_name(Given(name, text, source) for name, text in texts.items())


def _text(name: str, value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str | int | float | Path):
        return str(value)
    raise ConfigurationError(
        f"{name} cannot be set to {value!r}: give a string, a number, a path, or True or False."
    )
