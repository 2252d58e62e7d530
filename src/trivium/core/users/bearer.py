"""OAUTHBEARER (RFC 7628): a signed token of somebody else's, and what this node makes of its claims.

    client   n,,^Aauth=Bearer TOKEN^A^A

Whether the signature is one to trust is asked of a port (``ports.BearerTokens``). Whether the token is meant
for this node, and still counts, is decided here, by Kafka's settings (``sasl.oauthbearer.*``).
"""

import re
from collections.abc import Mapping
from typing import Any, Final, NamedTuple, TypeGuard

OAUTHBEARER: Final = "OAUTHBEARER"
TOKEN_BYTES_MAX: Final = 32 << 10

_MESSAGE: Final = re.compile(
    r"n,(?:a=(?P<authzid>[^,]*))?,\x01(?:[A-Za-z]+=[^\x01]*\x01)*?"
    r"auth=Bearer +(?P<token>[-A-Za-z0-9._~+/=]+)\x01(?:[A-Za-z]+=[^\x01]*\x01)*\x01",
    re.IGNORECASE,
)


class BearerRules(NamedTuple):
    """What a token has to say. Each begins with the setting that changes it."""

    issuer: str | None = None
    """sasl.oauthbearer.expected.issuer: None: anybody whose signature is trusted."""
    audiences: frozenset[str] = frozenset()
    """sasl.oauthbearer.expected.audience: one of them; empty: for whomever."""
    name_claim: str = "sub"
    """sasl.oauthbearer.sub.claim.name: who it is."""
    skew_s: int = 30
    """sasl.oauthbearer.clock.skew.seconds: how far clocks may be apart."""


class Bearer(NamedTuple):
    username: str
    lifetime_ms: int


def read_message(message: bytes) -> tuple[str, str] | None:
    """The token, and who the client says to be, if it does; None for what is no message."""
    try:
        match = _MESSAGE.fullmatch(message.decode()) if len(message) <= TOKEN_BYTES_MAX else None
    except UnicodeDecodeError:
        return None
    return None if match is None else (match["token"], match["authzid"] or "")


def judge(claims: Mapping[str, Any], authzid: str, rules: BearerRules, now_ms: int) -> Bearer | None:
    """Who the claims are about; None if they do not count here and now."""
    name, expires_s = claims.get(rules.name_claim), claims.get("exp")
    begins_s = claims.get("nbf", claims.get("iat", 0))
    if not isinstance(name, str) or not name or authzid not in ("", name):
        return None
    if not _is_time(expires_s) or not _is_time(begins_s):
        return None
    if rules.issuer is not None and claims.get("iss") != rules.issuer:
        return None
    audience = claims.get("aud", ())
    named = {audience} if isinstance(audience, str) else {each for each in audience if isinstance(each, str)}
    if rules.audiences and not named & rules.audiences:
        return None
    lifetime_ms = int(expires_s * 1000) - now_ms
    if lifetime_ms <= -rules.skew_s * 1000 or begins_s * 1000 > now_ms + rules.skew_s * 1000:
        return None
    return Bearer(name, max(lifetime_ms, 1))


def _is_time(value: Any) -> TypeGuard[float]:
    """Seconds since 1970, within reason: infinity is a number to JSON, too."""
    return type(value) in (int, float) and 0 <= value < 1e12
