"""Settings of Kafka's that must not be without effect in silence: somebody relies on them."""

import re
from collections.abc import Mapping
from typing import Final

from trivium.server.configuration.errors import ConfigurationError
from trivium.server.configuration.given import Given

AUTHORIZERS: Final = (
    "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "kafka.security.authorizer.AclAuthorizer",
)
"""Kafka's own: what they do is what ``access.acls`` does. The second is what it was called before 4.0."""

BEARER_CHECKS: Final = "OAuthBearerValidatorCallbackHandler"
"""Kafka's own, which does what this node does anyway."""

_JAAS: Final = r"listener\.name\.([^.]+)\.(plain|gssapi|oauthbearer|scram-sha-\d+)\.sasl\.jaas\.config"
_CHECKS: Final = "sasl.server.callback.handler.class"


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
    controllers = given.get("controller.listener.names")
    _refuse_logins_by_java(given, controllers.text.lower().split(",") if controllers is not None else [])


def _refuse_logins_by_java(given: Mapping[str, Given], controllers: list[str]) -> None:
    """Users and checks that would be without effect. ``controllers``: listeners that are passed over."""
    for each in given.values():
        if each.name.endswith("sasl.jaas.config"):
            _refuse_users(each, controllers)
        elif each.name.endswith(_CHECKS) and each.text.strip().rpartition(".")[2] not in ("", BEARER_CHECKS):
            raise ConfigurationError(
                f"{each.name} = {each.text} ({each.source}) would check logins by a class of Java's: take it "
                "out, and make the users here by trivium user add."
            )


def _refuse_users(given: Given, controllers: list[str]) -> None:
    """Users in the text of JAAS, and text that does not say what it is for."""
    named = re.fullmatch(_JAAS, given.name)
    if named is None:
        raise ConfigurationError(
            f"{given.name} ({given.source}) does not say which mechanism it is for: write "
            "listener.name.NAME.MECHANISM.sasl.jaas.config, as Kafka asks for, or take it out."
        )
    if named[2] != "plain" or named[1] in controllers:
        return
    from trivium.server.configuration.jaas import BadJaas, parse  # few nodes need it

    try:
        options = parse(given.text).options
    except BadJaas:
        raise ConfigurationError(
            f"{given.name} ({given.source}) cannot be read: write MODULE required NAME=VALUE …;"
        ) from None
    names = [name.removeprefix("user_") for name in options if name.startswith("user_")]
    if names:
        raise ConfigurationError(
            f"{given.name} ({given.source}) lists passwords of {', '.join(names)}: take the user_… "
            "options out, and make these users by trivium user add, the first of them by iggy.root.username "
            "and iggy.root.password."
        )
