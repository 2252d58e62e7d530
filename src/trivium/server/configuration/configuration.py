"""What a node needs to know before it starts, as one frozen value.

Everything here has been checked: types, ranges, addresses that fit together. Nothing has been tried: a port
may be taken and a directory may belong to somebody else, which only the node finds out.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Final, NamedTuple

from trivium.core.access import Anonymous
from trivium.core.config.broker import BROKER
from trivium.core.config.definition import Definition
from trivium.core.config.valid import Value
from trivium.server.configuration.address import Address
from trivium.server.configuration.kerberos import KerberosSettings
from trivium.server.configuration.security import Sasl, SecurityProtocol, Tls

DEFAULT: Final = "default"
"""The source of a value that nobody has set."""

NEW_NODE_ID: Final = 1
"""Who a node is that nobody gave a number, on a directory that has none either."""


class Protocol(Enum):
    KAFKA = "kafka"
    IGGY = "iggy"
    RUSTLOG = "rustlog"
    AUTO = "auto"
    """Whichever of the three the first bytes of a connection are."""
    CONSOLE = "console"


class Durability(Enum):
    """What must have happened before a producer with ``acks=all`` hears of success."""

    FSYNC = "fsync"
    """The disk has confirmed it: survives a power failure."""
    PAGE_CACHE = "page-cache"
    """The operating system has it: survives the end of the process, not of the machine."""


class LogFormat(Enum):
    TEXT = "text"
    JSON = "json"


class Listener(NamedTuple):
    protocol: Protocol
    name: str
    """Kafka's name for it, such as PLAINTEXT; for the other protocols the protocol's own."""
    address: Address
    advertised: Address | None = None
    """Where clients are told to connect. None: there, where the client has already connected."""
    security: SecurityProtocol = SecurityProtocol.PLAINTEXT
    tls: Tls | None = None
    """For the other protocols it is enough that there is one; one that takes all of them also takes those
    that do without."""
    sasl: Sasl | None = None
    """How Kafka clients may log in; None: they may not."""
    is_spelled_out: bool = False
    """Whether its protection was written down, be it PLAINTEXT: then it is what somebody wanted."""


@dataclass(frozen=True, slots=True)
class FirstUser:
    """Who a new node knows."""

    username: str
    password: str = field(repr=False)


class Authorization(NamedTuple):
    """How access control lists are applied. Each begins with the setting that changes it."""

    super_users: frozenset[str]
    """access.super-users: they may do everything."""
    is_open_without_entries: bool
    """access.open-without-acls: whether everybody may use a resource that no list is about."""


class AuditSettings(NamedTuple):
    """Where decisions are written. Each begins with the setting that changes it."""

    file: Path | None
    """audit.file"""
    to_topic: bool
    """audit.topic"""
    allowed_one_in: int
    """audit.allowed-one-in: of what clients may do all the time, one in so many; 0: the first only."""

    @property
    def is_kept(self) -> bool:
        return self.file is not None or self.to_topic


class Limits(NamedTuple):
    """What peers may take. Each begins with the setting that changes it."""

    frame_bytes_max: int
    """socket.request.max.bytes: one request."""
    connections_max: int
    """max.connections: open at the same time."""
    connections_max_per_address: int
    """max.connections.per.ip: open at the same time, from one address."""
    connections_max_by_address: Mapping[str, int]
    """max.connections.per.ip.overrides: other numbers for some addresses."""
    connections_per_second_max: int
    """max.connection.creation.rate: newly accepted."""
    connection_idle_ms: int
    """connections.max.idle.ms: without a request and with nothing to answer, then closed."""
    requests_in_flight_max: int
    """limits.requests-in-flight: taken from one connection and not answered; then it is read no further."""
    request_memory_bytes: int
    """limits.request-memory-bytes: of all requests together, being received or carried out."""
    response_memory_bytes: int
    """limits.response-memory-bytes: of all answers together that peers have not taken yet."""
    rustlog_consumer_bytes_per_second: int
    """limits.rustlog-consumer-bytes-per-second: payload for a RustLog connection that reads for a group."""
    failed_logins_per_minute: int
    """limits.failed-logins-per-minute: of one address, whose passwords are not looked at then; 0: any."""
    first_request_ms: int
    """limits.first-request-ms: from the connection to its first whole request."""
    slow_sender_ms: int
    """limits.slow-sender-ms: from the first byte of a request to its last."""
    slow_reader_ms: int
    """limits.slow-reader-ms: without taking a byte of an answer that waits."""
    fetch_bytes_max: int
    """fetch.max.bytes: one answer to a Fetch."""
    fetch_sessions_max: int
    """max.incremental.fetch.session.cache.slots: Fetch sessions kept."""
    listen_backlog: int
    """socket.listen.backlog.size: connections that wait to be accepted."""


class Setting(NamedTuple):
    """A value with where it comes from, to be shown to people."""

    definition: Definition
    text: str | None
    """None for a setting without a value, and for a secret."""
    source: str
    """``default``, or where it was written: ``trivium.toml [limits]``, ``TRIVIUM_DATA``, ``--data``."""

    @property
    def name(self) -> str:
        return self.definition.name

    @property
    def is_default(self) -> bool:
        return self.source == DEFAULT

    @property
    def takes_effect(self) -> bool:
        return self.definition.doc is not None


class IggySettings(NamedTuple):
    """What only Iggy's door asks. Each begins with the setting that changes it."""

    durability: Durability
    """iggy.durability: what must have happened before a client that sends hears of success."""
    generation: str | None
    """iggy.generation: the release that all clients are of, such as 0.5; None: found out for each."""
    heartbeat_ms: int
    """iggy.heartbeat-ms: how often clients must send a PING; 0: never."""


@dataclass(frozen=True, slots=True)
class Configuration:
    data_directories: tuple[Path, ...]
    metadata_directory: Path
    """Where the metadata log lies: ``metadata.log.dir``, else the first of the data directories."""
    node_id: int | None
    """None: what the directory says, or ``NEW_NODE_ID``."""
    cluster_id: str | None
    """None: what the directory says, or a new one."""
    listeners: tuple[Listener, ...]
    durability: Durability
    log_level: str
    """debug, info, warning or error."""
    log_format: LogFormat
    limits: Limits
    first_user: FirstUser | None
    anonymous: Anonymous
    authorization: Authorization | None
    """None: access control lists do not count."""
    audit: AuditSettings
    iggy: IggySettings
    kerberos: KerberosSettings | None
    """None: no listener offers GSSAPI."""
    static_settings: Mapping[str, str] = field(repr=False)
    """By Kafka's names, what somebody has set: DescribeConfigs calls it static. May hold secrets."""
    settings: Mapping[str, Setting] = field(repr=False)
    """Every setting by name: Trivium's own, and all of Kafka's brokers."""

    def broker_setting(self, name: str) -> Value:
        """One of Kafka's broker settings, parsed: what was set, else Kafka's default."""
        text = self.static_settings.get(name)
        return BROKER[name].default if text is None else BROKER[name].parse(text)

    def listeners_of(self, protocol: Protocol) -> tuple[Listener, ...]:
        return tuple(listener for listener in self.listeners if listener.protocol is protocol)
