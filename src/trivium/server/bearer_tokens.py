"""Signed tokens (JWT, RFC 7519) against the keys that the operator trusts (JWKS, RFC 7517).

The keys are in a file or behind a URL, named by the operator (``sasl.oauthbearer.jwks.endpoint.url``) and by
nobody else. They are read in a thread of their own: again after a while, when the known ones go on to count
meanwhile, and sooner when a token names a key that is not among them. Such a token waits for the new keys,
for ``WAIT_SECONDS_MAX`` at most. They are never read more often than ``RELOAD_SECONDS_MIN``: tokens are a
stranger's to make up. Signatures are checked in another thread: a slow URL holds up nobody with a known key.

Only public-key signatures are taken, each with the kind of key that it needs: neither ``none`` nor an HMAC by
a key that everybody knows.
"""

import asyncio
import base64
import json
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from http.client import HTTPException
from itertools import count
from math import inf
from pathlib import Path
from time import monotonic
from typing import Any, Final, NamedTuple
from urllib.parse import unquote, urlparse
from urllib.request import urlopen

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature

from trivium.core.behalf import Asked, act_for, now, on_behalf, tell_all
from trivium.server.errand import Errand, report
from trivium.server.event_log import events
from trivium.server.worker import Worker

RELOAD_SECONDS_MIN: Final = 10.0
FETCH_SECONDS_MAX: Final = 5.0
"""For all of an answer, however slowly it comes."""
WAIT_SECONDS_MAX: Final = 3.0
WAITING_MAX: Final = 1_000
"""Tokens that wait for keys, or for their signature to be checked; one more is refused."""
PIECE_BYTES: Final = 1 << 16
NICENESS: Final = 10
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


Keys = tuple[tuple[str | None, PublicKey], ...]
Done = Callable[[Mapping[str, Any] | None], None]


class _Token(NamedTuple):
    """One that has the form of a token; whether it is worth anything is not known yet."""

    algorithm: str
    key_id: object
    signature: bytes
    signed: str
    claims_text: str


class _Waiting(NamedTuple):
    asked: Asked | None
    token: _Token
    done: Done


class JwksTokens:
    """The core's port ``BearerTokens``. All of its state belongs to the loop; threads get what they need."""

    def __init__(self, loop: asyncio.AbstractEventLoop, source: str, refresh_ms: int) -> None:
        self._loop = loop
        self._checker = Worker(loop, "tokens", niceness=NICENESS)
        self._reader = Worker(loop, "token-keys")
        self._source = source
        self._refresh_s = max(refresh_ms / 1000, RELOAD_SECONDS_MIN)
        self._keys: Keys = ()
        self._read_at: float | None = None
        self._is_reading = False
        self._waiting: dict[int, _Waiting] = {}
        """Tokens of keys that are not known yet."""
        self._numbers = count()
        self._checks = 0

    def claims(self, token: str, done: Done) -> None:
        read = _read_token(token)
        if read is None or self._checks + len(self._waiting) >= WAITING_MAX:
            done(None)
            return
        done = on_behalf(done)
        is_known = self._knows(read)
        self._refresh(is_known)
        if is_known or not self._is_reading:
            self._check(read, done)
        else:
            number = next(self._numbers)
            self._waiting[number] = _Waiting(now.asked, read, done)
            self._loop.call_later(WAIT_SECONDS_MAX, self._give_up, number)

    def close(self) -> None:
        self._checker.close()
        self._reader.close(wait=False)  # a slow URL holds up no stop

    # -- on the loop -----------------------------------------------------------------------------

    def _knows(self, token: _Token) -> bool:
        return bool(self._keys) and (
            token.key_id is None or any(name == token.key_id for name, _ in self._keys)
        )

    def _refresh(self, is_known: bool) -> None:
        """Begin to read the keys, if it is time to."""
        age = inf if self._read_at is None else self._loop.time() - self._read_at
        if not self._is_reading and age >= (self._refresh_s if is_known else RELOAD_SECONDS_MIN):
            self._is_reading = True
            # For everybody, and not for whoever happens to ask now.
            errand = Errand(self._broken_off)
            errand.hold(self._end_reading)
            errand.go(self._reader.run, lambda: _read_keys(self._source), partial(self._has_read, errand))

    def _has_read(self, errand: Errand, keys: Keys | None) -> None:
        if keys is not None:
            self._keys = keys
        errand.end()

    def _broken_off(self, error: Exception) -> None:
        again = f"in {RELOAD_SECONDS_MIN:.0f} s, for the next token of a key that is not known"
        report("reading the keys of tokens", error, again, source=self._source)

    def _end_reading(self) -> None:
        self._is_reading = False
        self._read_at = self._loop.time()
        waiting, self._waiting = self._waiting, {}
        tell_all(
            partial(act_for, each.asked, self._check, each.token, each.done) for each in waiting.values()
        )

    def _give_up(self, number: int) -> None:
        waiting = self._waiting.pop(number, None)
        if waiting is not None:
            waiting.done(None)

    def _check(self, token: _Token, done: Done) -> None:
        keys = [key for name, key in self._keys if token.key_id is None or name == token.key_id]
        if not keys:
            done(None)
            return
        self._checks += 1
        errand = Errand()
        errand.hold(self._one_check_less)

        def checked(claims: Mapping[str, Any] | None) -> None:
            errand.end()
            done(claims)

        errand.go(self._checker.run, lambda: _verified(token, keys), checked)

    def _one_check_less(self) -> None:
        self._checks -= 1


