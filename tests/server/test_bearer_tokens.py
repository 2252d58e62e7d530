"""Keys of tokens are read in a thread of their own: a slow URL holds up nobody whose key is known (S17)."""

import asyncio
import json
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar

import pytest
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature

from tests.clients.bearer import number, text
from tests.core.mistakes import Mistakes, asking, loose
from trivium.server import bearer_tokens as module
from trivium.server.bearer_tokens import JwksTokens

SECONDS_MAX = 60
HOUR_MS = 3_600_000


class Issuer:
    """Somebody with one key, who signs."""

    def __init__(self, key_id: str) -> None:
        self._key_id = key_id
        self._key = ec.generate_private_key(ec.SECP256R1())
        point = self._key.public_key().public_numbers()
        self.jwk = {"kty": "EC", "kid": key_id, "crv": "P-256", "x": number(point.x), "y": number(point.y)}

    def token(self, **claims: object) -> str:
        header = {"alg": "ES256", "kid": self._key_id}
        signed = f"{text(json.dumps(header).encode())}.{text(json.dumps(claims).encode())}"
        r, s = decode_dss_signature(self._key.sign(signed.encode(), ec.ECDSA(hashes.SHA256())))
        return f"{signed}.{text(r.to_bytes(32, 'big') + s.to_bytes(32, 'big'))}"


class Endpoint(BaseHTTPRequestHandler):
    """Serves ``keys`` while ``gate`` is open, and counts how often it was asked."""

    keys: ClassVar[dict[str, Any]]
    gate: ClassVar[threading.Event]
    asked: ClassVar[int]

    def do_GET(self) -> None:
        kind = type(self)
        kind.asked += 1
        kind.gate.wait(SECONDS_MAX)
        body = json.dumps(kind.keys).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *arguments: object) -> None:  # noqa: A002 - its name is the library's
        pass


@contextmanager
def serving(*issuers: Issuer) -> Iterator[tuple[str, type[Endpoint]]]:
    class AnEndpoint(Endpoint):
        keys: ClassVar = {"keys": [each.jwk for each in issuers]}
        gate: ClassVar = threading.Event()
        asked: ClassVar = 0

    endpoint = AnEndpoint
    endpoint.gate.set()
    server = ThreadingHTTPServer(("127.0.0.1", 0), endpoint)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/keys", endpoint
    finally:
        endpoint.gate.set()
        server.shutdown()
        thread.join(SECONDS_MAX)
        server.server_close()


class Bearers:
    def __init__(self, source: str) -> None:
        self._loop = asyncio.get_running_loop()
        self.tokens = JwksTokens(self._loop, source, HOUR_MS)

    def ask(self, token: str) -> "asyncio.Future[Any]":
        told: asyncio.Future[Any] = self._loop.create_future()
        self.tokens.claims(token, told.set_result)
        return told


def with_bearers(source: str, scenario: Callable[[Bearers], Awaitable[None]]) -> None:
    async def run() -> None:
        bearers = Bearers(source)
        try:
            await asyncio.wait_for(scenario(bearers), SECONDS_MAX)
        finally:
            await asyncio.to_thread(bearers.tokens.close)

    asyncio.run(run())


def test_tokens_wait_for_the_first_keys_which_are_read_once() -> None:
    issuer = Issuer("one")
    with serving(issuer) as (url, endpoint):

        async def scenario(bearers: Bearers) -> None:
            asked = [bearers.ask(issuer.token(sub=f"user-{number}")) for number in range(20)]
            assert [each["sub"] for each in await asyncio.gather(*asked)] == [f"user-{n}" for n in range(20)]

        with_bearers(url, scenario)
        assert endpoint.asked == 1


