"""Where the node listens, from addresses (``127.0.0.1:9092``) or Kafka's ``listeners``.

Kafka writes ``NAME://HOST:PORT`` and says elsewhere which security protocol a name stands for, and which
names are for controllers only. Those are passed over: a node of Trivium needs no second door to itself.
"""

from collections.abc import Callable
from typing import Final, TypeAlias

from trivium.server.configuration.address import Address
from trivium.server.configuration.configuration import Listener, Protocol
from trivium.server.configuration.errors import ConfigurationError
from trivium.server.configuration.given import Given

OFF: Final = "off"

_PLAINTEXT: Final = "PLAINTEXT"
_SECURITY_PROTOCOLS: Final = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")
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
    name = _PLAINTEXT if protocol is Protocol.KAFKA else protocol.value
    addresses = [_address(given, text) for text in _items(given.text)]
    if not addresses:
        raise ConfigurationError(f"{given.name} ({given.source}) is empty: write HOST:PORT, or off.")
    return [Listener(protocol, name, address, public(name)) for address in addresses]


def kafka_listeners(
    given: Given, public: PublicAddresses, protocol_map: Given | None, controllers: Given | None
) -> list[Listener]:
    """Kafka's ``listeners`` without those for controllers."""
    controller_names = {name.upper() for name in _items(controllers.text)} if controllers else set()
    security = _security_protocols(protocol_map)
    listeners = []
    for name, address in _named(given):
        if name not in controller_names:
            _require_plaintext(name, security, given)
            listeners.append(Listener(Protocol.KAFKA, name, _address(given, address), public(name)))
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


def _security_protocols(given: Given | None) -> dict[str, str]:
    """The security protocol of each listener's name; where the map does not say, a name is its protocol's."""
    security = {name: name for name in _SECURITY_PROTOCOLS}
    for item in _items(given.text) if given is not None else ():
        name, _, protocol = item.partition(":")
        if protocol.upper() not in _SECURITY_PROTOCOLS:
            assert given is not None
            words = ", ".join(_SECURITY_PROTOCOLS)
            raise ConfigurationError(
                f"{given.name} has {item!r} ({given.source}): write NAME:PROTOCOL, with one of {words}."
            )
        security[name.upper()] = protocol.upper()
    return security


def _require_plaintext(name: str, security: dict[str, str], given: Given) -> None:
    if name not in security:
        raise ConfigurationError(
            f"listeners has {name} ({given.source}), and listener.security.protocol.map does not say "
            f"what it stands for: add {name}:PLAINTEXT there."
        )
    if security[name] != _PLAINTEXT:
        raise ConfigurationError(
            f"The listener {name} ({given.source}) asks for {security[name]}, and this version serves "
            "PLAINTEXT only: take it out, or listen on a network that you trust."
        )


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
