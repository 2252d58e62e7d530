"""``trivium serve --secure``: what it makes of a configuration."""

from pathlib import Path

import pytest

from trivium.cli.secure import ADMINISTRATOR, load_secured
from trivium.core.access import Anonymous
from trivium.server.configuration.configuration import Protocol
from trivium.server.configuration.security import SecurityProtocol


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_everything_is_encrypted_and_nobody_comes_in_without_a_login(here: Path) -> None:
    secured = load_secured(None, {}, {"listen.kafka": "127.0.0.1:1,127.0.0.1:2"})
    configuration = secured.configuration
    assert all(listener.tls for listener in configuration.listeners)
    kafka = configuration.listeners_of(Protocol.KAFKA)
    assert [listener.security for listener in kafka] == [SecurityProtocol.SASL_SSL] * 2
    assert all(listener.sasl and listener.sasl.is_required for listener in kafka)
    assert configuration.anonymous is Anonymous.DENY
    assert configuration.first_user is not None
    assert configuration.first_user.username == ADMINISTRATOR
    assert configuration.first_user.password == secured.password
    assert (here / "trivium-certs" / "ca.pem").exists()
    assert secured.password is not None
    assert secured.password not in repr(configuration), "S15"


def test_second_start_keeps_the_certificates(here: Path) -> None:
    first = load_secured(None, {}, {})
    certificate = (here / "trivium-certs" / "server.pem").read_bytes()
    second = load_secured(None, {}, {})
    assert (here / "trivium-certs" / "server.pem").read_bytes() == certificate
    assert first.password != second.password


def test_what_is_configured_already_stays(here: Path) -> None:
    load_secured(None, {}, {})
    (here / "certs").mkdir()
    for name in ("server.pem", "server-key.pem"):
        (here / "trivium-certs" / name).rename(here / "certs" / name)
    flags = {
        "tls.certificate": "certs/server.pem",
        "tls.key": "certs/server-key.pem",
        "iggy.root.username": "boss",
        "iggy.root.password": "secret",
        "listen.iggy": "off",
    }
    secured = load_secured(None, {}, flags)
    assert (secured.password, secured.ca) == (None, None)
    assert secured.configuration.first_user is not None
    assert secured.configuration.first_user.username == "boss"
    assert secured.configuration.listeners_of(Protocol.IGGY) == ()
