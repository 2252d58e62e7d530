"""All settings of a broker, by theme, and together as ``BROKER``."""

import re
from collections.abc import Mapping
from itertools import chain
from typing import Final

from trivium.core.config.broker.connections import CONNECTIONS
from trivium.core.config.broker.groups import GROUPS
from trivium.core.config.broker.log import LOG
from trivium.core.config.broker.metrics import METRICS
from trivium.core.config.broker.quorum import QUORUM
from trivium.core.config.broker.remote import REMOTE
from trivium.core.config.broker.replication import REPLICATION
from trivium.core.config.broker.sasl import SASL
from trivium.core.config.broker.security import SECURITY
from trivium.core.config.broker.share_groups import SHARE_GROUPS
from trivium.core.config.broker.streams_groups import STREAMS_GROUPS
from trivium.core.config.broker.tls import TLS
from trivium.core.config.broker.topics import TOPICS
from trivium.core.config.broker.transactions import TRANSACTIONS
from trivium.core.config.definition import Definition, Update
from trivium.core.config.explanations import BROKERS

BROKER: Final[Mapping[str, Definition]] = {
    definition.name: definition._replace(doc=BROKERS.get(definition.name))
    for definition in chain(
        CONNECTIONS,
        GROUPS,
        LOG,
        METRICS,
        QUORUM,
        REMOTE,
        REPLICATION,
        SASL,
        SECURITY,
        SHARE_GROUPS,
        STREAMS_GROUPS,
        TLS,
        TOPICS,
        TRANSACTIONS,
    )
}

UNITS: Final[Mapping[str, tuple[tuple[str, int], ...]]] = {
    "log.flush.interval.ms": (("log.flush.interval.ms", 1), ("log.flush.scheduler.interval.ms", 1)),
    "log.retention.ms": (
        ("log.retention.ms", 1),
        ("log.retention.minutes", 60_000),
        ("log.retention.hours", 3_600_000),
    ),
    "log.roll.ms": (("log.roll.ms", 1), ("log.roll.hours", 3_600_000)),
    "log.roll.jitter.ms": (("log.roll.jitter.ms", 1), ("log.roll.jitter.hours", 3_600_000)),
}
"""Settings that others stand in for: all of them with their unit in terms of the first, strongest first."""

PER_LISTENER: Final = frozenset(
    (
        "ssl.key.password",
        "ssl.keystore.certificate.chain",
        "ssl.keystore.key",
        "ssl.keystore.location",
        "ssl.keystore.password",
        "ssl.keystore.type",
        "ssl.truststore.certificates",
        "ssl.truststore.location",
        "ssl.truststore.password",
        "ssl.truststore.type",
    )
)
"""Keys and certificates: while the broker runs they change for one listener at a time."""

_OF_LISTENER: Final = r"listener\.name\.[^.]+\.(?:(?:plain|gssapi|oauthbearer|scram-sha-(?:256|512))\.)?(.+)"


def find_definition(name: str) -> Definition | None:
    """What a broker knows a name as; None for one that it does not know.

    Settings may be given for one listener, and for one SASL mechanism of it, by a prefix.
    """
    if name in BROKER:
        return BROKER[name]
    match = re.fullmatch(_OF_LISTENER, name)
    if match is None or match[1] not in BROKER:
        return None
    return BROKER[match[1]]._replace(name=name, default=None, update=Update.READ_ONLY, doc=None)
