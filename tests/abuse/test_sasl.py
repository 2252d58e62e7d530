"""Changed, replayed and forged logins (S8): none of them gets in. Ten million with ``make abuse N=100``.

Every few tries a right login is made, which must succeed: otherwise everything would be refused for some
other reason, and nothing be proven.
"""

import hmac
import json
import time
from base64 import b64decode, b64encode
from collections.abc import Callable
from functools import cache
from hashlib import new, pbkdf2_hmac
from random import Random
from typing import Final, NamedTuple

import pytest

from tests.abuse.amount import amount, seeded
from tests.clients.bearer import Provider, text
from tests.core.inhabited import InhabitedWorld
from trivium.core.caller import Caller
from trivium.core.commands.sasl import Authenticate, SaslStep
from trivium.core.commands.users import CreateUser
from trivium.core.faults import Fault
from trivium.core.users.bearer import read_message
from trivium.server import bearer_tokens

NEW: Final = Caller()
FAILED: Final = SaslStep(Fault.INVALID_CREDENTIALS)
HASHES: Final = {"SCRAM-SHA-256": "sha256", "SCRAM-SHA-512": "sha512"}
PASSWORDS: Final = {"iggy": "iggy", "ann": "secret"}
CONTROLS: Final = 50
OVERHEARD_MAX: Final = 100


@pytest.fixture(scope="module")
def world() -> InhabitedWorld:
    made = InhabitedWorld()
    root = made.found()
    made.ask(CreateUser("ann", PASSWORDS["ann"]), root)
    return made


# -- SCRAM ---------------------------------------------------------------------------------------


@cache
def salted(mechanism: str, password: str, salt: bytes, iterations: int) -> bytes:
    return pbkdf2_hmac(HASHES[mechanism], password.encode(), salt, iterations)


class LastMessage(NamedTuple):
    """The parts of a client's last message."""

    binding: str
    nonce: str
    extensions: str
    proof: bytes

    def spelled(self) -> bytes:
        proof = b64encode(self.proof).decode()
        return f"c={self.binding},r={self.nonce}{self.extensions},p={proof}".encode()


def last_message(mechanism: str, password: str, bare: str, header: str, server_first: bytes) -> LastMessage:
    """What a client says that knows the password, and has begun with this header and this message."""
    fields = dict(item.split("=", 1) for item in server_first.decode().split(","))
    key = salted(mechanism, password, b64decode(fields["s"]), int(fields["i"]))
    hash_name = HASHES[mechanism]
    client_key = hmac.digest(key, b"Client Key", hash_name)
    binding = b64encode(header.encode()).decode()
    auth_message = f"{bare},{server_first.decode()},c={binding},r={fields['r']}".encode()
    signature = hmac.digest(new(hash_name, client_key).digest(), auth_message, hash_name)
    proof = bytes(a ^ b for a, b in zip(client_key, signature, strict=True))
    return LastMessage(binding, fields["r"], "", proof)


FLAGS: Final = ["", "x", "N", "nn", "p=tls-unique", "p=tls-exporter", "p=", "n,n", "y=1"]
NAMES: Final = ["nobody", "ann", "Iggy", "iggy ", "ig=gy", "ig=2Cgy", "", "root", "iggy\0", "ìggy"]


def changed_bytes(dice: Random, data: bytes) -> bytes:
    """One to three bytes replaced, left out or added."""
    changed = bytearray(data)
    for _ in range(dice.randint(1, 3)):
        at = dice.randrange(len(changed) + 1)
        what = dice.randrange(3)
        if what == 0 and at < len(changed):
            changed[at] = dice.choice((0, 44, 61, 127, 255, dice.randrange(256)))
        elif what == 1 and changed:
            del changed[min(at, len(changed) - 1)]
        else:
            changed.insert(at, dice.randrange(256))
    return bytes(changed)


