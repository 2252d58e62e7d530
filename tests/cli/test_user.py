"""``trivium user``, and the options by which every command logs in (mission 003.20, 003.36)."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.cli.commands import complaint, facts, misuse, output, run
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
    }
    with Broker(settings=settings) as made:
        yield made


@pytest.fixture(autouse=True)
def environment(broker: Broker, certificates: Certified, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRIVIUM_BROKER", broker.bootstrap)
    monkeypatch.setenv("TRIVIUM_TLS_CA", str(certificates.ca))
    monkeypatch.setenv("TRIVIUM_USER", "admin")
    monkeypatch.setenv("TRIVIUM_PASSWORD", PASSWORD)


def test_user_comes_works_and_goes(monkeypatch: pytest.MonkeyPatch) -> None:
    password = output("user", "add", "orders", "--rights", "write", "--random").strip()
    assert [user["name"] for user in facts("user", "list")] == ["admin", "orders"]
    assert "orders" in output("user", "list")
    output("topic", "create", "from-orders")
    with monkeypatch.context() as as_orders:
        as_orders.setenv("TRIVIUM_USER", "orders")
        as_orders.setenv("TRIVIUM_PASSWORD", password)
        output("produce", "from-orders", stdin=b"hello\n")
        assert output("consume", "from-orders") == "hello\n"
        assert "not" in complaint("user", "add", "more", "--random").lower()
    output("user", "password", "orders", "--password-stdin", stdin=b"another-password\n")
    with monkeypatch.context() as as_orders:
        as_orders.setenv("TRIVIUM_USER", "orders")
        as_orders.setenv("TRIVIUM_PASSWORD", password)
        assert "check the user name and the password" in complaint("topic", "list")
    output("user", "remove", "orders", "--yes")
    assert [user["name"] for user in facts("user", "list")] == ["admin"]


@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"])
def test_every_mechanism_may_be_asked_for(mechanism: str) -> None:
    assert facts("user", "list", "--mechanism", mechanism)


def test_password_may_be_in_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TRIVIUM_PASSWORD")
    path = tmp_path / "password"
    path.write_text(f"{PASSWORD}\n")
    assert facts("user", "list", "--password-file", str(path))
    assert "cannot be read" in misuse("user", "list", "--password-file", str(tmp_path / "none"))
    assert "TRIVIUM_PASSWORD" in misuse("user", "list")


def test_what_cannot_be_done_is_one_sentence() -> None:
    assert "already" in complaint("user", "add", "admin", "--random")
    assert "no user of that name" in complaint("user", "remove", "nobody", "--yes")
    assert "stays" in complaint("user", "remove", "admin", "--yes")
    assert "3 to 50 bytes" in complaint("user", "add", "x", "--random")
    assert "--password-stdin or --random" in misuse("user", "add", "orders")


def test_own_password_is_changed_by_the_one_that_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    output("user", "password", "admin", "--password-stdin", stdin=b"second-password\n")
    monkeypatch.setenv("TRIVIUM_PASSWORD", "second-password")
    output("user", "password", "admin", "--password-stdin", stdin=f"{PASSWORD}\n".encode())


def test_authority_that_is_not_trusted_is_told_in_a_sentence(tmp_path: Path) -> None:
    with certified() as others:
        assert "is not to be trusted" in complaint("topic", "list", "--tls-ca", str(others.ca))
    assert "cannot be used" in complaint("topic", "list", "--tls-ca", str(tmp_path / "none.pem"))


def test_password_is_not_sent_where_others_can_read_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TRIVIUM_TLS_CA")
    result = run("user", "add", "orders", "--random", "--broker", "192.0.2.1:9092")
    assert result.exit_code == 2
    assert "for everybody to read" in result.stderr
