"""Where brokers are: ``HOST:PORT`` as people write it, IPv6 in brackets, several with commas between."""

import re
from typing import Final, NamedTuple

from trivium.client.errors import BadAddress

DEFAULT_PORT: Final = 9092
"""Kafka's, where an address names none."""

PORT_MAX: Final = 65_535

_ADDRESS: Final = re.compile(
    r"(?:\[(?P<bracketed>[0-9A-Za-z:.%_-]+)\]|(?P<host>[^\s\[\]:,/]+))(?::(?P<port>\d{1,5}))?"
)


class Address(NamedTuple):
    host: str
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def parse_addresses(text: str) -> tuple[Address, ...]:
    """The addresses in ``text``; at least one."""
    return tuple(_parse(part.strip()) for part in text.split(","))


def _parse(text: str) -> Address:
    found = _ADDRESS.fullmatch(text)
    if found is None:
        raise BadAddress(
            f"'{text}' is no address of a broker; write HOST:PORT, such as 127.0.0.1:{DEFAULT_PORT}."
        )
    port = int(found["port"] or DEFAULT_PORT)
    if not 0 < port <= PORT_MAX:
        raise BadAddress(f"'{text}' names port {port}; ports go from 1 to {PORT_MAX}.")
    return Address(found["bracketed"] or found["host"], port)
