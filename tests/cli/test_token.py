"""``trivium token`` (mission 003.36): delegation tokens of the users of a node."""

from collections.abc import Iterator

import pytest
from tests.cli.commands import complaint, facts, misuse, output
from tests.clients.certificates import Certified, certified

from trivium.testing.broker import Broker

PASSWORD = "first-password"


@pytest.fixture(scope="module")
def certificates() -> Iterator[Certified]:
    with certified() as made:
        yield made


@pytest.fixture(scope="module")
def broker(certificates: Certified) -> Iterator[Broker]:
    settings = certificates.settings | {
        "listen.kafka": "SASL_SSL://127.0.0.1:0",
        "iggy.root.username": "admin",
        "iggy.root.password": PASSWORD,
        "access.anonymous": "deny",
        "delegation.token.secret.key": "a secret of the node",
    }
    with Broker(settings=settings) as made:
        yield made


@pytest.fixture(autouse=True)
def environment(broker: Broker, certificates: Certified, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRIVIUM_BROKER", broker.bootstrap)
    monkeypatch.setenv("TRIVIUM_TLS_CA", str(certificates.ca))
    monkeypatch.setenv("TRIVIUM_USER", "admin")
    monkeypatch.setenv("TRIVIUM_PASSWORD", PASSWORD)


def test_token_is_made_listed_renewed_and_ended() -> None:
    made = facts("token", "create", "--renewer", "User:scheduler", "--hours", "48")
    (listed,) = [each for each in facts("token", "list") if each["token_id"] == made["token_id"]]
    assert (listed["owner"], listed["renewers"]) == ("User:admin", ["User:scheduler"])
    assert made["secret"] not in output("token", "list")
    assert "renewed" in output("token", "renew", "--hours", "1", stdin=f"{made['secret']}\n".encode())
    (renewed,) = facts("token", "list", "--owner", "User:admin")
    assert renewed["expiry_timestamp"] < listed["expiry_timestamp"]
    assert "ended" in output("token", "expire", made["secret"])
    assert facts("token", "list") == []


def test_token_is_shown_for_people_with_its_secret_once() -> None:
    shown = dict(line.split() for line in output("token", "create").splitlines())
    assert list(shown) == ["id", "secret"]
    assert shown["id"] in output("token", "list")
    output("token", "expire", shown["secret"])


def test_what_cannot_be_done_is_one_sentence() -> None:
    assert "trivium token create" in misuse("token", "renew", "no secret")
    assert "There is no such token" in complaint("token", "expire", "bm9ib2R5")
    assert "User:ann" in misuse("token", "create", "--owner", "ann")


def test_node_without_a_key_for_tokens_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    with Broker() as plain:
        monkeypatch.delenv("TRIVIUM_TLS_CA")
        monkeypatch.delenv("TRIVIUM_USER")
        monkeypatch.delenv("TRIVIUM_PASSWORD")
        assert "token" in complaint("token", "create", "--broker", plain.bootstrap)
