"""Logging in by SASL, by the clients that people use (mission 003.20, 003.36, 004.25)."""

import logging
from collections.abc import Iterator

import pytest
from confluent_kafka.admin import (
    AdminClient,
    ScramCredentialInfo,
    ScramMechanism,
    UserScramCredentialDeletion,
    UserScramCredentialUpsertion,
)

from tests.clients.certificates import Certified, certified
from tests.clients.secured import TRIPS, Refused, Secured, Trip, confluent_options
from trivium.testing.broker import Broker

MECHANISMS = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512")
VALUES = [b"one", bytes(100_000)]
CANARY = "canary-7f3a"


@pytest.fixture(scope="module")
def certificates() -> Iterator[Certified]:
    with certified() as made:
        yield made


@pytest.fixture(scope="module")
def broker(certificates: Certified) -> Iterator[Broker]:
    settings = certificates.settings | {
        "listen.kafka": "SASL_SSL://127.0.0.1:0",
        "iggy.root.username": "admin",
        "iggy.root.password": CANARY,
        "logging.level": "debug",
    }
    with Broker(settings=settings) as made:
        yield made


def secured(certificates: Certified, mechanism: str, username: str, password: str) -> Secured:
    return Secured("SASL_SSL", certificates.ca, mechanism=mechanism, username=username, password=password)


@pytest.fixture(params=list(TRIPS.values()), ids=list(TRIPS))
def trip(request: pytest.FixtureRequest) -> Trip:
    made: Trip = request.param
    return made


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_client_that_logs_in_is_served(
    broker: Broker, certificates: Certified, trip: Trip, mechanism: str, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG, "trivium"):
        values = trip(
            broker.bootstrap,
            secured(certificates, mechanism, "admin", CANARY),
            f"{trip.__name__}-{mechanism}",
            VALUES,
        )
    assert values == VALUES
    assert CANARY not in repr([vars(record) for record in caplog.records]), "S15"


@pytest.mark.parametrize("name", ["confluent-kafka", "aiokafka"])
@pytest.mark.parametrize("mechanism", MECHANISMS)
@pytest.mark.parametrize(("username", "password"), [("admin", "wrong"), ("nobody", CANARY)])
def test_client_with_a_wrong_name_or_password_is_not(
    broker: Broker, certificates: Certified, name: str, mechanism: str, username: str, password: str
) -> None:
    with pytest.raises(Refused):
        TRIPS[name](broker.bootstrap, secured(certificates, mechanism, username, password), "t", VALUES)


def test_credentials_are_given_and_taken_by_kafkas_api(broker: Broker, certificates: Certified) -> None:
    admin = AdminClient(confluent_options(broker.bootstrap, secured(certificates, "PLAIN", "admin", CANARY)))
    info = ScramCredentialInfo(ScramMechanism.SCRAM_SHA_256, 4096)
    upsertion = UserScramCredentialUpsertion("app", info, b"app-password")
    for future in admin.alter_user_scram_credentials([upsertion], request_timeout=20).values():
        future.result()
    futures = admin.describe_user_scram_credentials(["app"], request_timeout=20)
    assert isinstance(futures, dict)
    described = futures["app"].result()
    assert [(each.mechanism, each.iterations) for each in described.scram_credential_infos] == [
        (ScramMechanism.SCRAM_SHA_256, 4096)
    ]
    app = secured(certificates, "SCRAM-SHA-256", "app", "app-password")
    assert TRIPS["confluent-kafka"](broker.bootstrap, app, "by-app", VALUES) == VALUES
    deletion = UserScramCredentialDeletion("app", ScramMechanism.SCRAM_SHA_256)
    for future in admin.alter_user_scram_credentials([deletion], request_timeout=20).values():
        future.result()
    with pytest.raises(Refused):
        TRIPS["confluent-kafka"](broker.bootstrap, app, "by-app", VALUES)


def test_front_door_of_this_machine_lets_clients_log_in_or_not() -> None:
    settings = {"listen.iggy": "127.0.0.1:0", "iggy.root.username": "admin", "iggy.root.password": "secret"}
    with Broker(settings=settings) as broker:
        trip = TRIPS["confluent-kafka"]
        assert trip(broker.bootstrap, Secured(), "t", VALUES) == VALUES
        admin = Secured("SASL_PLAINTEXT", mechanism="SCRAM-SHA-512", username="admin", password="secret")
        assert trip(broker.bootstrap, admin, "u", VALUES) == VALUES
        wrong = Secured("SASL_PLAINTEXT", mechanism="PLAIN", username="admin", password="wrong")
        with pytest.raises(Refused):
            trip(broker.bootstrap, wrong, "u", VALUES)
