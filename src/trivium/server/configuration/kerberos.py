"""What a node needs for GSSAPI: a key, whose it is, and what becomes of the names in tickets.

Ours are ``kerberos.keytab`` and ``kerberos.principal``. Kafka writes both into
``listener.name.NAME.gssapi.sasl.jaas.config``, which counts before them.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Final, NamedTuple

from trivium.server.configuration.errors import ConfigurationError
from trivium.server.configuration.given import Given

EXAMPLE: Final = "kafka/broker.example.com@EXAMPLE.COM"


class KerberosSettings(NamedTuple):
    keytab: Path
    """The file with the key."""
    principal: str
    """Whose key it is, such as kafka/broker.example.com@EXAMPLE.COM."""
    rules: tuple[str, ...]
    """sasl.kerberos.principal.to.local.rules"""


class KerberosGiven(NamedTuple):
    """What was written of it, for one listener."""

    jaas: Given | None
    keytab: Given | None
    principal: Given | None
    service: Given | None
    rules: Given | None

    def settings(self) -> KerberosSettings | None:
        """None if nobody has named a key. ``ConfigurationError`` for half of it."""
        keytab, principal = self._from_jaas() if self.jaas is not None else self._from_ours()
        if keytab is None or principal is None:
            return None
        service = principal.partition("/")[0]
        if self.service is not None and self.service.text.strip() != service:
            raise ConfigurationError(
                f"{self.service.name} = {self.service.text} ({self.service.source}) is not the service "
                f"of the principal {principal}: clients have to ask for {service}."
            )
        return KerberosSettings(Path(keytab).expanduser(), principal, self._rules())

    def _from_jaas(self) -> tuple[str | None, str | None]:
        from trivium.server.configuration.jaas import BadJaas, parse  # few nodes need it

        assert self.jaas is not None
        try:
            options = parse(self.jaas.text).options
        except BadJaas:
            options = {}
        if not options.get("keyTab") or not options.get("principal"):
            raise ConfigurationError(
                f"{self.jaas.name} ({self.jaas.source}) names no key: write "
                "com.sun.security.auth.module.Krb5LoginModule required useKeyTab=true storeKey=true "
                f'keyTab="/path/to/keytab" principal="{EXAMPLE}";'
            )
        return options["keyTab"].removeprefix("file:"), options["principal"]

    def _from_ours(self) -> tuple[str | None, str | None]:
        if (self.keytab is None) != (self.principal is None):
            missing = "kerberos.keytab" if self.keytab is None else "kerberos.principal"
            raise ConfigurationError(
                f"kerberos.keytab and kerberos.principal belong together: set {missing} too."
            )
        if self.keytab is None or self.principal is None:
            return None, None
        return self.keytab.text.strip(), self.principal.text.strip()

    def _rules(self) -> tuple[str, ...]:
        if self.rules is None:
            return ("DEFAULT",)
        from trivium.core.users.kerberos_names import BadRules, LocalNames

        rules = tuple(item.strip() for item in self.rules.text.split(",") if item.strip())
        try:
            LocalNames.parse(rules)
        except BadRules as error:
            raise ConfigurationError(f"{self.rules.name} ({self.rules.source}): {error}") from error
        return rules


def one_for_all(settings: Iterable[KerberosSettings]) -> KerberosSettings | None:
    """What all listeners say that have anything to say; ``ConfigurationError`` if they differ."""
    found = list(dict.fromkeys(settings))
    if len(found) > 1:
        raise ConfigurationError(
            f"Listeners have different keys for GSSAPI, {found[0].principal} in {found[0].keytab} and "
            f"{found[1].principal} in {found[1].keytab}: give all of them the same, with the same rules."
        )
    return found[0] if found else None
