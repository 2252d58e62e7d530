"""Iggy's own clients through TLS: who trusts the authority comes in, nobody else (mission 002, issue 8)."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.clients.certificates import Certified, certified
from tests.interop.iggy.puppets import PUPPETS
from tests.interop.iggy.python_sdk import SHA256, PythonSdk
from tests.interop.kafka import Unavailable
from tests.interop.puppets import Puppet
from tests.server.serving import Served

pytestmark = pytest.mark.interop

CLIENT_SECONDS_MAX = 90
PUPPETS_WITH_TLS = ("iggy-java-0.7.0", "iggy-java-0.8.0", "iggy-go-0.8.0")
"""The releases before know no TLS."""

ROUND_TRIP = """
import asyncio, os, sys
from apache_iggy import IggyClient, PollingStrategy, SendMessage

async def main():
    client = IggyClient.from_connection_string(sys.argv[1])
    await asyncio.wait_for(client.connect(), 30)
    name = sys.argv[2]
    await client.create_stream(name)
    await client.create_topic(name, "events", partitions_count=1)
    await client.send_messages(name, "events", 0, [SendMessage("hello")])
    polled = await client.poll_messages(name, "events", 0, PollingStrategy.First(), 10, False)
    print(polled[0].payload().decode(), flush=True)

try:
    asyncio.run(main())
except Exception as error:
    print(repr(error), file=sys.stderr, flush=True)
    os._exit(1)
os._exit(0)  # the client's threads outlive the interpreter
"""


@pytest.fixture(scope="module")
def certificates() -> Iterator[Certified]:
    with certified() as made:
        yield made


@pytest.fixture(scope="module")
def broker(certificates: Certified, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    settings = {
        **certificates.settings,
        "iggy.root.username": "admin",
        "iggy.root.password": "admin-password",
    }
    flags = [word for name, value in settings.items() for word in ("--set", f"{name}={value}")]
    with Served(tmp_path_factory.mktemp("broker"), "--iggy", "tls://127.0.0.1:0", *flags) as served:
        yield served


@pytest.fixture(scope="module", params=[version for version in SHA256 if version > "0.6"])
def sdk(request: pytest.FixtureRequest) -> PythonSdk:
    """0.5 has no connection strings, and without them no TLS."""
    try:
        return PythonSdk.obtain(request.param)
    except Unavailable as reason:
        pytest.skip(str(reason))


def round_trip(sdk: PythonSdk, broker: Served, options: str, name: str) -> "subprocess.CompletedProcess[str]":
    address = f"iggy+tcp://admin:admin-password@{broker.ready['iggy']}?{options}"
    return subprocess.run(
        [str(sdk.python), "-c", ROUND_TRIP, address, name],
        capture_output=True,
        text=True,
        timeout=CLIENT_SECONDS_MAX,
        check=False,
    )


def test_python_client_comes_in_by_tls(sdk: PythonSdk, broker: Served, certificates: Certified) -> None:
    options = f"tls=true&tls_domain=localhost&tls_ca_file={certificates.ca}"
    done = round_trip(sdk, broker, options, f"python-{sdk.version}")
    assert done.stdout.split() == ["hello"], done.stderr[-3000:]


def test_python_client_does_not_trust_a_certificate_for_another_name(
    sdk: PythonSdk, broker: Served, certificates: Certified
) -> None:
    options = f"tls=true&tls_domain=example.org&tls_ca_file={certificates.ca}&reconnection_retries=1"
    done = round_trip(sdk, broker, options, f"deceived-{sdk.version}")
    assert done.returncode == 1, done.stdout
    assert "bad certificate" in broker.log_text


@pytest.mark.parametrize("name", PUPPETS_WITH_TLS)
def test_client_of_another_language_comes_in_by_tls(
    name: str, broker: Served, certificates: Certified, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kind = PUPPETS[name]
    try:
        kind.prepare()
    except Unavailable as reason:
        pytest.skip(str(reason))
    monkeypatch.setenv("PUPPET_CA", str(certificates.ca))
    with Puppet(kind, broker.ready["iggy"], tmp_path) as client:
        client.ask("login", "admin", "admin-password")
        client.ask("create-stream", name)
        client.ask("create-topic", name, "events", 1)
        client.ask("send", name, "events", "partition:0", 0, 3)
        polled = client.ask("poll", name, "events", 0, "consumer:1", "first", 10, "keep")
        assert [message[3] for message in polled[2]] == ["message 0", "message 1", "message 2"]
