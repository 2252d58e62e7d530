"""``trivium serve --secure``: a node that is safe to reach, from whatever was configured.

Every listener is encrypted, with certificates for development where none are named; Kafka clients log in by
SASL; nobody is served without a login; and a new node has an administrator whose password nobody knows yet.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from trivium.cli.cert import DEFAULT_DIRECTORY

if TYPE_CHECKING:
    from collections.abc import Mapping

    from trivium.server.configuration.configuration import Configuration, Listener

ADMINISTRATOR: Final = "admin"
_PASSWORD_BYTES: Final = 18


class Secured(NamedTuple):
    configuration: "Configuration"
    ca: Path | None
    """What clients trust, if the certificates were made here."""
    password: str | None
    """Of the administrator that a new node gets; None if somebody has named another."""


def load_secured(
    config_path: Path | None, environ: "Mapping[str, str]", flags: "Mapping[str, str]"
) -> Secured:
    """``ConfigurationError`` and ``CannotCertify``, each with a sentence."""
    from trivium.server.configuration.configuration import Protocol
    from trivium.server.configuration.errors import ConfigurationError
    from trivium.server.configuration.loading import load

    added: dict[str, str] = {"access.anonymous": "deny", "access.acls": "on"}
    ca = None
    try:
        configuration = load(config_path, environ, {**flags, **added})
        has_certificate = any(
            not configuration.settings[name].is_default
            for name in ("tls.certificate", "ssl.keystore.location", "ssl.keystore.certificate.chain")
        )
    except ConfigurationError:
        has_certificate = False
    if not has_certificate:
        ca, made = _certificates()
        added |= made
        configuration = load(config_path, environ, {**flags, **added})
    for protocol in Protocol:
        listeners = configuration.listeners_of(protocol)
        if listeners:
            added[f"listen.{protocol.value}"] = ",".join(map(_guarded, listeners))
    password = None
    if configuration.first_user is None:
        from secrets import token_urlsafe

        password = token_urlsafe(_PASSWORD_BYTES)
        added |= {"iggy.root.username": ADMINISTRATOR, "iggy.root.password": password}
    return Secured(load(config_path, environ, {**flags, **added}), ca, password)


def _guarded(listener: "Listener") -> str:
    from trivium.server.configuration.configuration import Protocol

    return f"{'SASL_SSL' if listener.protocol is Protocol.KAFKA else 'tls'}://{listener.address}"


def _certificates() -> tuple[Path, dict[str, str]]:
    """Those of the directory that ``trivium cert dev`` uses; made if they are not there."""
    from trivium.server.dev_certificates import DevAuthority, names_of_this_machine

    directory = Path(DEFAULT_DIRECTORY)
    certificate, key = directory / "server.pem", directory / "server-key.pem"
    if not (certificate.exists() and key.exists()):
        certificate, key = DevAuthority(directory).server_pair(names_of_this_machine())
    return directory / "ca.pem", {"tls.certificate": str(certificate), "tls.key": str(key)}