# -- in the threads --------------------------------------------------------------------------------


def _verified(token: _Token, keys: Sequence[PublicKey]) -> Mapping[str, Any] | None:
    data = token.signed.encode()
    if not any(_is_signed(key, token.algorithm, token.signature, data) for key in keys):
        return None
    try:
        claims = json.loads(_bytes(token.claims_text))
    except (ValueError, RecursionError):
        return None
    return claims if isinstance(claims, dict) else None


def _read_keys(source: str) -> Keys | None:
    """None if they cannot be read; that is told."""
    try:
        found = json.loads(_text(source))["keys"]
        return tuple((each.get("kid"), key) for each in found[:KEYS_MAX] if (key := _key(each)) is not None)
    except (
        OSError,
        HTTPException,
        ValueError,
        KeyError,
        TypeError,
        AttributeError,
        RecursionError,
    ) as error:
        events.error(
            "the keys of tokens cannot be read; those known before count", source=source, reason=str(error)
        )
        return None


def _text(source: str) -> bytes:
    parts = urlparse(source)
    data = b""
    if parts.scheme in ("http", "https"):
        deadline = monotonic() + FETCH_SECONDS_MAX
        with urlopen(source, timeout=FETCH_SECONDS_MAX) as answer:  # noqa: S310 - the operator's own
            while len(data) <= KEYS_BYTES_MAX and (piece := answer.read1(PIECE_BYTES)):
                data += piece
                if monotonic() > deadline:
                    raise TimeoutError("the answer takes too long")
    else:
        path = unquote(parts.path) if parts.scheme == "file" else source
        data = Path(path).expanduser().read_bytes()
    if len(data) > KEYS_BYTES_MAX:
        raise ValueError(f"more than {KEYS_BYTES_MAX} bytes")
    return data


# -- of what tokens and keys are made --------------------------------------------------------------


def _read_token(token: str) -> _Token | None:
    """None if it is no token."""
    try:
        signed, _, signature_text = token.rpartition(".")
        header_text, _, claims_text = signed.partition(".")
        header = json.loads(_bytes(header_text))
        algorithm = header["alg"]
        if "crit" in header or not isinstance(algorithm, str):
            return None
        return _Token(algorithm, header.get("kid"), _bytes(signature_text), signed, claims_text)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None


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
