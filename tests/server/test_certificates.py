"""Certificates of listeners: read, renewed, refused (mission 003.21)."""

import ssl
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from tests.clients.certificates import Certified, certified
from trivium.server.certificates import LOOK_SECONDS, Certificates
from trivium.server.configuration.configuration import Listener, Protocol
from trivium.server.configuration.errors import ConfigurationError
from trivium.server.configuration.loading import load
from trivium.server.configuration.security import ClientAuth, SecurityProtocol, Tls
from trivium.server.listeners import CannotListen


@pytest.fixture
def certificates() -> Iterator[Certified]:
    with certified() as made:
        yield made


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def listener(**settings: Any) -> Listener:
    flags = {"listen.kafka": "SSL://127.0.0.1:1"} | {name: str(value) for name, value in settings.items()}
    (found,) = load(flags=flags).listeners_of(Protocol.KAFKA)
    return found


def tls(**settings: Any) -> Tls:
    found = listener(**settings).tls
    assert found is not None
    return found


def served(context: ssl.SSLContext, trusted: Path) -> dict[str, Any] | None:
    """The certificate that a client is shown."""
    to_client, to_server = ssl.MemoryBIO(), ssl.MemoryBIO()
    client = ssl.create_default_context(cafile=str(trusted)).wrap_bio(
        to_client, to_server, server_hostname="localhost"
    )
    server = context.wrap_bio(to_server, to_client, server_side=True)
    for _ in range(3):
        for side in (client, server):
            with suppress(ssl.SSLWantReadError):
                side.do_handshake()
    return client.getpeercert()


def serial(context: ssl.SSLContext, trusted: Path) -> str:
    shown = served(context, trusted)
    assert shown is not None
    return str(shown["serialNumber"])


def test_new_files_count_for_the_next_connection(certificates: Certified) -> None:
    clock = Clock()
    watched = Certificates(tls(**certificates.settings), clock)
    first = serial(watched.context(), certificates.ca)
    console = watched.renewing_context()
    certificates.authority.server_pair(["localhost"])
    assert serial(watched.context(), certificates.ca) == first, "not looked at every time"
    clock.now = LOOK_SECONDS
    second = serial(watched.context(), certificates.ca)
    assert second != first
    assert serial(console, certificates.ca) == second


def test_files_that_do_not_fit_change_nothing(certificates: Certified) -> None:
    clock = Clock()
    watched = Certificates(tls(**certificates.settings), clock)
    first = serial(watched.context(), certificates.ca)
    key = certificates.server.key.read_text()
    certificates.server.key.write_text("half a key")
    clock.now = LOOK_SECONDS
    assert serial(watched.context(), certificates.ca) == first
    certificates.server.key.unlink()
    clock.now = 2 * LOOK_SECONDS
    assert serial(watched.context(), certificates.ca) == first
    certificates.server.key.write_text(key)
    clock.now = 3 * LOOK_SECONDS
    assert serial(watched.context(), certificates.ca) == first


def test_certificate_may_be_text_as_kafka_writes_it(certificates: Certified) -> None:
    settings = {
        "ssl.keystore.type": "PEM",
        "ssl.keystore.certificate.chain": certificates.server.certificate.read_text(),
        "ssl.keystore.key": certificates.server.key.read_text(),
    }
    found = tls(**settings)
    assert serial(Certificates(found, Clock()).context(), certificates.ca)
    assert "BEGIN" not in repr(found), "S15"


def test_one_file_may_have_both_as_with_kafka(certificates: Certified, tmp_path: Path) -> None:
    store = tmp_path / "server.pem"
    store.write_bytes(certificates.server.key.read_bytes() + certificates.server.certificate.read_bytes())
    settings = {"ssl.keystore.location": store, "ssl.keystore.type": "PEM"}
    assert serial(Certificates(tls(**settings), Clock()).context(), certificates.ca)
    own = {f"listener.name.ssl.{name}": value for name, value in settings.items()}
    assert serial(Certificates(tls(**own), Clock()).context(), certificates.ca)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (None, "cannot be read: No such file"),
        (b"\xfe\xed\xfe\xed", "is no PEM file; one of Java's becomes one by: openssl pkcs12 -in"),
    ],
)
def test_certificate_that_is_none_is_told_in_a_sentence(
    certificates: Certified, tmp_path: Path, content: bytes | None, sentence: str
) -> None:
    path = tmp_path / "store.jks"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(CannotListen, match=sentence):
        Certificates(tls(**{"ssl.keystore.location": path}), Clock())


def test_key_of_another_certificate_is_told_in_a_sentence(certificates: Certified) -> None:
    settings = certificates.settings | {"tls.key": certificates.authority.pair.key}
    with pytest.raises(CannotListen, match="does not belong to the certificate"):
        Certificates(tls(**settings), Clock())


def test_old_tls_is_not_spoken(certificates: Certified) -> None:
    context = Certificates(tls(**certificates.settings, **{"tls.min-version": "1.3"}), Clock()).context()
    assert context.minimum_version == ssl.TLSVersion.TLSv1_3
    older = {"ssl.enabled.protocols": "TLSv1,TLSv1.1,TLSv1.2"}
    context = Certificates(tls(**certificates.settings, **older), Clock()).context()
    assert context.minimum_version == context.maximum_version == ssl.TLSVersion.TLSv1_2
    with pytest.raises(ConfigurationError, match="no version that is safe"):
        tls(**certificates.settings, **{"ssl.enabled.protocols": "TLSv1.1"})


def test_ciphers_are_chosen_by_the_names_of_the_standard(certificates: Certified) -> None:
    suites = {"ssl.cipher.suites": "TLS_AES_128_GCM_SHA256,TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384"}
    context = Certificates(tls(**certificates.settings, **suites), Clock()).context()
    older = [cipher["name"] for cipher in context.get_ciphers() if cipher["protocol"] == "TLSv1.2"]
    assert older == ["ECDHE-ECDSA-AES256-GCM-SHA384"]


def test_asking_for_certificates_needs_an_authority(certificates: Certified) -> None:
    with pytest.raises(ConfigurationError, match=r"set tls.client-ca"):
        tls(**certificates.settings, **{"ssl.client.auth": "required"})
    found = tls(
        **certificates.settings,
        **{"ssl.client.auth": "required", "ssl.truststore.location": certificates.ca},
    )
    assert found.client_auth is ClientAuth.REQUIRED


@pytest.mark.parametrize(
    ("text", "security"),
    [
        ("127.0.0.1:1", SecurityProtocol.PLAINTEXT),
        ("plaintext://127.0.0.1:1", SecurityProtocol.PLAINTEXT),
        ("tls://127.0.0.1:1", SecurityProtocol.SSL),
        ("ssl://127.0.0.1:1", SecurityProtocol.SSL),
    ],
)
def test_security_is_written_before_the_address(
    certificates: Certified, text: str, security: SecurityProtocol
) -> None:
    found = listener(**certificates.settings, **{"listen.kafka": text})
    assert (found.security, found.name) == (security, security.name)


def test_unknown_word_before_an_address_is_refused() -> None:
    with pytest.raises(ConfigurationError, match=r"it takes tls:// or nothing"):
        load(flags={"listen.iggy": "SASL_SSL://127.0.0.1:1"})
