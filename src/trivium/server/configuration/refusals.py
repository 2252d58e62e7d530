"""Settings of Kafka's that must not be without effect in silence: somebody relies on them."""

from collections.abc import Mapping
from typing import Final

from trivium.server.configuration.errors import ConfigurationError
from trivium.server.configuration.given import Given

AUTHORIZERS: Final = (
    "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "kafka.security.authorizer.AclAuthorizer",
)
"""Kafka's own: what they do is what ``access.acls`` does. The second is what it was called before 4.0."""


def refuse_what_must_not_be_ignored(given: Mapping[str, Given]) -> None:
    authorizer = given.get("authorizer.class.name")
    if authorizer is not None and authorizer.text.strip() not in ("", *AUTHORIZERS):
        raise ConfigurationError(
            f"authorizer.class.name = {authorizer.text} ({authorizer.source}) is not known here: "
            f"write {AUTHORIZERS[0]}, or access.acls = on."
        )
    providers = given.get("config.providers")
    if providers is not None and providers.text.strip():
        raise ConfigurationError(
            f"config.providers ({providers.source}) asks for values from elsewhere: write the values "
            "themselves, or give them in the environment as TRIVIUM_KAFKA_…"
        )
    roles = given.get("process.roles")
    if roles is not None and "broker" not in roles.text:
        raise ConfigurationError(
            f"process.roles = {roles.text} ({roles.source}) asks for a controller without a broker: "
            "a node of Trivium is always both."
        )
