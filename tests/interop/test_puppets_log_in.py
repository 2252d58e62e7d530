"""Clients of other languages behind a login: five generations of Java, KafkaJS, franz-go (003.20, 003.21)."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.clients.certificates import Certified, certified
from tests.interop.kafka import Unavailable
from tests.interop.puppets import PUPPETS, Kind, Puppet, Refused
from tests.server.serving import Served

pytestmark = pytest.mark.interop

MECHANISMS = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512")
WITHOUT_PEM = ("java-2.1.1",)
"""They read stores of Java's only, and come in without TLS."""


@pytest.fixture(scope="module")
def certificates() -> Iterator[Certified]:
    with certified() as made:
        yield made


@pytest.fixture(scope="module")
def brokers(certificates: Certified, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Served]]:
    """One behind TLS and one without, by the word before the address."""
    settings = {
        **certificates.settings,
        "iggy.root.username": "admin",
        "iggy.root.password": "admin-password",
        "sasl.enabled.mechanisms": ",".join(MECHANISMS),
    }
    flags = [word for name, value in settings.items() for word in ("--set", f"{name}={value}")]

    def served(protocol: str) -> Served:
        return Served(tmp_path_factory.mktemp(protocol), "--kafka", f"{protocol}://127.0.0.1:0", *flags)

    with served("SASL_SSL") as encrypted, served("SASL_PLAINTEXT") as plain:
        yield {"SASL_SSL": encrypted, "SASL_PLAINTEXT": plain}


@pytest.fixture(params=PUPPETS.values(), ids=list(PUPPETS))
def kind(request: pytest.FixtureRequest) -> Kind:
    kind: Kind = request.param
    try:
        kind.prepare()
    except Unavailable as reason:
        pytest.skip(str(reason))
    return kind


@pytest.fixture
def broker(
    kind: Kind, brokers: dict[str, Served], certificates: Certified, monkeypatch: pytest.MonkeyPatch
) -> Served:
    if kind.name in WITHOUT_PEM:
        return brokers["SASL_PLAINTEXT"]
    monkeypatch.setenv("PUPPET_CA", str(certificates.ca))
    return brokers["SASL_SSL"]


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_client_writes_and_reads_behind_a_login(
    kind: Kind, broker: Served, mechanism: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PUPPET_LOGIN", f"{mechanism} admin admin-password")
    topic = f"{kind.name}-{mechanism}"
    with Puppet(kind, broker.bootstrap, tmp_path) as client:
        client.ask("create-topic", topic, 1)
        assert client.ask("produce", topic, 0, "none", 0, 3, 10) == [0, 1, 2]
        assert [record[0] for record in client.ask("consume", topic, 0, 0, 3)] == [0, 1, 2]


def test_client_with_a_wrong_password_is_refused(
    kind: Kind, broker: Served, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PUPPET_LOGIN", "SCRAM-SHA-512 admin wrong")
    with Puppet(kind, broker.bootstrap, tmp_path) as client, pytest.raises(Refused) as refused:
        client.ask("topics")
    assert "uthentication failed" in str(refused.value)
