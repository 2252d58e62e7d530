"""How a listener is protected: encryption, certificates, and who has to log in how, from settings.

Kafka's settings count, in PEM, for all listeners or for one (``listener.name.NAME.ssl.…``); ours say the same
more shortly. Files are named here and read elsewhere (``server.certificates``).
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from trivium.server.configuration.errors import ConfigurationError
from trivium.server.configuration.given import Given
from trivium.server.configuration.kerberos import KerberosGiven, KerberosSettings

if TYPE_CHECKING:
    from trivium.core.users.certificate_names import PrincipalRules


class SecurityProtocol(Enum):
    """Kafka's words, with its numbers for them in the metadata."""

    PLAINTEXT = 0
    SSL = 1
    SASL_PLAINTEXT = 2
    SASL_SSL = 3

    @property
    def is_encrypted(self) -> bool:
        return self in (SecurityProtocol.SSL, SecurityProtocol.SASL_SSL)

    @property
    def asks_login(self) -> bool:
        return self in (SecurityProtocol.SASL_PLAINTEXT, SecurityProtocol.SASL_SSL)


class Sasl(NamedTuple):
    """How Kafka clients log in at a listener."""

    mechanisms: tuple[str, ...]
    is_required: bool
    """Whether nobody is served without."""
    reauthentication_ms: int
    """How long a login counts; 0: as long as the connection."""
    kerberos: KerberosSettings | None = None
    """What GSSAPI needs, where it is one of them."""


class ClientAuth(Enum):
    """Whether clients show certificates of their own."""

    NONE = "none"
    REQUESTED = "requested"
    REQUIRED = "required"


@dataclass(frozen=True, slots=True)
class Pem:
    """Certificates or a key: in a file that may change, or as text."""

    path: Path | None = None
    text: str | None = field(default=None, repr=False)


MECHANISMS: Final = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512")
OAUTHBEARER: Final = "OAUTHBEARER"
"""Where there are keys to check tokens with."""
GSSAPI: Final = "GSSAPI"
"""Where there is a key for tickets."""
BARE: Final = ("PLAIN", OAUTHBEARER)
"""They send what they prove themselves by as it is: only where nobody listens in, unless asked for."""

_NEEDS: Final = {
    OAUTHBEARER: "set sasl.oauthbearer.jwks.endpoint.url",
    GSSAPI: "set kerberos.keytab and kerberos.principal",
}

TLS_VERSIONS: Final = ("TLSv1.2", "TLSv1.3")
"""Older ones are broken, and not spoken whatever anybody sets."""


@dataclass(frozen=True, slots=True)
class Tls:
    certificate: Pem
    """With those that lead from it to an authority."""
    key: Pem
    key_password: str | None = field(repr=False)
    authorities: Pem | None
    """Whose certificates clients may show."""
    client_auth: ClientAuth
    versions: tuple[str, ...]
    """Of ``TLS_VERSIONS``."""
    ciphers: tuple[str, ...]
    """By OpenSSL's names or the standard's; empty: what OpenSSL thinks well of."""
    principal_rules: "PrincipalRules"
    """Who a certificate stands for."""


Find = Callable[[str], Given | None]