class Attacker:
    """Knows the password of ann, not that of iggy, and has listened to iggy's logins."""

    def __init__(self, world: InhabitedWorld, dice: Random) -> None:
        self._world = world
        self._dice = dice
        self._overheard: dict[str, list[LastMessage]] = {mechanism: [] for mechanism in HASHES}

    def begin(self, mechanism: str, first: bytes) -> SaslStep:
        return self._world.ask(Authenticate(mechanism, first), NEW)

    def end(self, mechanism: str, last: bytes, begun: SaslStep) -> SaslStep:
        return self._world.ask(Authenticate(mechanism, last, begun.exchange), NEW)

    def right_login(self, mechanism: str, username: str = "iggy") -> None:
        bare = f"n={username},r=abc"
        begun = self.begin(mechanism, f"n,,{bare}".encode())
        last = last_message(mechanism, PASSWORDS[username], bare, "n,,", begun.answer)
        assert self.end(mechanism, last.spelled(), begun).logged_in is not None, "a right login"
        self._overheard[mechanism].append(last)
        del self._overheard[mechanism][:-OVERHEARD_MAX]

    def try_once(self) -> SaslStep:
        """The outcome of one login that must not succeed."""
        dice = self._dice
        mechanism = dice.choice(list(HASHES))
        bare, header = "n=iggy,r=abc", "n,,"
        how = dice.randrange(7)
        if how == 0:  # iggy's own first message, changed on the way
            sent = changed_bytes(dice, f"{header}{bare}".encode())
            if sent == f"{header}{bare}".encode():
                return FAILED
        elif how == 1:  # another flag, another identity
            flag, authzid = (
                dice.choice([*FLAGS, "n", "y"]),
                dice.choice(["", "a=ann", "a=", "b=iggy", "iggy"]),
            )
            if (flag, authzid) in (("n", ""), ("y", "")):
                authzid = "a=root"
            sent = f"{flag},{authzid},{bare}".encode()
        elif how == 2:  # somebody else's name
            sent = f"n,,n={dice.choice(NAMES)},r=abc".encode()
        else:
            sent = f"{header}{bare}".encode()
        begun = self.begin(mechanism, sent)
        if begun.fault is not None or begun.exchange is None:
            return begun
        right = last_message(mechanism, PASSWORDS["iggy"], bare, header, begun.answer)
        last = right.spelled()
        if how == 3:  # changed on the way
            last = changed_bytes(dice, last)
            if last == right.spelled():
                return FAILED
        elif how == 4:  # overheard: of another exchange, whole or in part
            old = dice.choice(self._overheard[mechanism])
            last = dice.choice(
                (old, right._replace(proof=old.proof), old._replace(nonce=right.nonce))
            ).spelled()
        elif how == 5:  # a nonce that is not the server's
            nonces = ("abc", "", right.nonce[:-1], f"{right.nonce}x", right.nonce[3:], right.nonce.upper())
            last = right._replace(nonce=dice.choice(nonces)).spelled()
        elif how == 6:  # a wrong password, another binding, an extension that was not signed
            guessed = last_message(mechanism, dice.choice(("secret", "", "Iggy")), bare, header, begun.answer)
            other = right._replace(
                binding=b64encode(dice.choice((b"y,,", b"n,a=x,", b"", b"p=x,,"))).decode()
            )
            signed_less = right._replace(extensions=",x=y")
            last = dice.choice((guessed, other, signed_less)).spelled()
        return self.end(mechanism, last, begun)


