"""SCRAM, the client's half (RFC 5802): proving that one knows a password, and that the server does, too."""

import hmac
import os
from base64 import b64decode, b64encode
from hashlib import new, pbkdf2_hmac
from typing import Final

NONCE_BYTES: Final = 24
ITERATIONS: Final = range(4_096, 1_000_001)
"""With fewer the password could be guessed from what is sent; with more a server could keep us busy."""


class ServerNotTrusted(Exception):
    """What the server says is no SCRAM, or does not prove that it knows the password."""


class ScramClient:
    """``first``, ``final`` and ``check``, in this order."""

    def __init__(self, hash_name: str, username: str, password: str) -> None:
        self._hash_name = hash_name
        self._password = password.encode()
        self._nonce = b64encode(os.urandom(NONCE_BYTES)).decode()
        escaped = username.replace("=", "=3D").replace(",", "=2C")
        self._bare = f"n={escaped},r={self._nonce}"
        self._signature = b""

    def first(self) -> bytes:
        return f"n,,{self._bare}".encode()

    def final(self, server_first: bytes) -> bytes:
        try:
            fields = dict(item.split("=", 1) for item in server_first.decode().split(","))
            nonce, salt, iterations = fields["r"], b64decode(fields["s"], validate=True), int(fields["i"])
        except (ValueError, KeyError) as error:
            raise ServerNotTrusted from error
        if (
            not nonce.startswith(self._nonce)
            or len(nonce) == len(self._nonce)
            or iterations not in ITERATIONS
        ):
            raise ServerNotTrusted
        salted = pbkdf2_hmac(self._hash_name, self._password, salt, iterations)
        client_key = self._hmac(salted, b"Client Key")
        without_proof = f"c=biws,r={nonce}"
        auth_message = f"{self._bare},{server_first.decode()},{without_proof}".encode()
        signature = self._hmac(new(self._hash_name, client_key).digest(), auth_message)
        self._signature = self._hmac(self._hmac(salted, b"Server Key"), auth_message)
        proof = bytes(a ^ b for a, b in zip(client_key, signature, strict=True))
        return f"{without_proof},p={b64encode(proof).decode()}".encode()

    def check(self, server_final: bytes) -> None:
        """``ServerNotTrusted`` for a server that only pretends."""
        expected = b"v=" + b64encode(self._signature)
        if not self._signature or not hmac.compare_digest(server_final, expected):
            raise ServerNotTrusted

    def _hmac(self, key: bytes, message: bytes) -> bytes:
        return hmac.digest(key, message, self._hash_name)
