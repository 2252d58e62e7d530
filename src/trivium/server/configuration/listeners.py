"""Where the node listens, from addresses (``127.0.0.1:9092``) or Kafka's ``listeners``.

Kafka writes ``NAME://HOST:PORT`` and says elsewhere which security protocol a name stands for, and which
names are for controllers only. Those are passed over: a node of Trivium needs no second door to itself.
We write the security protocol before the address, where it is not PLAINTEXT: ``SASL_SSL://127.0.0.1:9092``
for Kafka, ``tls://127.0.0.1:8090`` for every protocol.
"""

from collections.abc import Callable
from typing import Final, TypeAlias

from trivium.server.configuration.address import Address
from trivium.server.configuration.configuration import Listener, Protocol
from trivium.server.configuration.errors import ConfigurationError
from trivium.server.configuration.given import Given
from trivium.server.configuration.security import SecurityProtocol

OFF: Final = "off"

_SECURITY: Final = {each.name: each for each in SecurityProtocol}
_TLS: Final = "TLS"
_NOWHERE: Final = ("", "0.0.0.0", "::")  # noqa: S104 - refused here, never bound


PublicAddresses: TypeAlias = Callable[[str], Address | None]
"""What is advertised for the listener of a name."""


def _none(name: str) -> None:
    return None


def public_addresses(everywhere: Given | None, by_name: Given | None) -> PublicAddresses:
    """What is advertised: one address for all listeners, or Kafka's ``advertised.listeners``."""
    if everywhere is not None:
        address = _public_address(everywhere, everywhere.text.strip())
        return lambda name: address
    if by_name is not None:
        return {name: _public_address(by_name, text) for name, text in _named(by_name)}.get
    return _none


def listeners_at(protocol: Protocol, given: Given, public: PublicAddresses = _none) -> list[Listener]:
    """One listener for each HOST:PORT, none for ``off``."""
    if given.text.strip() == OFF:
        return []
    listeners = []
    for item in _items(given.text):
        security, text = _secured(protocol, given, item)
        name = security.name if protocol is Protocol.KAFKA else protocol.value
        listeners.append(
            Listener(
                protocol, name, _address(given, text), public(name), security, is_spelled_out=text != item
            )
        )
    if not listeners:
        raise ConfigurationError(f"{given.name} ({given.source}) is empty: write HOST:PORT, or off.")
    return listeners


def _secured(protocol: Protocol, given: Given, item: str) -> tuple[SecurityProtocol, str]:
    """How a listener is protected, and its address."""
    word, separator, address = item.rpartition("://")
    if not separator:
        return SecurityProtocol.PLAINTEXT, item
    known = {_TLS: SecurityProtocol.SSL, **(_SECURITY if protocol is Protocol.KAFKA else {})}
    security = known.get(word.upper())
    if security is None:
        words = ", ".join(f"{word.lower()}://" for word in known)
        raise ConfigurationError(
            f"{given.name} has {item!r} ({given.source}): before the address it takes {words} or nothing."
        )
    return security, address


def kafka_listeners(
    given: Given, public: PublicAddresses, protocol_map: Given | None, controllers: Given | None
) -> list[Listener]:
    """Kafka's ``listeners`` without those for controllers."""
    controller_names = {name.upper() for name in _items(controllers.text)} if controllers else set()
    security = _security_protocols(protocol_map)
    listeners = []
    for name, address in _named(given):
        if name not in controller_names:
            protocol = _security_of(name, security, given)
            listeners.append(
                Listener(
                    Protocol.KAFKA,
                    name,
                    _address(given, address),
                    public(name),
                    protocol,
                    is_spelled_out=True,
                )
            )
    if not listeners:
        raise ConfigurationError(
            f"listeners ({given.source}) has none for clients: all are named in controller.listener.names."
        )
    return listeners


def _named(given: Given) -> list[tuple[str, str]]:
    """Names and addresses of Kafka's listeners, the names in capitals, as Kafka compares them."""
    pairs = []
    for item in _items(given.text):
        name, separator, address = item.partition("://")
        if not separator or not name:
            raise ConfigurationError(
                f"{given.name} has {item!r} ({given.source}): write NAME://HOST:PORT, such as PLAINTEXT://:9092."
            )
        pairs.append((name.upper(), address))
    names = [name for name, _ in pairs]
    if len(set(names)) < len(names):
        raise ConfigurationError(f"{given.name} ({given.source}) names a listener twice: {given.text}.")
    return pairs


def _security_protocols(given: Given | None) -> dict[str, SecurityProtocol]:
    """The security protocol of each listener's name; where the map does not say, a name is its protocol's."""
    security = dict(_SECURITY)
    for item in _items(given.text) if given is not None else ():
        name, _, protocol = item.partition(":")
        if protocol.upper() not in _SECURITY:
            assert given is not None
            words = ", ".join(_SECURITY)
            raise ConfigurationError(
                f"{given.name} has {item!r} ({given.source}): write NAME:PROTOCOL, with one of {words}."
            )
        security[name.upper()] = _SECURITY[protocol.upper()]
    return security


def _security_of(name: str, security: dict[str, SecurityProtocol], given: Given) -> SecurityProtocol:
    if name not in security:
        raise ConfigurationError(
            f"listeners has {name} ({given.source}), and listener.security.protocol.map does not say "
            f"what it stands for: add {name}:PLAINTEXT there."
        )
    return security[name]


def _public_address(given: Given, text: str) -> Address:
    """An address that clients can be sent to."""
    address = _address(given, text)
    if address.host in _NOWHERE or address.port == 0:
        raise ConfigurationError(
            f"{given.name} = {given.text} ({given.source}) is no address to send clients to: "
            "it needs a host that they can reach, and a port."
        )
    return address


def _address(given: Given, text: str) -> Address:
    try:
        return Address.parse(text)
    except ValueError:
        off = ", or off" if given.name.startswith("listen.") else ""
        raise ConfigurationError(
            f"{given.name} = {given.text} ({given.source}) is no address: write HOST:PORT (port 0: any){off}."
        ) from None


def _items(text: str) -> list[str]:
    return [item.strip() for item in text.split(",") if item.strip()]
