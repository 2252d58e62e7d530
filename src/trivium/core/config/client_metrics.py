"""Settings of a subscription to metrics of clients (KIP-714)."""

import re
from collections.abc import Mapping
from typing import Final, NamedTuple

from trivium.core.config.definition import CLUSTER_WIDE, INT, LIST, Definition
from trivium.core.config.valid import InvalidValue, Value

_INTERVAL_MS_MIN: Final = 100
_INTERVAL_MS_MAX: Final = 3_600_000


class _Interval(NamedTuple):
    """Kafka words this one differently from all its other ranges."""

    @property
    def allowed(self) -> str:
        return f"{_INTERVAL_MS_MIN} to {_INTERVAL_MS_MAX}"

    def check(self, name: str, value: Value) -> None:
        assert isinstance(value, int)
        if not _INTERVAL_MS_MIN <= value <= _INTERVAL_MS_MAX:
            bounds = f"{_INTERVAL_MS_MIN} and {_INTERVAL_MS_MAX} (1 hour)"
            raise InvalidValue(f"Invalid value {value} for {name}, interval must be between {bounds}")


CLIENT_FACTS: Final = (
    "client_instance_id",
    "client_id",
    "client_software_name",
    "client_software_version",
    "client_source_address",
    "client_source_port",
)
"""What is known of a client and can be matched."""


class IllegalPattern(InvalidValue):
    """Clients are chosen in a way that means nothing."""


class _Match(NamedTuple):
    """Which clients are meant: facts, each with a regular expression."""

    @property
    def allowed(self) -> str:
        return f"a list of name=pattern, with names out of {', '.join(CLIENT_FACTS)}"

    def check(self, name: str, value: Value) -> None:
        assert isinstance(value, tuple)
        for item in value:
            fact, equals, pattern = item.partition("=")
            if not equals or fact.strip() not in CLIENT_FACTS:
                raise IllegalPattern(f"Illegal client matching pattern: {item}")
            try:
                re.compile(pattern.strip())
            except re.error as error:
                raise IllegalPattern(f"Illegal client matching pattern: {item}") from error


CLIENT_METRICS: Final[Mapping[str, Definition]] = {
    definition.name: definition
    for definition in (
        Definition("interval.ms", INT, 300_000, _Interval(), CLUSTER_WIDE),
        Definition("match", LIST, (), _Match(), CLUSTER_WIDE),
        Definition("metrics", LIST, (), None, CLUSTER_WIDE),
    )
}