def test_slow_url_holds_up_no_token_of_a_known_key(monkeypatch: pytest.MonkeyPatch) -> None:
    known, unknown = Issuer("known"), Issuer("unknown")
    monkeypatch.setattr(module, "RELOAD_SECONDS_MIN", 0.0)
    with serving(known) as (url, endpoint):

        async def scenario(bearers: Bearers) -> None:
            assert await bearers.ask(known.token(sub="ann")) is not None
            endpoint.gate.clear()
            stranger = bearers.ask(unknown.token(sub="eve"))
            assert (await bearers.ask(known.token(sub="ann")))["sub"] == "ann"
            assert not stranger.done()
            endpoint.gate.set()
            assert await stranger is None

        with_bearers(url, scenario)


def test_new_key_is_found_when_a_token_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    old, new = Issuer("old"), Issuer("new")
    monkeypatch.setattr(module, "RELOAD_SECONDS_MIN", 0.0)
    with serving(old) as (url, endpoint):

        async def scenario(bearers: Bearers) -> None:
            assert await bearers.ask(old.token(sub="ann")) is not None
            endpoint.keys = {"keys": [new.jwk]}
            assert (await bearers.ask(new.token(sub="ann")))["sub"] == "ann"
            assert await bearers.ask(old.token(sub="ann")) is None

        with_bearers(url, scenario)


def test_token_waits_for_keys_no_longer_than_its_deadline(monkeypatch: pytest.MonkeyPatch) -> None:
    issuer = Issuer("one")
    monkeypatch.setattr(module, "WAIT_SECONDS_MAX", 0.0)
    with serving(issuer) as (url, endpoint):
        endpoint.gate.clear()

        async def scenario(bearers: Bearers) -> None:
            assert await bearers.ask(issuer.token(sub="ann")) is None
            endpoint.gate.set()

        with_bearers(url, scenario)


def test_more_tokens_than_may_wait_are_refused_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    issuer = Issuer("one")
    monkeypatch.setattr(module, "WAITING_MAX", 3)
    with serving(issuer) as (url, endpoint):
        endpoint.gate.clear()

        async def scenario(bearers: Bearers) -> None:
            waiting = [bearers.ask(issuer.token(sub="ann")) for _ in range(3)]
            refused = bearers.ask(issuer.token(sub="ann"))
            assert refused.done()
            assert refused.result() is None
            endpoint.gate.set()
            assert all(await asyncio.gather(*waiting))

        with_bearers(url, scenario)


def test_keys_that_cannot_be_read_leave_the_known_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    issuer, stranger = Issuer("one"), Issuer("another")
    monkeypatch.setattr(module, "RELOAD_SECONDS_MIN", 0.0)
    with serving(issuer) as (url, endpoint):

        async def scenario(bearers: Bearers) -> None:
            assert await bearers.ask(issuer.token(sub="ann")) is not None
            endpoint.keys = {"no": "keys"}
            assert await bearers.ask(stranger.token(sub="eve")) is None
            assert await bearers.ask(issuer.token(sub="ann")) is not None

        with_bearers(url, scenario)


def test_mistake_in_a_check_ends_who_has_shown_the_token_and_not_who_has_asked_for_the_keys(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    issuer = Issuer("one")
    check = module._verified

    def broken_for_ben(token: Any, keys: Any) -> Any:
        claims = check(token, keys)
        return loose() if claims is not None and claims["sub"] == "ben" else claims

    monkeypatch.setattr(module, "_verified", broken_for_ben)
    with serving(issuer) as (url, endpoint):
        endpoint.gate.clear()

        async def scenario(bearers: Bearers) -> None:
            ann, ben = Mistakes(), Mistakes()
            with asking(ann, "LogIn"):
                of_ann = bearers.ask(issuer.token(sub="ann"))
            with asking(ben, "LogIn"):
                bearers.ask(issuer.token(sub="ben"))
            endpoint.gate.set()
            assert await of_ann is not None
            assert await bearers.ask(issuer.token(sub="eve")) is not None
            assert (ann.found, ben.found) == ([], [("LogIn", "a bolt is loose")])

        with_bearers(url, scenario)
