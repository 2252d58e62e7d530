"""Delegation tokens over Kafka's protocol, on a real broker (mission 003.8)."""

from base64 import b64encode

from tests.core.users.scram_client import ScramClient
from tests.server.wire import Peer
from trivium.messages.api import ApiKey
from trivium.messages.api.create_delegation_token import (
    CreatableRenewers,
    CreateDelegationTokenRequest,
    CreateDelegationTokenResponse,
)
from trivium.messages.api.describe_delegation_token import (
    DescribeDelegationTokenRequest,
    DescribeDelegationTokenResponse,
)
from trivium.messages.api.expire_delegation_token import (
    ExpireDelegationTokenRequest,
    ExpireDelegationTokenResponse,
)
from trivium.messages.api.renew_delegation_token import (
    RenewDelegationTokenRequest,
    RenewDelegationTokenResponse,
)
from trivium.messages.api.sasl_authenticate import SaslAuthenticateRequest, SaslAuthenticateResponse
from trivium.messages.api.sasl_handshake import SaslHandshakeRequest
from trivium.messages.errors import ErrorCode
from trivium.messages.schema import Request, Response
from trivium.testing.broker import Broker

SETTINGS = {
    "listen.kafka": "SASL_PLAINTEXT://127.0.0.1:0",
    "iggy.root.username": "admin",
    "iggy.root.password": "secret",
}


def ask(peer: Peer, request: Request, version: int) -> Response:
    peer.ask(request, version)
    return peer.answer(ApiKey(request.API_KEY), version)[1]


def say(peer: Peer, message: bytes) -> SaslAuthenticateResponse:
    answer = ask(peer, SaslAuthenticateRequest(auth_bytes=message), 2)
    assert isinstance(answer, SaslAuthenticateResponse)
    return answer


def log_in(peer: Peer) -> None:
    ask(peer, SaslHandshakeRequest(mechanism="PLAIN"), 1)
    assert say(peer, b"\0admin\0secret").error_code == ErrorCode.NONE


def create() -> CreateDelegationTokenRequest:
    renewers = [CreatableRenewers(principal_type="User", principal_name="ann")]
    return CreateDelegationTokenRequest(renewers=renewers, max_lifetime_ms=-1)


def test_token_is_made_used_renewed_and_ended() -> None:
    settings = SETTINGS | {"delegation.token.secret.key": "key"}
    with Broker(settings=settings) as broker, Peer(broker.bootstrap) as admin:
        log_in(admin)
        made = ask(admin, create(), 3)
        assert isinstance(made, CreateDelegationTokenResponse)
        assert (made.error_code, made.principal_name) == (ErrorCode.NONE, "admin")
        described = ask(admin, DescribeDelegationTokenRequest(owners=None), 3)
        assert isinstance(described, DescribeDelegationTokenResponse)
        assert [(token.token_id, token.hmac) for token in described.tokens] == [(made.token_id, made.hmac)]
        with Peer(broker.bootstrap) as bearer:
            password = b64encode(made.hmac).decode()
            client = ScramClient("sha512", made.token_id, password, extensions=",tokenauth=true")
            ask(bearer, SaslHandshakeRequest(mechanism="SCRAM-SHA-512"), 1)
            last = say(bearer, client.final(say(bearer, client.first()).auth_bytes))
            assert (last.error_code, last.auth_bytes) == (ErrorCode.NONE, client.signature)
            assert 0 < last.session_lifetime_ms <= 86_400_000
            refused = ask(bearer, create(), 3)
            assert isinstance(refused, CreateDelegationTokenResponse)
            assert refused.error_code == ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED
        renewed = ask(admin, RenewDelegationTokenRequest(hmac=made.hmac, renew_period_ms=1000), 2)
        assert isinstance(renewed, RenewDelegationTokenResponse)
        assert renewed.error_code == ErrorCode.NONE
        expired = ask(admin, ExpireDelegationTokenRequest(hmac=made.hmac, expiry_time_period_ms=-1), 2)
        assert isinstance(expired, ExpireDelegationTokenResponse)
        assert expired.error_code == ErrorCode.NONE


def test_without_a_key_there_are_no_tokens() -> None:
    with Broker(settings=SETTINGS) as broker, Peer(broker.bootstrap) as admin:
        log_in(admin)
        answer = ask(admin, create(), 1)
        assert isinstance(answer, CreateDelegationTokenResponse)
        assert answer.error_code == ErrorCode.DELEGATION_TOKEN_AUTH_DISABLED
