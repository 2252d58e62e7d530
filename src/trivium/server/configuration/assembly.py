"""The frozen ``Configuration`` from what the sources gave: values parsed, and compared with each other."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from trivium.core.access import Anonymous
from trivium.core.config.broker import BROKER
from trivium.core.config.consistency import check_broker
from trivium.core.config.definition import LONG_MAX, Definition
from trivium.core.config.layers import Layers
from trivium.core.config.valid import InvalidValue, Value
from trivium.server.configuration.address import Address, is_loopback
from trivium.server.configuration.configuration import (
    DEFAULT,
    AuditSettings,
    Authorization,
    Configuration,
    Durability,
    FirstUser,
    IggySettings,
    Limits,
    Listener,
    LogFormat,
    Protocol,
    Setting,
)
from trivium.server.configuration.errors import ConfigurationError
from trivium.server.configuration.given import Given
from trivium.server.configuration.kerberos import one_for_all
from trivium.server.configuration.listeners import kafka_listeners, listeners_at, public_addresses
from trivium.server.configuration.names import definition_of
from trivium.server.configuration.own_settings import KAFKA_NAMES, OWN, OWN_NAMES
from trivium.server.configuration.refusals import refuse_what_must_not_be_ignored
from trivium.server.configuration.security import Sasl, SecurityProtocol, SecuritySettings

_CLUSTER_ID: Final = r"[A-Za-z0-9._-]{1,64}"

_KAFKA_FOR_UNSET: Final = (("broker.id", "-1"), ("queued.max.request.bytes", "-1"))
"""Defaults of Kafka's that mean: somebody else decides."""


def assemble(given: Mapping[str, Given]) -> Configuration:
    """The configuration, of at most one value for each name."""
    given = {name: each for name, each in given.items() if (name, each.text.strip()) not in _KAFKA_FOR_UNSET}
    for each in given.values():
        _parse(definition_of(each), each)
    refuse_what_must_not_be_ignored(given)
    values = _Values(given)
    listeners = _listeners(values)
    directories = tuple(Path(text).expanduser() for text in values.own("data"))
    metadata_directory = values.kafka("metadata.log.dir")
    node_id = _node_id(values)
    configuration = Configuration(
        data_directories=directories,
        metadata_directory=Path(metadata_directory).expanduser() if metadata_directory else directories[0],
        node_id=node_id,
        cluster_id=_cluster_id(values),
        listeners=tuple(listeners),
        durability=Durability(values.own("durability")),
        log_level=values.own("logging.level"),
        log_format=LogFormat(values.own("logging.format")),
        limits=_limits(values),
        first_user=_first_user(values),
        anonymous=Anonymous(values.own("access.anonymous")),
        authorization=_authorization(values),
        audit=_audit(values),
        iggy=_iggy(values),
        kerberos=one_for_all(
            each.sasl.kerberos
            for each in listeners
            if each.sasl is not None and each.sasl.kerberos is not None
        ),
        static_settings=_static_settings(values, listeners, directories, node_id),
        settings=_settings(given, _texts(listeners)),
    )
    _check_together(configuration)
    return configuration


class _Values:
    """Typed values by name, defaults included."""

    def __init__(self, given: Mapping[str, Given]) -> None:
        self.given = given

    def find(self, *names: str) -> Given | None:
        """What was given under the first of these names that anything was given under."""
        return next((self.given[name] for name in names if name in self.given), None)

    def own(self, name: str) -> Any:
        given = self.find(name, *KAFKA_NAMES.get(name, ()))
        return OWN[name].default if given is None else _parse(OWN[name], given)

    def kafka(self, name: str) -> Any:
        given = self.find(name)
        return BROKER[name].default if given is None else _parse(BROKER[name], given)


def _parse(definition: Definition, given: Given) -> Value:
    try:
        return definition.parse(given.text)
    except InvalidValue:
        value = "(hidden)" if definition.is_sensitive else repr(given.text)
        raise ConfigurationError(
            f"{given.name} = {value} ({given.source}) is not allowed: it takes {definition.allowed}."
        ) from None


def _listeners(values: _Values) -> list[Listener]:
    listeners = _kafka_listeners(values)
    for protocol in (Protocol.IGGY, Protocol.RUSTLOG, Protocol.AUTO, Protocol.CONSOLE):
        listeners += listeners_at(protocol, _given_or_default(values, f"listen.{protocol.value}"))
    if all(listener.protocol is Protocol.CONSOLE for listener in listeners):
        raise ConfigurationError(
            "No client could connect: listen.kafka, listen.iggy, listen.rustlog and listen.auto are all off; "
            "give one of them an address."
        )
    listeners = [_protected(listener, values) for listener in listeners]
    taken: dict[Address, Listener] = {}
    for listener in listeners:
        other = taken.setdefault(listener.address, listener)
        if other is not listener and listener.address.port:
            raise ConfigurationError(
                f"{other.protocol.value} and {listener.protocol.value} both listen on {listener.address}: "
                "give each a port of its own."
            )
    return listeners


