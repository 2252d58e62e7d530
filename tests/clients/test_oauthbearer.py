"""OAUTHBEARER by the clients that people use, against keys in a file."""

import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka.admin import AdminClient

from tests.clients.bearer import Provider, text
from tests.clients.clients import LIBRDKAFKA
from tests.server.wire import Peer
from trivium.messages.api import ApiKey
from trivium.messages.api.sasl_authenticate import SaslAuthenticateRequest, SaslAuthenticateResponse
from trivium.messages.api.sasl_handshake import SaslHandshakeRequest
from trivium.messages.errors import ErrorCode
from trivium.testing.broker import Broker


@pytest.fixture(scope="module")
def provider() -> Provider:
    return Provider()


@pytest.fixture(scope="module")
def broker(provider: Provider, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    keys: Path = tmp_path_factory.mktemp("keys") / "jwks.json"
    provider.write(keys)
    settings = {
        "listen.kafka": "SASL_PLAINTEXT://127.0.0.1:0",
        "sasl.oauthbearer.jwks.endpoint.url": f"file://{keys}",
        "sasl.oauthbearer.expected.audience": "trivium",
        "sasl.oauthbearer.expected.issuer": "provider",
        "iggy.root.username": "ann",
        "iggy.root.password": "secret",
    }
    with Broker(settings=settings) as made:
        yield made


def answer_to(broker: Broker, token: str) -> SaslAuthenticateResponse:
    with Peer(broker.bootstrap) as peer:
        peer.ask(SaslHandshakeRequest(mechanism="OAUTHBEARER"), 1)
        peer.answer(ApiKey.SASL_HANDSHAKE, 1)
        peer.ask(SaslAuthenticateRequest(auth_bytes=f"n,,\x01auth=Bearer {token}\x01\x01".encode()), 2)
        answer = peer.answer(ApiKey.SASL_AUTHENTICATE, 2)[1]
        assert isinstance(answer, SaslAuthenticateResponse)
        return answer


@pytest.mark.parametrize("algorithm", ["RS256", "PS256", "ES256"])
def test_signed_token_lets_its_bearer_in_for_as_long_as_it_counts(
    broker: Broker, provider: Provider, algorithm: str
) -> None:
    answer = answer_to(broker, provider.token(algorithm))
    assert answer.error_code == ErrorCode.NONE
    assert 0 < answer.session_lifetime_ms <= 600_000


def test_token_that_is_not_to_be_trusted_lets_nobody_in(broker: Broker, provider: Provider) -> None:
    """S8: unsigned, by another, for another, expired, changed, by a key of the wrong kind."""
    good = provider.token()
    head, claims, signature = good.split(".")
    forged = text(
        json.dumps({"sub": "root", "exp": time.time() + 600, "iss": "provider", "aud": "trivium"}).encode()
    )
    wrong = [
        provider.token("none"),
        Provider().token(),
        provider.token(exp=time.time() - 3600),
        provider.token(aud="other"),
        provider.token(iss="other"),
        provider.token("RS256", key_id="e"),
        provider.token("ES256", key_id="r"),
        provider.token("HS256"),
        provider.token(key_id="o"),
        provider.token(key_id="unknown"),
        f"{head}.{forged}.{signature}",
        f"{head}.{claims}.",
        f"{head}.{claims}",
        "a.b.c",
    ]
    for token in wrong:
        assert answer_to(broker, token).error_code == ErrorCode.SASL_AUTHENTICATION_FAILED, token


def test_librdkafka_logs_in_by_a_token(broker: Broker, provider: Provider) -> None:
    def token(_config: str) -> tuple[str, float]:
        return provider.token(), time.time() + 600

    options = {
        "bootstrap.servers": broker.bootstrap,
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": "OAUTHBEARER",
        "oauth_cb": token,
        **LIBRDKAFKA,
    }
    admin = AdminClient(options)
    admin.poll(0)
    assert admin.list_topics(timeout=20).brokers
