"""Encrypted connections."""

from typing import Final

from trivium.core.config.definition import BOOLEAN, CLASS, LIST, PASSWORD, PER_BROKER, STRING, Definition
from trivium.core.config.valid import list_of, one_of

TLS: Final = (
    Definition("ssl.allow.dn.changes", BOOLEAN, False),
    Definition("ssl.allow.san.changes", BOOLEAN, False),
    Definition("ssl.cipher.suites", LIST, (), list_of(), PER_BROKER),
    Definition("ssl.client.auth", STRING, "none", one_of("required", "requested", "none"), PER_BROKER),
    Definition("ssl.enabled.protocols", LIST, ("TLSv1.2", "TLSv1.3"), list_of(), PER_BROKER),
    Definition("ssl.endpoint.identification.algorithm", STRING, "https", None, PER_BROKER),
    Definition("ssl.engine.factory.class", CLASS, None, None, PER_BROKER),
    Definition("ssl.key.password", PASSWORD, None, None, PER_BROKER),
    Definition("ssl.keymanager.algorithm", STRING, "SunX509", None, PER_BROKER),
    Definition("ssl.keystore.certificate.chain", PASSWORD, None, None, PER_BROKER),
    Definition("ssl.keystore.key", PASSWORD, None, None, PER_BROKER),
    Definition("ssl.keystore.location", STRING, None, None, PER_BROKER),
    Definition("ssl.keystore.password", PASSWORD, None, None, PER_BROKER),
    Definition("ssl.keystore.type", STRING, "JKS", None, PER_BROKER),
    Definition("ssl.principal.mapping.rules", STRING, "DEFAULT"),
    Definition("ssl.protocol", STRING, "TLSv1.3", None, PER_BROKER),
    Definition("ssl.provider", STRING, None, None, PER_BROKER),
    Definition("ssl.secure.random.implementation", STRING, None, None, PER_BROKER),
    Definition("ssl.trustmanager.algorithm", STRING, "PKIX", None, PER_BROKER),
    Definition("ssl.truststore.certificates", PASSWORD, None, None, PER_BROKER),
    Definition("ssl.truststore.location", STRING, None, None, PER_BROKER),
    Definition("ssl.truststore.password", PASSWORD, None, None, PER_BROKER),
    Definition("ssl.truststore.type", STRING, "JKS", None, PER_BROKER),
)
