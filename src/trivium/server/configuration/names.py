"""Which names there are, and what somebody may have meant who wrote another.

Names that Kafka knows, knew, or hands on to plug-ins are taken, also those that mean nothing here: a
``server.properties`` that has served a Kafka for years is not a list of mistakes.
"""

from collections.abc import Iterable
from typing import Final

from trivium.core.config.broker import BROKER, find_definition
from trivium.core.config.definition import Definition, ValueType
from trivium.server.configuration.errors import ConfigurationError
from trivium.server.configuration.given import Given
from trivium.server.configuration.own_settings import OWN

BROKER_NAMES: Final = [name for name, definition in BROKER.items() if not definition.internal]

_FORMER_NAMES: Final = frozenset(
    (
        "broker.id.generation.enable",
        "control.plane.listener.name",
        "controlled.shutdown.max.retries",
        "controlled.shutdown.retry.backoff.ms",
        "delegation.token.master.key",
        "eligible.leader.replicas.enable",
        "group.coordinator.new.enable",
        "group.share.enable",
        "group.share.max.groups",
        "inter.broker.protocol.version",
        "leader.imbalance.per.broker.percentage",
        "log.message.downconversion.enable",
        "log.message.format.version",
        "log.message.timestamp.difference.max.ms",
        "metadata.log.segment.min.bytes",
        "reserved.broker.max.id",
    )
)
"""What Kafka knew before 4.0."""

_NAMES_OF_PLUG_INS: Final = frozenset(("super.users", "allow.everyone.if.no.acl.found"))
_PREFIXES: Final = ("listener.name.", "password.encoder.", "rlmm.config.", "rsm.config.", "zookeeper.")


def definition_of(given: Given) -> Definition:
    """What the name means; ``ConfigurationError`` with the nearest known name if it means nothing."""
    definition = find(given.name)
    if definition is None:
        raise ConfigurationError(
            f"{given.name} ({given.source}) is no setting{nearest(given.name, [*OWN, *BROKER_NAMES])}."
        )
    return definition


def find(name: str) -> Definition | None:
    definition = OWN.get(name) or find_definition(name)
    if definition is None and (
        name in _FORMER_NAMES or name in _NAMES_OF_PLUG_INS or name.startswith(_PREFIXES)
    ):
        return Definition(name, ValueType.UNKNOWN, None)
    return definition


def nearest(name: str, known: Iterable[str]) -> str:
    """The end of a sentence that says that a name is unknown."""
    from difflib import get_close_matches  # only for mistakes: the start of a node does without it

    matches = get_close_matches(name, known, n=1)
    return f"; the nearest is {matches[0]}" if matches else ""
