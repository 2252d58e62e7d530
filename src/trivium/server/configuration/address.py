"""A host and a port, as people write them."""

import ipaddress
import re
from typing import Final, NamedTuple

_HOST_PORT: Final = re.compile(r"(?:\[([0-9A-Fa-f:.]+(?:%\w+)?)\]|([\w.-]*)):([0-9]{1,5})")
_PORT_MAX: Final = 65_535


class Address(NamedTuple):
    """Without a host: every interface. Port 0: any free one."""

    host: str
    port: int

    @classmethod
    def parse(cls, text: str) -> "Address":
        """Of HOST:PORT, an IPv6 address in brackets. ``ValueError`` for anything else."""
        match = _HOST_PORT.fullmatch(text)
        if match is None or int(match[3]) > _PORT_MAX:
            raise ValueError(f"{text!r} is not HOST:PORT")
        return cls(match[1] or match[2] or "", int(match[3]))

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches what listens there; a name other than localhost may be anywhere."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.partition("%")[0]).is_loopback
    except ValueError:
        return False
