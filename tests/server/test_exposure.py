"""What a node opens to whom: it does not start open to others unless somebody says so."""

import asyncio
import logging
from dataclasses import replace
from pathlib import Path

import pytest

from trivium.server.configuration.address import Address
from trivium.server.configuration.configuration import Configuration
from trivium.server.configuration.loading import load
from trivium.server.configuration.security import SecurityProtocol
from trivium.server.exposure import Finding, Weight, findings, refuse_open_doors
from trivium.server.listeners import CannotListen
from trivium.server.node import Node
from trivium.testing.memory_files import MemoryFiles

FAR = {"listen.kafka": "0.0.0.0:0", "listen.iggy": "off", "listen.rustlog": "off", "listen.console": "off"}


def configured(settings: dict[str, str]) -> Configuration:
    return load(flags=FAR | settings, environ={})


@pytest.mark.parametrize(
    "settings",
    [{}, {"listen.kafka": "off", "listen.rustlog": "0.0.0.0:0"}, {"listen.auto": "192.168.1.1:0"}],
)
def test_node_that_others_reach_does_not_start_without_a_word_about_strangers(
    settings: dict[str, str],
) -> None:
    with pytest.raises(CannotListen, match=r"set access.anonymous to allow if that is meant"):
        refuse_open_doors(configured(settings))


def test_listeners_of_a_kafka_configuration_are_asked_for(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """001.22: a server.properties that has served a Kafka serves this node."""
    properties = tmp_path / "server.properties"
    properties.write_text(
        "listeners=PLAINTEXT://:9092,CONTROLLER://:9093\ncontroller.listener.names=CONTROLLER\n"
    )
    with caplog.at_level(logging.WARNING, "trivium"):
        refuse_open_doors(load(properties, environ={}))
    assert "may do everything without a login" in caplog.text


def test_encryption_alone_lets_strangers_in() -> None:
    configuration = configured({"listen.kafka": "127.0.0.1:0"})
    (listener,) = configuration.listeners
    far = listener._replace(
        address=Address("0.0.0.0", 0),
        security=SecurityProtocol.SSL,
        is_spelled_out=True,
    )
    with pytest.raises(CannotListen, match="could do everything without a login"):
        refuse_open_doors(replace(configuration, listeners=(far,)))


def test_node_itself_refuses() -> None:
    async def start() -> None:
        await Node(configured({}), MemoryFiles()).start()

    with pytest.raises(CannotListen, match="could do everything without a login"):
        asyncio.run(start())


@pytest.mark.parametrize(
    "settings",
    [
        {"access.anonymous": "deny"},
        {"access.acls": "on"},
        {"listen.kafka": "SASL_PLAINTEXT://0.0.0.0:0"},
        {"listen.kafka": "127.0.0.1:0"},
        {"listen.kafka": "localhost:0"},
    ],
)
def test_node_that_is_shut_to_strangers_starts(settings: dict[str, str]) -> None:
    refuse_open_doors(configured(settings))


@pytest.mark.parametrize("settings", [{"access.anonymous": "allow"}, {"listen.kafka": "PLAINTEXT://:0"}])
def test_node_that_is_open_on_purpose_says_so(
    settings: dict[str, str], caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING, "trivium"):
        refuse_open_doors(configured(settings))
    assert "may do everything without a login" in caplog.text


def risks(settings: dict[str, str], path: Path | None = None) -> set[str]:
    return {each.about for each in found(settings, path) if each.weight is Weight.RISK}


def found(settings: dict[str, str], path: Path | None = None) -> list[Finding]:
    return list(findings(configured(settings), path))


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"listen.kafka": "127.0.0.1:9092"}, set()),
        ({"access.anonymous": "allow"}, {"kafka 0.0.0.0:0"}),
        ({"listen.kafka": "SASL_PLAINTEXT://0.0.0.0:9092"}, {"kafka 0.0.0.0:9092"}),
        ({"listen.kafka": "127.0.0.1:1", "listen.console": "0.0.0.0:8080"}, {"console 0.0.0.0:8080"}),
        (
            {"listen.kafka": "127.0.0.1:1", "access.acls": "on", "access.open-without-acls": "true"},
            {"rights"},
        ),
        (
            {"listen.kafka": "127.0.0.1:1", "access.acls": "on", "super.users": "User:ANONYMOUS"},
            {"rights"},
        ),
    ],
)
def test_doctor_finds_what_is_risky(settings: dict[str, str], expected: set[str]) -> None:
    assert risks(settings) == expected


def test_doctor_finds_a_file_with_secrets_that_others_may_read(tmp_path: Path) -> None:
    """S15."""
    path = tmp_path / "trivium.toml"
    path.write_text('iggy.root.username = "admin"\niggy.root.password = "canary"\n')
    path.chmod(0o644)
    configuration = load(path, environ={}, flags=FAR | {"listen.kafka": "127.0.0.1:1"})
    told = list(findings(configuration, path))
    assert {each.about for each in told if each.weight is Weight.RISK} == {str(path)}
    assert "canary" not in repr(told)
    path.chmod(0o600)
    assert all(each.weight is not Weight.RISK for each in findings(configuration, path))


def test_doctor_does_not_blame_a_file_for_secrets_that_come_from_elsewhere(tmp_path: Path) -> None:
    path = tmp_path / "trivium.toml"
    path.touch(mode=0o644)
    settings = {"listen.kafka": "127.0.0.1:1", "iggy.root.username": "a", "iggy.root.password": "canary"}
    assert risks(settings, path) == set()


def test_doctor_finds_a_key_that_others_may_read(tmp_path: Path) -> None:
    key = tmp_path / "key.pem"
    key.touch(mode=0o640)
    settings = {"listen.kafka": "SSL://127.0.0.1:1", "tls.certificate": "cert.pem", "tls.key": str(key)}
    assert risks(settings) == {str(key)}
    key.chmod(0o600)
    assert risks(settings) == set()


def test_doctor_finds_a_keytab_that_others_may_read(tmp_path: Path) -> None:
    keytab = tmp_path / "kafka.keytab"
    keytab.touch(mode=0o644)
    settings = {
        "listen.kafka": "127.0.0.1:1",
        "kerberos.keytab": str(keytab),
        "kerberos.principal": "kafka/localhost@EXAMPLE.COM",
    }
    assert risks(settings) == {str(keytab)}
    keytab.chmod(0o600)
    assert risks(settings) == set()
