"""SCRAM, the server's half (RFC 5802, RFC 7677), as a state machine over messages.

    client   n,,n=user,r=abc                        who it is, and a nonce
    server   r=abcXYZ,s=salt,i=4096                 its nonce behind the client's, and how to salt
    client   c=biws,r=abcXYZ,p=proof                that it knows the password
    server   v=signature                            that the server knows it, too

Rules:
- ``read_first``, ``begin`` and ``finish`` are each called once; between the last two is an ``Exchange`` that
  nobody can read.
- A user without a credential is answered as one with a credential that no password fits: the same salt every
  time (from ``decoy_key``), the same work, the same answer (promise S8, S11).
- Names are taken as they are written; ``=2C`` and ``=3D`` are a comma and an equals sign, and nothing else is
  escaped. Another identity than one's own (an authzid) is refused, and so are channel binding, which Kafka
  does not have, and extensions that have to be understood.
- Nothing here needs long: the iterations are the client's work. Passwords are salted elsewhere.
"""

import binascii
import hmac
from base64 import b64decode, b64encode
from dataclasses import dataclass, field
from hashlib import new
from typing import Final, NamedTuple

from trivium.core.metadata_access import ScramCredential, ScramMechanism

MECHANISMS: Final = {
    "SCRAM-SHA-256": ScramMechanism.SCRAM_SHA_256,
    "SCRAM-SHA-512": ScramMechanism.SCRAM_SHA_512,
}
ITERATIONS: Final = 4_096
"""For passwords that are salted here; Kafka takes 4096 to 16384."""
SALT_BYTES: Final = 24
MESSAGE_BYTES_MAX: Final = 4_096
NONCE_CHARS_MAX: Final = 512
TOKEN_EXTENSION: Final = "tokenauth"  # noqa: S105 - a word of the protocol
"""Kafka's: the name is that of a delegation token."""


class Broken(Exception):
    """The exchange is over: what came is no message of SCRAM, or proves nothing."""


class ClientFirst(NamedTuple):
    gs2_header: str
    bare: str
    username: str
    nonce: str
    is_token: bool


@dataclass(frozen=True, slots=True)
class Exchange:
    """What the server remembers between the two messages of a client. No part of it is for a log."""

    mechanism: ScramMechanism
    username: str
    is_token: bool
    gs2_header: str = field(repr=False)
    nonce: str = field(repr=False)
    auth_message: str = field(repr=False)
    """Up to the client's last message."""
    credential: ScramCredential = field(repr=False)
    is_decoy: bool = field(repr=False)


def begin(
    mechanism: ScramMechanism,
    first: ClientFirst,
    found: ScramCredential | None,
    new_nonce: str,
    decoy_key: bytes,
) -> tuple[bytes, Exchange]:
    """The answer to a client's first message; ``found`` is what its user proves itself by, if anything."""
    credential = found or _decoy(mechanism, first.username, decoy_key)
    nonce = first.nonce + new_nonce
    answer = f"r={nonce},s={b64encode(credential.salt).decode()},i={credential.iterations}"
    exchange = Exchange(
        mechanism,
        first.username,
        first.is_token,
        first.gs2_header,
        nonce,
        f"{first.bare},{answer}",
        credential,
        found is None,
    )
    return answer.encode(), exchange


def finish(exchange: Exchange, message: bytes) -> bytes:
    """The signature for a client that has proven itself. ``Broken`` for any other."""
    fields = _fields(_text(message))
    if len(fields) < 3 or [name for name, _ in (*fields[:2], fields[-1])] != ["c", "r", "p"]:
        raise Broken
    binding, nonce, proof = _decoded(fields[0][1]), fields[1][1], _decoded(fields[-1][1])
    if binding != exchange.gs2_header.encode() or nonce != exchange.nonce:
        raise Broken
    without_proof = message.decode().rpartition(",p=")[0]
    auth_message = f"{exchange.auth_message},{without_proof}".encode()
    hash_name, credential = exchange.mechanism.hash_name, exchange.credential
    signature = hmac.digest(credential.stored_key, auth_message, hash_name)
    if len(proof) != len(signature):
        raise Broken
    client_key = bytes(a ^ b for a, b in zip(proof, signature, strict=True))
    is_right = hmac.compare_digest(new(hash_name, client_key).digest(), credential.stored_key)
    if not is_right or exchange.is_decoy:
        raise Broken
    return b"v=" + b64encode(hmac.digest(credential.server_key, auth_message, hash_name))


def credential_of(
    mechanism: ScramMechanism, salted_password: bytes, salt: bytes, iterations: int
) -> ScramCredential:
    """What is stored of a salted password."""
    hash_name = mechanism.hash_name
    client_key = hmac.digest(salted_password, b"Client Key", hash_name)
    server_key = hmac.digest(salted_password, b"Server Key", hash_name)
    return ScramCredential(iterations, salt, new(hash_name, client_key).digest(), server_key)


def salt_of(mechanism: ScramMechanism, username: str, decoy_key: bytes) -> bytes:
    """A salt for those who have none stored: the same every time."""
    return hmac.digest(decoy_key, f"{mechanism.name} {username}".encode(), "sha512")[:SALT_BYTES]


def _decoy(mechanism: ScramMechanism, username: str, decoy_key: bytes) -> ScramCredential:
    salt = salt_of(mechanism, username, decoy_key)
    return credential_of(mechanism, hmac.digest(decoy_key, salt, "sha512"), salt, ITERATIONS)


# -- messages ----------------------------------------------------------------------------------------


def read_first(message: bytes) -> ClientFirst:
    text = _text(message)
    flag, _, rest = text.partition(",")
    authzid, comma, bare = rest.partition(",")
    if flag not in ("n", "y") or not comma:
        raise Broken
    fields = _fields(bare)
    if [name for name, _ in fields[:2]] != ["n", "r"]:
        raise Broken
    username, nonce = _name(fields[0][1]), fields[1][1]
    if not username or (authzid and authzid != f"a={fields[0][1]}"):
        raise Broken
    if not 0 < len(nonce) <= NONCE_CHARS_MAX or not all("!" <= char <= "~" for char in nonce):
        raise Broken
    is_token = any(name == TOKEN_EXTENSION and value == "true" for name, value in fields[2:])
    return ClientFirst(f"{flag},{authzid},", bare, username, nonce, is_token)


def _text(message: bytes) -> str:
    if len(message) > MESSAGE_BYTES_MAX:
        raise Broken
    try:
        text = message.decode()
    except UnicodeDecodeError as error:
        raise Broken from error
    if "\0" in text:
        raise Broken
    return text


def _fields(text: str) -> list[tuple[str, str]]:
    fields = []
    for item in text.split(","):
        name, separator, value = item.partition("=")
        if not separator or not name.isascii() or not name.isalpha() or name == "m":
            raise Broken
        fields.append((name, value))
    return fields


def _name(text: str) -> str:
    name = text.replace("=2C", ",").replace("=3D", "=")
    if text.count("=") != text.count("=2C") + text.count("=3D"):
        raise Broken
    return name


def _decoded(text: str) -> bytes:
    """Of the one spelling that a value has: others could be told apart from what was signed."""
    try:
        data = b64decode(text, validate=True)
    except (binascii.Error, ValueError) as error:
        raise Broken from error
    if b64encode(data).decode() != text:
        raise Broken
    return data
