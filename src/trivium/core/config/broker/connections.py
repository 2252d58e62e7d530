"""Who the broker is, where it listens, and what its connections may take."""

from typing import Final

from trivium.core.config.definition import (
    CLUSTER_WIDE,
    INT,
    INT_MAX,
    LIST,
    LONG,
    PER_BROKER,
    STRING,
    Definition,
)
from trivium.core.config.valid import AddressNumbers, at_least, list_of, some_of

CONNECTIONS: Final = (
    Definition("advertised.listeners", LIST, None, some_of()),
    Definition("background.threads", INT, 10, at_least(1), CLUSTER_WIDE),
    Definition("broker.id", INT, -1),
    Definition("broker.rack", STRING, None),
    Definition("connection.failed.authentication.delay.ms", INT, 100, at_least(0)),
    Definition("connections.max.idle.ms", LONG, 600_000),
    Definition("connections.max.reauth.ms", LONG, 0),
    Definition("early.start.listeners", LIST, None, list_of()),
    Definition("inter.broker.listener.name", STRING, None),
    Definition(
        "listener.security.protocol.map",
        STRING,
        "SASL_SSL:SASL_SSL,PLAINTEXT:PLAINTEXT,SSL:SSL,SASL_PLAINTEXT:SASL_PLAINTEXT",
        None,
        PER_BROKER,
    ),
    Definition("listeners", LIST, ("PLAINTEXT://:9092",), some_of(), PER_BROKER),
    Definition("max.connection.creation.rate", INT, INT_MAX, at_least(0), CLUSTER_WIDE),
    Definition("max.connections", INT, INT_MAX, at_least(0), CLUSTER_WIDE),
    Definition("max.connections.per.ip", INT, INT_MAX, at_least(0), CLUSTER_WIDE),
    Definition("max.connections.per.ip.overrides", STRING, "", AddressNumbers(), CLUSTER_WIDE),
    Definition("max.request.partition.size.limit", INT, 2000, at_least(1)),
    Definition("node.id", INT, None, at_least(0)),
    Definition("num.io.threads", INT, 8, at_least(1), CLUSTER_WIDE),
    Definition("num.network.threads", INT, 3, at_least(1), CLUSTER_WIDE),
    Definition("queued.max.request.bytes", LONG, -1),
    Definition("queued.max.requests", INT, 500, at_least(1)),
    Definition("request.timeout.ms", INT, 30_000),
    Definition("socket.connection.setup.timeout.max.ms", LONG, 30_000),
    Definition("socket.connection.setup.timeout.ms", LONG, 10_000),
    Definition("socket.listen.backlog.size", INT, 50, at_least(1)),
    Definition("socket.receive.buffer.bytes", INT, 102_400),
    Definition("socket.request.max.bytes", INT, 104_857_600, at_least(1)),
    Definition("socket.send.buffer.bytes", INT, 102_400),
)
