"""``kafka.security.protocol`` and what belongs to it, as the client's ``Security``: for reads and for writes.

The names are Kafka's. Stores are PEM files, which Kafka's own clients take, too
(``kafka.ssl.truststore.type=PEM``). Who one is stands in ``kafka.sasl.jaas.config``, as there.
"""

import re
from collections.abc import Mapping
from typing import Final

from trivium.client.security import MECHANISMS, PLAINTEXT, Security
from trivium.spark.connector.errors import BadOption

PROTOCOLS: Final = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")
NAMES: Final = frozenset(
    {
        "security.protocol",
        "sasl.mechanism",
        "sasl.jaas.config",
        "ssl.truststore.location",
        "ssl.truststore.type",
        "ssl.keystore.location",
        "ssl.keystore.type",
        "ssl.endpoint.identification.algorithm",
    }
)
"""Without the prefix."""
_PEM: Final = "PEM"
_JAAS: Final = r'\b{}\s*=\s*"((?:[^"\\]|\\.)*)"'


def security_of(options: Mapping[str, str]) -> Security:
    """From options by lower-case names, with the prefix; others are not looked at."""
    given = {name: options[f"kafka.{name}"].strip() for name in NAMES if f"kafka.{name}" in options}
    protocol = given.get("security.protocol", "PLAINTEXT").upper()
    if protocol not in PROTOCOLS:
        raise BadOption(
            f"kafka.security.protocol is one of {', '.join(PROTOCOLS)}, not {given['security.protocol']!r}."
        )
    for store in ("truststore", "keystore"):
        if f"ssl.{store}.location" in given and given.get(f"ssl.{store}.type", "").upper() != _PEM:
            raise BadOption(f"kafka.ssl.{store}.location is read as PEM: set kafka.ssl.{store}.type to PEM.")
    if protocol == "PLAINTEXT":
        return PLAINTEXT
    username = password = mechanism = None
    if protocol.startswith("SASL_"):
        mechanism = _mechanism(given)
        username, password = (_from_jaas(given, name) for name in ("username", "password"))
    return Security(
        has_tls=protocol.endswith("SSL"),
        ca=given.get("ssl.truststore.location"),
        certificate=given.get("ssl.keystore.location"),
        checks_host=given.get("ssl.endpoint.identification.algorithm", "https") != "",
        username=username,
        password=password,
        mechanism=mechanism,
    )


def options_of(security: Security) -> dict[str, str]:
    """The reverse: for those who read and write topics through Spark."""
    protocol = ("SASL_" if security.username is not None else "") + (
        "SSL" if security.has_tls else "PLAINTEXT"
    )
    said = {"security.protocol": protocol}
    for store, file in (("truststore", security.ca), ("keystore", security.certificate)):
        if file is not None:
            said |= {f"ssl.{store}.location": file, f"ssl.{store}.type": _PEM}
    if not security.checks_host:
        said["ssl.endpoint.identification.algorithm"] = ""
    if security.username is not None:
        name, password = (
            re.sub(r'(["\\])', r"\\\1", text or "") for text in (security.username, security.password)
        )
        said["sasl.jaas.config"] = f'LoginModule required username="{name}" password="{password}";'
    if security.mechanism is not None:
        said["sasl.mechanism"] = security.mechanism
    return {f"kafka.{name}": text for name, text in said.items()} if security != PLAINTEXT else {}


def _mechanism(given: Mapping[str, str]) -> str | None:
    """None: the best that the broker offers."""
    mechanism = given.get("sasl.mechanism", "").upper()
    if mechanism and mechanism not in MECHANISMS:
        raise BadOption(
            f"kafka.sasl.mechanism is one of {', '.join(MECHANISMS)}; correct it, or leave it out."
        )
    return mechanism or None


def _from_jaas(given: Mapping[str, str], name: str) -> str:
    """Never with what was given in the sentence: it may be a password."""
    found = re.search(_JAAS.format(name), given.get("sasl.jaas.config", ""))
    if found is None:
        raise BadOption(
            f'kafka.sasl.jaas.config has no {name}: write … required username="NAME" password="…";'
        )
    return re.sub(r"\\(.)", r"\1", found[1])