class SecuritySettings:
    """What was set, for one listener."""

    def __init__(self, find: Find, listener_name: str) -> None:
        self._find = find
        self._prefix = f"listener.name.{listener_name.lower()}."

    def tls(self) -> Tls | None:
        """None if nobody has named a certificate. ``ConfigurationError`` for what does not fit together."""
        own, store = self._given("tls.certificate"), self._given("ssl.keystore.location")
        chain = self._given("ssl.keystore.certificate.chain")
        if store is not None:
            certificate = key = Pem(Path(store.text).expanduser())
        elif chain is not None:
            certificate, key = Pem(text=chain.text), self._key("ssl.keystore.key", chain)
        elif own is not None:
            path = Path(own.text).expanduser()
            certificate, key = Pem(path), Pem(self._path("tls.key") or path)
        else:
            return None
        authorities = self._authorities()
        client_auth = ClientAuth(self._text("tls.client-auth") or self._text("ssl.client.auth") or "none")
        if client_auth is not ClientAuth.NONE and authorities is None:
            raise ConfigurationError(
                "Clients are asked for certificates, and nobody says whose: set tls.client-ca "
                "(Kafka's ssl.truststore.location) to a PEM file with the authorities."
            )
        return Tls(
            certificate,
            key,
            self._text("tls.key-password") or self._text("ssl.key.password"),
            authorities,
            client_auth,
            self._versions(),
            tuple(_items(self._text("ssl.cipher.suites") or "")),
            self._principal_rules(),
        )

    def sasl(self, *, is_required: bool, is_private: bool) -> Sasl:
        """``is_private``: nobody listens in, so that passwords may be sent as they are."""
        kerberos = self._kerberos()
        mechanisms = self._mechanisms(is_private, has_tickets=kerberos is not None)
        return Sasl(
            mechanisms,
            is_required,
            max(int(self._text("connections.max.reauth.ms") or 0), 0),
            kerberos if GSSAPI in mechanisms else None,
        )

    def _kerberos(self) -> KerberosSettings | None:
        return KerberosGiven(
            self._find(f"{self._prefix}gssapi.sasl.jaas.config"),
            self._given("kerberos.keytab"),
            self._given("kerberos.principal"),
            self._given("sasl.kerberos.service.name"),
            self._given("sasl.kerberos.principal.to.local.rules"),
        ).settings()

    def _mechanisms(self, is_private: bool, *, has_tickets: bool) -> tuple[str, ...]:
        given = self._given("sasl.enabled.mechanisms")
        has_keys = self._given("sasl.oauthbearer.jwks.endpoint.url") is not None
        known = (*MECHANISMS, *([OAUTHBEARER] if has_keys else []), *([GSSAPI] if has_tickets else []))
        if given is None:
            return tuple(each for each in known if is_private or each not in BARE)
        chosen = tuple(dict.fromkeys(item.upper() for item in _items(given.text)))
        for mechanism in chosen:
            if mechanism not in known:
                hint = _NEEDS.get(mechanism, "take it out")
                raise ConfigurationError(
                    f"{given.name} has {mechanism} ({given.source}), and this node knows "
                    f"{', '.join(known)}: {hint}."
                )
        return chosen

    def _versions(self) -> tuple[str, ...]:
        own, kafka = self._given("tls.min-version"), self._given("ssl.enabled.protocols")
        if own is not None:
            return TLS_VERSIONS[TLS_VERSIONS.index(f"TLSv{own.text.strip()}") :]
        if kafka is None:
            return TLS_VERSIONS
        chosen = tuple(version for version in TLS_VERSIONS if version in _items(kafka.text))
        if not chosen:
            raise ConfigurationError(
                f"{kafka.name} = {kafka.text} ({kafka.source}) has no version that is safe: "
                "write TLSv1.2,TLSv1.3."
            )
        return chosen

    def _principal_rules(self) -> "PrincipalRules":
        from trivium.core.users.certificate_names import BadRules, PrincipalRules  # few listeners need it

        given = self._given("ssl.principal.mapping.rules")
        if given is None:
            return PrincipalRules()
        try:
            return PrincipalRules.parse(given.text)
        except BadRules as error:
            raise ConfigurationError(f"{given.name} ({given.source}): {error}") from error

    def _key(self, name: str, chain: Given) -> Pem:
        given = self._given(name)
        if given is None:
            raise ConfigurationError(f"{chain.name} ({chain.source}) needs {name} beside it.")
        return Pem(text=given.text)

    def _authorities(self) -> Pem | None:
        path = self._path("tls.client-ca") or self._path("ssl.truststore.location")
        if path is not None:
            return Pem(path)
        text = self._text("ssl.truststore.certificates")
        return None if text is None else Pem(text=text)

    def _path(self, name: str) -> Path | None:
        text = self._text(name)
        return None if text is None else Path(text).expanduser()

    def _text(self, name: str) -> str | None:
        given = self._given(name)
        return None if given is None else given.text.strip()

    def _given(self, name: str) -> Given | None:
        return self._find(self._prefix + name) or self._find(name)


def _items(text: str) -> list[str]:
    return [item.strip() for item in text.split(",") if item.strip()]
