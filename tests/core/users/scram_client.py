"""The client's half of SCRAM, written down a second time (RFC 5802), for tests."""

import hmac
from base64 import b64decode, b64encode
from hashlib import new, pbkdf2_hmac


class ScramClient:
    def __init__(
        self, hash_name: str, username: str, password: str, *, nonce: str = "abc", extensions: str = ""
    ) -> None:
        self._hash_name = hash_name
        self._password = password.encode()
        escaped = username.replace("=", "=3D").replace(",", "=2C")
        self._bare = f"n={escaped},r={nonce}{extensions}"
        self.signature = b""

    def first(self) -> bytes:
        return f"n,,{self._bare}".encode()

    def final(self, server_first: bytes) -> bytes:
        fields = dict(item.split("=", 1) for item in server_first.decode().split(","))
        salted = pbkdf2_hmac(self._hash_name, self._password, b64decode(fields["s"]), int(fields["i"]))
        client_key = self._hmac(salted, b"Client Key")
        without_proof = f"c=biws,r={fields['r']}"
        auth_message = f"{self._bare},{server_first.decode()},{without_proof}".encode()
        signature = self._hmac(new(self._hash_name, client_key).digest(), auth_message)
        proof = bytes(a ^ b for a, b in zip(client_key, signature, strict=True))
        self.signature = b"v=" + b64encode(self._hmac(self._hmac(salted, b"Server Key"), auth_message))
        return f"{without_proof},p={b64encode(proof).decode()}".encode()

    def _hmac(self, key: bytes, message: bytes) -> bytes:
        return hmac.digest(key, message, self._hash_name)