def _protected(listener: Listener, values: _Values) -> Listener:
    """The listener with what it needs for its security protocol."""
    settings = SecuritySettings(lambda name: values.find(name), listener.name)
    tls = settings.tls() if listener.security.is_encrypted or listener.protocol is Protocol.AUTO else None
    if listener.security.is_encrypted and tls is None:
        raise ConfigurationError(
            f"The listener at {listener.address} is to be encrypted, and there is no certificate: set "
            "tls.certificate and tls.key, or make some for development by trivium cert dev."
        )
    return listener._replace(
        tls=tls, sasl=_sasl(listener, settings, is_ours=values.find("listeners") is None)
    )


def _sasl(listener: Listener, settings: SecuritySettings, *, is_ours: bool) -> Sasl | None:
    """Kafka's own listeners do as they are told. Where the protocol is found out, and at the plain front door
    of this machine, clients may log in or not; what those may do who do not is ``access``'s to say.
    """
    is_local = is_loopback(listener.address.host)
    is_free = listener.protocol is Protocol.AUTO or (
        listener.protocol is Protocol.KAFKA
        and listener.security is SecurityProtocol.PLAINTEXT
        and is_ours
        and is_local
    )
    if not listener.security.asks_login and not is_free:
        return None
    return settings.sasl(
        is_required=listener.security.asks_login, is_private=is_local or listener.security.is_encrypted
    )


def _kafka_listeners(values: _Values) -> list[Listener]:
    public = public_addresses(values.find("advertise.kafka"), values.find("advertised.listeners"))
    kafka = values.find("listeners")
    if kafka is None:
        return listeners_at(Protocol.KAFKA, _given_or_default(values, "listen.kafka"), public)
    return kafka_listeners(
        kafka,
        public,
        values.find("listener.security.protocol.map"),
        values.find("controller.listener.names"),
    )


def _given_or_default(values: _Values, name: str) -> Given:
    return values.find(name) or Given(name, OWN[name].default_text or "", DEFAULT)


def _node_id(values: _Values) -> int | None:
    first, second = values.find("node.id"), values.find("broker.id")
    if first is not None and second is not None and int(first.text) != int(second.text):
        raise ConfigurationError(
            f"node.id = {first.text} ({first.source}) and broker.id = {second.text} ({second.source}) "
            "must be the same: keep one of them."
        )
    node_id: int | None = values.own("node-id")
    return node_id


def _cluster_id(values: _Values) -> str | None:
    given = values.find("cluster-id")
    if given is not None and not re.fullmatch(_CLUSTER_ID, given.text.strip()):
        raise ConfigurationError(
            f"cluster-id = {given.text!r} ({given.source}) is no id: "
            "it takes up to 64 letters, digits, dots, dashes and underscores."
        )
    return given.text.strip() if given is not None else None


def _first_user(values: _Values) -> FirstUser | None:
    username, password = values.own("iggy.root.username"), values.own("iggy.root.password")
    if (username is None) != (password is None):
        missing = "iggy.root.username" if username is None else "iggy.root.password"
        raise ConfigurationError(
            f"iggy.root.username and iggy.root.password belong together: set {missing} too."
        )
    return None if username is None else FirstUser(username, password)


def _authorization(values: _Values) -> Authorization | None:
    if values.own("access.acls") != "on" and not values.kafka("authorizer.class.name").strip():
        return None
    names = [name.strip() for name in values.own("access.super-users").split(";") if name.strip()]
    for name in names:
        if ":" not in name:
            raise ConfigurationError(
                f"access.super-users has {name!r}, which is no principal: write User:{name}."
            )
    return Authorization(frozenset(names), values.own("access.open-without-acls"))


def _audit(values: _Values) -> AuditSettings:
    file = values.own("audit.file")
    return AuditSettings(
        Path(file).expanduser() if file else None,
        values.own("audit.topic"),
        values.own("audit.allowed-one-in"),
    )


