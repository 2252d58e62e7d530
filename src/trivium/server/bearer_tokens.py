"""Signed tokens (JWT, RFC 7519) against the keys that the operator trusts (JWKS, RFC 7517).

The keys are in a file or behind a URL, named by the operator (``sasl.oauthbearer.jwks.endpoint.url``) and by
nobody else. They are read beside the loop, again after a while, and sooner when a token names a key that is
not among them, but never more often than ``RELOAD_SECONDS_MIN``: tokens are a stranger's to make up.

Only public-key signatures are taken, each with the kind of key that it needs: neither ``none`` nor an HMAC by
a key that everybody knows.
"""

import base64
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from time import monotonic
from typing import Any, Final
from urllib.parse import unquote, urlparse
from urllib.request import urlopen

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature

from trivium.server.event_log import events
from trivium.server.worker import Worker

RELOAD_SECONDS_MIN: Final = 10.0
FETCH_SECONDS_MAX: Final = 5.0
KEYS_BYTES_MAX: Final = 1 << 20
KEYS_MAX: Final = 100
RSA_BITS_MIN: Final = 2048

_HASHES: Final[Mapping[str, Callable[[], hashes.HashAlgorithm]]] = {
    "256": hashes.SHA256,
    "384": hashes.SHA384,
    "512": hashes.SHA512,
}
_CURVES: Final[Mapping[str, tuple[str, Callable[[], ec.EllipticCurve]]]] = {
    "ES256": ("P-256", ec.SECP256R1),
    "ES384": ("P-384", ec.SECP384R1),
    "ES512": ("P-521", ec.SECP521R1),
}

PublicKey = rsa.RSAPublicKey | ec.EllipticCurvePublicKey


class JwksTokens:
    """The core's port ``BearerTokens``."""

    def __init__(self, worker: Worker, source: str, refresh_ms: int) -> None:
        self._worker = worker
        self._source = source
        self._refresh_s = max(refresh_ms / 1000, RELOAD_SECONDS_MIN)
        self._keys: list[tuple[str | None, PublicKey]] = []
        self._read_at: float | None = None

    def claims(self, token: str, done: Callable[[Mapping[str, Any] | None], None]) -> None:
        self._worker.run(lambda: self._verified(token), done)

    # -- in the thread ---------------------------------------------------------------------------

    def _verified(self, token: str) -> Mapping[str, Any] | None:
        try:
            signed, _, signature_text = token.rpartition(".")
            header_text, _, claims_text = signed.partition(".")
            header, signature = json.loads(_bytes(header_text)), _bytes(signature_text)
            algorithm, key_id = header["alg"], header.get("kid")
            if "crit" in header or not isinstance(algorithm, str):
                return None
            for key in self._keys_for(key_id):
                if _is_signed(key, algorithm, signature, signed.encode()):
                    claims = json.loads(_bytes(claims_text))
                    return claims if isinstance(claims, dict) else None
        except (ValueError, KeyError, TypeError, RecursionError):
            return None  # it is no token
        return None

    def _keys_for(self, key_id: object) -> list[PublicKey]:
        now = monotonic()
        age = None if self._read_at is None else now - self._read_at
        is_known = any(name == key_id for name, _ in self._keys)
        if age is None or age >= self._refresh_s or (not is_known and age >= RELOAD_SECONDS_MIN):
            self._read_at = now
            self._read()
        return [key for name, key in self._keys if key_id is None or name == key_id]

    def _read(self) -> None:
        try:
            found = json.loads(self._text())["keys"]
            self._keys = [
                (each.get("kid"), key) for each in found[:KEYS_MAX] if (key := _key(each)) is not None
            ]
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            events.error(
                "the keys of tokens cannot be read; those known before count",
                source=self._source,
                reason=str(error),
            )

    def _text(self) -> bytes:
        parts = urlparse(self._source)
        if parts.scheme in ("http", "https"):
            with urlopen(self._source, timeout=FETCH_SECONDS_MAX) as answer:  # noqa: S310 - the operator's own
                data: bytes = answer.read(KEYS_BYTES_MAX + 1)
        else:
            path = unquote(parts.path) if parts.scheme == "file" else self._source
            data = Path(path).expanduser().read_bytes()
        if len(data) > KEYS_BYTES_MAX:
            raise ValueError(f"more than {KEYS_BYTES_MAX} bytes")
        return data


def _key(jwk: Mapping[str, Any]) -> PublicKey | None:
    """A key for signatures; None for one of another kind."""
    if jwk.get("use", "sig") != "sig":
        return None
    if jwk["kty"] == "RSA":
        made = rsa.RSAPublicNumbers(_number(jwk["e"]), _number(jwk["n"])).public_key()
        return made if made.key_size >= RSA_BITS_MIN else None
    if jwk["kty"] == "EC":
        curves = dict(_CURVES.values())
        if jwk["crv"] in curves:
            numbers = ec.EllipticCurvePublicNumbers(
                _number(jwk["x"]), _number(jwk["y"]), curves[jwk["crv"]]()
            )
            return numbers.public_key()
    return None


def _is_signed(key: PublicKey, algorithm: str, signature: bytes, data: bytes) -> bool:
    kind, size = algorithm[:2], algorithm[2:]
    if size not in _HASHES:
        return False
    digest = _HASHES[size]()
    try:
        if isinstance(key, ec.EllipticCurvePublicKey):
            if algorithm not in _CURVES or not isinstance(key.curve, type(_CURVES[algorithm][1]())):
                return False
            half = (key.key_size + 7) // 8
            if len(signature) != 2 * half:
                return False
            r, s = (int.from_bytes(part, "big") for part in (signature[:half], signature[half:]))
            key.verify(encode_dss_signature(r, s), data, ec.ECDSA(digest))
        elif kind == "RS":
            key.verify(signature, data, padding.PKCS1v15(), digest)
        elif kind == "PS":
            key.verify(signature, data, padding.PSS(padding.MGF1(digest), digest.digest_size), digest)
        else:
            return False
    except InvalidSignature:
        return False
    return True


def _bytes(text: str) -> bytes:
    return base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)


def _number(text: str) -> int:
    return int.from_bytes(_bytes(text), "big")
