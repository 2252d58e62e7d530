"""Tokens as an identity provider would sign them, for tests."""

import base64
import json
import time
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature


def text(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def number(value: int) -> str:
    return text(value.to_bytes((value.bit_length() + 7) // 8, "big"))


class Provider:
    """Signs by RSA and by an elliptic curve; ``write`` publishes its keys."""

    def __init__(self) -> None:
        self.rsa = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        self.curve = ec.generate_private_key(ec.SECP256R1())

    def write(self, path: Path) -> None:
        public, point = self.rsa.public_key().public_numbers(), self.curve.public_key().public_numbers()
        keys = [
            {"kty": "RSA", "kid": "r", "use": "sig", "n": number(public.n), "e": number(public.e)},
            {"kty": "EC", "kid": "e", "crv": "P-256", "x": number(point.x), "y": number(point.y)},
            {"kty": "oct", "kid": "o", "k": "c2VjcmV0"},
        ]
        path.write_text(json.dumps({"keys": keys}))

    def token(self, algorithm: str = "RS256", *, key_id: str | None = None, **claims: Any) -> str:
        claims = {"sub": "ann", "exp": time.time() + 600, "iss": "provider", "aud": "trivium"} | claims
        header = {"alg": algorithm, "kid": key_id or ("e" if algorithm.startswith("ES") else "r")}
        signed = f"{text(json.dumps(header).encode())}.{text(json.dumps(claims).encode())}"
        return f"{signed}.{text(self._sign(algorithm, signed.encode()))}"

    def _sign(self, algorithm: str, data: bytes) -> bytes:
        if algorithm == "ES256":
            r, s = decode_dss_signature(self.curve.sign(data, ec.ECDSA(hashes.SHA256())))
            return r.to_bytes(32, "big") + s.to_bytes(32, "big")
        if algorithm == "PS256":
            return self.rsa.sign(data, padding.PSS(padding.MGF1(hashes.SHA256()), 32), hashes.SHA256())
        if algorithm == "none":
            return b""
        return self.rsa.sign(data, padding.PKCS1v15(), hashes.SHA256())
