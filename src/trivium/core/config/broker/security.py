"""Who may do what, and delegation tokens."""

from typing import Final

from trivium.core.config.definition import CLASS, LONG, PASSWORD, PER_BROKER, STRING, Definition
from trivium.core.config.valid import at_least, one_of

SECURITY: Final = (
    Definition("authorizer.class.name", STRING, ""),
    Definition("delegation.token.expiry.check.interval.ms", LONG, 3_600_000, at_least(1)),
    Definition("delegation.token.expiry.time.ms", LONG, 86_400_000, at_least(1)),
    Definition("delegation.token.max.lifetime.ms", LONG, 604_800_000, at_least(1)),
    Definition("delegation.token.secret.key", PASSWORD, None),
    Definition(
        "principal.builder.class",
        CLASS,
        "org.apache.kafka.common.security.authenticator.DefaultKafkaPrincipalBuilder",
        None,
        PER_BROKER,
    ),
    Definition(
        "security.inter.broker.protocol",
        STRING,
        "PLAINTEXT",
        one_of("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"),
    ),
    Definition("security.providers", STRING, None),
)
