"""Certificates that live as long as the tests that need them."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from trivium.server.dev_certificates import DevAuthority, Pair


class Certified(NamedTuple):
    authority: DevAuthority
    server: Pair

    @property
    def ca(self) -> Path:
        return self.authority.pair.certificate

    @property
    def settings(self) -> dict[str, str | Path]:
        """For a broker."""
        return {"tls.certificate": self.server.certificate, "tls.key": self.server.key}


@contextmanager
def certified() -> Iterator[Certified]:
    with TemporaryDirectory() as directory:
        authority = DevAuthority(Path(directory))
        yield Certified(authority, authority.server_pair(["localhost", "127.0.0.1"]))