@seeded
def test_no_changed_scram_exchange_is_accepted(world: InhabitedWorld, seed: int) -> None:
    attacker = Attacker(world, Random(seed))
    for number in range(amount(3_000, 90_000)):
        if number % (3_000 // CONTROLS) == 0:
            for mechanism in HASHES:
                attacker.right_login(mechanism)
        assert attacker.try_once() == FAILED, f"try {number}"


# -- PLAIN ---------------------------------------------------------------------------------------


@seeded
def test_plain_login_is_accepted_if_it_is_right_and_not_otherwise(world: InhabitedWorld, seed: int) -> None:
    dice = Random(seed)
    for number in range(amount(2_000, 9_000)):
        right = dice.choice((b"\0iggy\0iggy", b"iggy\0iggy\0iggy", b"\0ann\0secret", b"\0iggy\0secret"))
        sent = changed_bytes(dice, right) if number % 20 else right
        parts = sent.split(b"\0")
        expected = (
            len(parts) == 3
            and parts[0] in (b"", parts[1])
            and ((parts[1], parts[2]) in ((b"iggy", b"iggy"), (b"ann", b"secret")))
        )
        step = world.ask(Authenticate("PLAIN", sent), NEW)
        assert (step.logged_in is not None) == expected, sent
        assert expected or step == FAILED, sent


# -- OAUTHBEARER ---------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def provider() -> Provider:
    return Provider()


def trusted(provider: Provider) -> list[bearer_tokens.PublicKey]:
    return [provider.rsa.public_key(), provider.curve.public_key()]


def is_taken(token: str, keys: list[bearer_tokens.PublicKey]) -> bool:
    """Whether a message with this token says something that one of these keys has signed."""
    read = read_message(f"n,,\x01auth=Bearer {token}\x01\x01".encode("utf-8", "surrogateescape"))
    found = None if read is None else bearer_tokens._read_token(read[0])
    return found is not None and bearer_tokens._verified(found, keys) is not None


def forged(provider: Provider, header: dict[str, object], sign: Callable[[bytes], bytes]) -> str:
    claims = {"sub": "root", "exp": time.time() + 600, "iss": "provider", "aud": "trivium"}
    signed = f"{text(json.dumps(header).encode())}.{text(json.dumps(claims).encode())}"
    return f"{signed}.{text(sign(signed.encode()))}"


def test_forged_tokens_are_worth_nothing(provider: Provider) -> None:
    """Each by the name that it has among those who look for holes."""
    public = provider.rsa.public_key().public_numbers()
    stranger = Provider()
    modulus = public.n.to_bytes(256, "big")
    wrong = {
        "alg none": forged(provider, {"alg": "none"}, lambda _: b""),
        "alg None": forged(provider, {"alg": "None"}, lambda _: b""),
        "no alg": forged(provider, {}, lambda _: b""),
        "alg a number": forged(provider, {"alg": 256}, lambda _: b""),
        "HS256 by the public key": forged(
            provider, {"alg": "HS256", "kid": "r"}, lambda data: hmac.digest(modulus, data, "sha256")
        ),
        "HS256 by nothing": forged(provider, {"alg": "HS256"}, lambda data: hmac.digest(b"", data, "sha256")),
        "a key of one's own in the header": forged(
            provider,
            {"alg": "RS256", "jwk": {"kty": "RSA", "n": "AQAB", "e": "AQAB"}, "jku": "http://127.0.0.1/"},
            lambda data: stranger._sign("RS256", data),
        ),
        "a stranger's key": stranger.token("RS256"),
        "a stranger's curve": stranger.token("ES256"),
        "RSA for a curve": forged(provider, {"alg": "ES256"}, lambda data: provider._sign("RS256", data)),
        "a curve for RSA": forged(provider, {"alg": "RS256"}, lambda data: provider._sign("ES256", data)),
        "a zero signature": forged(provider, {"alg": "ES256"}, lambda _: bytes(64)),
        "something critical": forged(
            provider, {"alg": "RS256", "crit": ["b64"], "b64": False}, lambda d: provider._sign("RS256", d)
        ),
    }
    assert [name for name, token in wrong.items() if is_taken(token, trusted(provider))] == []
    for algorithm in ("RS256", "PS256", "ES256"):
        assert is_taken(provider.token(algorithm), trusted(provider)), algorithm


@seeded
def test_no_changed_token_is_worth_anything(provider: Provider, seed: int) -> None:
    dice, keys = Random(seed), trusted(provider)
    tokens = [provider.token(algorithm) for algorithm in ("RS256", "PS256", "ES256")]
    for number in range(amount(300, 1_000)):
        right = dice.choice(tokens)
        wrong = changed_bytes(dice, right.encode()).decode("utf-8", "surrogateescape")
        if number % CONTROLS == 0:
            assert is_taken(right, keys)
        assert same_signature(right, wrong) or not is_taken(wrong, keys), wrong


def same_signature(right: str, wrong: str) -> bool:
    """Whether it says the same, spelled otherwise: of the last letter of base64 some bits do not count."""
    found = bearer_tokens._read_token(wrong)
    return found is not None and found == bearer_tokens._read_token(right)