def _limits(values: _Values) -> Limits:
    frame_bytes_max = values.kafka("socket.request.max.bytes")
    request_memory = OWN["limits.request-memory-bytes"]
    request_memory_bytes = values.own(request_memory.name)
    if request_memory_bytes == request_memory.default:
        # Whoever asks for larger requests need not know that there is a second setting.
        request_memory_bytes = max(request_memory_bytes, frame_bytes_max)
    return Limits(
        frame_bytes_max=frame_bytes_max,
        connections_max=values.kafka("max.connections"),
        connections_max_per_address=values.kafka("max.connections.per.ip"),
        connections_max_by_address=_numbers(values.kafka("max.connections.per.ip.overrides")),
        connections_per_second_max=values.kafka("max.connection.creation.rate"),
        connection_idle_ms=_or_never(values.kafka("connections.max.idle.ms")),
        requests_in_flight_max=values.own("limits.requests-in-flight"),
        request_memory_bytes=request_memory_bytes,
        response_memory_bytes=values.own("limits.response-memory-bytes"),
        rustlog_consumer_bytes_per_second=values.own("limits.rustlog-consumer-bytes-per-second"),
        failed_logins_per_minute=values.own("limits.failed-logins-per-minute"),
        first_request_ms=values.own("limits.first-request-ms"),
        slow_sender_ms=values.own("limits.slow-sender-ms"),
        slow_reader_ms=values.own("limits.slow-reader-ms"),
        fetch_bytes_max=values.kafka("fetch.max.bytes"),
        fetch_sessions_max=values.kafka("max.incremental.fetch.session.cache.slots"),
        listen_backlog=values.kafka("socket.listen.backlog.size"),
    )


def _iggy(values: _Values) -> IggySettings:
    generation = values.own("iggy.generation")
    return IggySettings(
        durability=Durability(values.own("iggy.durability")),
        generation=None if generation == OWN["iggy.generation"].default else generation,
        heartbeat_ms=values.own("iggy.heartbeat-ms"),
    )


def _or_never(time_ms: int) -> int:
    """Kafka's word for "never" is a time below zero."""
    return time_ms if time_ms >= 0 else LONG_MAX


def _numbers(text: str) -> dict[str, int]:
    """Of ADDRESS:NUMBER, with commas between; an IPv6 address has colons of its own."""
    pairs = (item.strip().rpartition(":") for item in text.split(",") if item.strip())
    return {address: int(number) for address, _, number in pairs}


def _static_settings(
    values: _Values, listeners: list[Listener], directories: tuple[Path, ...], node_id: int | None
) -> dict[str, str]:
    """What a Kafka would have been given that listens and stores as this node does."""
    static = {name: given.text for name, given in values.given.items() if name not in OWN}
    kafka = [listener for listener in listeners if listener.protocol is Protocol.KAFKA]
    advertised = [listener for listener in kafka if listener.advertised is not None]
    static["log.dirs"] = ",".join(map(str, directories))
    if node_id is not None:
        static["node.id"] = static["broker.id"] = str(node_id)
    if kafka:
        static.setdefault("listeners", ",".join(f"{each.name}://{each.address}" for each in kafka))
    if advertised:
        addresses = ",".join(f"{each.name}://{each.advertised}" for each in advertised)
        static.setdefault("advertised.listeners", addresses)
    return static


def _texts(listeners: list[Listener]) -> dict[str, str]:
    """How our own settings would be written that Kafka writes in another way."""
    kafka = [listener for listener in listeners if listener.protocol is Protocol.KAFKA]
    advertised = dict.fromkeys(str(each.advertised) for each in kafka if each.advertised is not None)
    return {
        "listen.kafka": ",".join(_text_of(listener) for listener in kafka),
        "advertise.kafka": ",".join(advertised),
    }


def _text_of(listener: Listener) -> str:
    security = listener.security
    prefix = "" if security is SecurityProtocol.PLAINTEXT else f"{security.name}://"
    return f"{prefix}{listener.address}"


def _settings(given: Mapping[str, Given], texts: Mapping[str, str]) -> dict[str, Setting]:
    """Everything there is, ours first. What was given by Kafka's name for one of ours stands under ours."""
    settings = {
        definition.name: Setting(definition, definition.default_text, DEFAULT)
        for definition in (*OWN.values(), *(BROKER[name] for name in sorted(BROKER)))
        if not definition.internal and definition.name not in OWN_NAMES
    }
    for name, each in given.items():
        if name not in OWN_NAMES:
            definition = definition_of(each)
            settings[name] = Setting(definition, None if definition.is_sensitive else each.text, each.source)
    for own, kafka_names in KAFKA_NAMES.items():
        used = next((given[name] for name in kafka_names if name in given), None)
        if used is not None:
            settings[own] = Setting(OWN[own], texts.get(own, used.text), f"{used.source}, {used.name}")
    return settings


def _check_together(configuration: Configuration) -> None:
    try:
        check_broker(Layers(static=configuration.static_settings))
    except InvalidValue as error:
        raise ConfigurationError(
            f"These settings contradict each other: {str(error).removesuffix('.')}."
        ) from None
    limits = configuration.limits
    if limits.request_memory_bytes < limits.frame_bytes_max:
        raise ConfigurationError(
            f"limits.request-memory-bytes ({limits.request_memory_bytes}) is less than one request may have: "
            f"make it at least socket.request.max.bytes ({limits.frame_bytes_max})."
        )
