"""Trivium's own settings: what Kafka has no name for, and short names for the front door.

The names are the keys of ``trivium.toml``. In the environment they are in capitals behind ``TRIVIUM_``, with
underscores: ``listen.kafka`` is ``TRIVIUM_LISTEN_KAFKA``. Some also have a flag of their own.
"""

from collections.abc import Mapping
from typing import Final

from trivium.core.config.definition import BOOLEAN, INT, LIST, LONG, PASSWORD, STRING, Definition, ValueType
from trivium.core.config.valid import Rule, Value, at_least, one_of, some_of


def _row(name: str, kind: ValueType, default: Value, rule: Rule | None, doc: str) -> Definition:
    return Definition(name, kind, default, rule, doc=doc)


_ROWS: Final = (
    _row("data", LIST, ("trivium-data",), some_of(), "The directories with the data."),
    _row("node-id", INT, None, at_least(0), "Who this node is; a directory with data knows it already."),
    _row("cluster-id", STRING, None, None, "The cluster's id; a directory with data knows it already."),
    _row(
        "durability",
        STRING,
        "fsync",
        one_of("fsync", "page-cache"),
        "What acks=all waits for: the disk (survives a power failure) or the page cache (does not).",
    ),
    _row("listen.kafka", LIST, ("127.0.0.1:9092",), None, "Where Kafka clients connect."),
    _row("listen.iggy", LIST, ("127.0.0.1:8090",), None, "Where Iggy clients connect."),
    _row("listen.rustlog", LIST, ("127.0.0.1:7070",), None, "Where RustLog clients connect."),
    _row("listen.auto", LIST, ("off",), None, "Where clients of all three connect; off: nowhere."),
    _row("listen.console", LIST, ("127.0.0.1:8080",), None, "Where console, metrics and health are."),
    _row(
        "advertise.kafka", STRING, None, None, "What Kafka clients are told; else the address they dialled."
    ),
    _row("tls.certificate", STRING, None, None, "The certificate of encrypted listeners: a PEM file."),
    _row("tls.key", STRING, None, None, "Its key, if that is in a file of its own."),
    _row("tls.key-password", PASSWORD, None, None, "The password of the key, if it has one."),
    _row("tls.client-ca", STRING, None, None, "Whose certificates clients may show: a PEM file."),
    _row(
        "tls.client-auth",
        STRING,
        "none",
        one_of("none", "requested", "required"),
        "Whether clients have to show certificates of their own.",
    ),
    _row("tls.min-version", STRING, "1.2", one_of("1.2", "1.3"), "The oldest TLS that is spoken."),
    _row("kerberos.keytab", STRING, None, None, "The file with the key for GSSAPI (Kerberos)."),
    _row("kerberos.principal", STRING, None, None, "Whose key it is, such as kafka/HOST@REALM."),
    _row(
        "iggy.durability",
        STRING,
        "page-cache",
        one_of("fsync", "page-cache"),
        "What an Iggy client that sends waits for: the disk (survives a power failure) or the page cache.",
    ),
    _row(
        "iggy.generation",
        STRING,
        "auto",
        one_of("auto", "0.5", "0.6", "0.7", "0.8"),
        "Which release all Iggy clients are of; auto finds out for each.",
    ),
    _row(
        "iggy.heartbeat-ms",
        INT,
        0,
        at_least(0),
        "How often an Iggy client must send a PING to keep its place in its groups; 0: never.",
    ),
    _row(
        "iggy.root.username",
        STRING,
        None,
        None,
        "The first user of a new node; without it iggy, where only this machine can connect for Iggy.",
    ),
    _row("iggy.root.password", PASSWORD, None, None, "The password of the first user of a new node."),
    _row(
        "access.anonymous",
        STRING,
        "auto",
        one_of("auto", "allow", "deny"),
        "Whether Kafka and RustLog clients are served without a login; auto: until there is a second user.",
    ),
    _row(
        "access.acls",
        STRING,
        "off",
        one_of("on", "off"),
        "Whether access control lists count; authorizer.class.name is Kafka's way to say on.",
    ),
    _row(
        "access.super-users",
        STRING,
        "",
        None,
        "Who may do everything, whatever the lists say: User:NAME, with semicolons between.",
    ),
    _row(
        "access.open-without-acls",
        BOOLEAN,
        False,
        None,
        "With lists: whether everybody may use a resource that no list is about.",
    ),
    _row("audit.file", STRING, None, None, "Where logins and decisions are written, a line for each."),
    _row("audit.topic", BOOLEAN, False, None, "Whether they are also records of the topic __trivium_audit."),
    _row(
        "audit.allowed-one-in",
        INT,
        1_000,
        at_least(0),
        "Of what clients may do all the time, one in so many is written; 1: all, 0: the first only.",
    ),
    _row(
        "logging.level",
        STRING,
        "info",
        one_of("debug", "info", "warning", "error"),
        "How much the node tells about itself.",
    ),
    _row("logging.format", STRING, "text", one_of("text", "json"), "Whether it tells people or machines."),
    _row(
        "limits.requests-in-flight",
        INT,
        100,
        at_least(1),
        "Requests of a connection that are not answered yet; with more of them it is read no further.",
    ),
    _row(
        "limits.request-memory-bytes",
        LONG,
        268_435_456,
        at_least(1_048_576),
        "Memory for the requests of all connections; when it is used up, they are read no further.",
    ),
    _row(
        "limits.response-memory-bytes",
        LONG,
        268_435_456,
        at_least(1_048_576),
        "Memory for answers that peers have not taken; when it is used up, nothing new is read for them.",
    ),
    _row(
        "limits.rustlog-consumer-bytes-per-second",
        INT,
        10_485_760,
        at_least(0),
        "How fast a RustLog connection may read for a group; 0: as fast as it goes.",
    ),
    _row(
        "limits.failed-logins-per-minute",
        INT,
        60,
        at_least(0),
        "Failed logins of one address; beyond it passwords from there are not looked at. 0: no limit.",
    ),
    _row(
        "limits.first-request-ms",
        INT,
        30_000,
        at_least(1),
        "A connection without a request for so long is closed.",
    ),
    _row(
        "limits.slow-sender-ms",
        INT,
        60_000,
        at_least(1),
        "A request that takes longer to arrive ends its connection.",
    ),
    _row(
        "limits.slow-reader-ms",
        INT,
        60_000,
        at_least(1),
        "A peer that takes nothing of its answer for so long is cut off.",
    ),
)

OWN: Final[Mapping[str, Definition]] = {row.name: row for row in _ROWS}

KAFKA_NAMES: Final[Mapping[str, tuple[str, ...]]] = {
    "data": ("log.dirs", "log.dir"),
    "node-id": ("node.id", "broker.id"),
    "listen.kafka": ("listeners",),
    "advertise.kafka": ("advertised.listeners",),
    "limits.request-memory-bytes": ("queued.max.request.bytes",),
    "access.super-users": ("super.users",),
    "access.open-without-acls": ("allow.everyone.if.no.acl.found",),
}
"""Kafka's names for settings of ours, the strongest first."""

OWN_NAMES: Final = {kafka: own for own, names in KAFKA_NAMES.items() for kafka in names}

FLAGS: Final = {
    "data": "--data",
    "node-id": "--node-id",
    "durability": "--durability",
    "listen.kafka": "--kafka",
    "listen.iggy": "--iggy",
    "listen.rustlog": "--rustlog",
    "listen.console": "--console",
}
"""Settings with a flag of their own; ``--set NAME=VALUE`` takes every name."""
