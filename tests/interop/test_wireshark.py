"""Wireshark's Kafka dissector, the protocol as others read it, finds nothing wrong on the wire.

It knows Kafka's messages up to about version 2.5; frames of later versions it marks as unsupported, and
nothing is concluded from them. So the clients played here are old ones (003.1, 003.10, 003.11).
"""

import shutil
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.interop.brokers import Restartable
from tests.interop.kafka import Unavailable
from tests.interop.puppets import PUPPETS, Puppet

from trivium.messages.api import ApiKey

pytestmark = pytest.mark.interop

CLIENTS = ("java-2.1.1", "java-2.8.2")
START_SECONDS_MAX = 20

MISREAD = {ApiKey.JOIN_GROUP, ApiKey.SYNC_GROUP, ApiKey.DESCRIBE_GROUPS}
"""What members of a group tell each other it takes for missing, also in requests of Kafka's own clients."""


@dataclass(frozen=True)
class Capture:
    file: Path
    port: int

    def api_keys(self, display_filter: str) -> list[int]:
        """The API of every frame that Wireshark finds by a filter."""
        command = ["tshark", "-r", str(self.file), "-d", f"tcp.port=={self.port},kafka", "-Y", display_filter]
        found = subprocess.run(
            [*command, "-T", "fields", "-e", "kafka.api_key"], capture_output=True, text=True, check=True
        )
        return [int(key) for line in found.stdout.split() for key in line.split(",")]


@pytest.fixture(scope="module")
def capture(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Capture]:
    if shutil.which("tshark") is None:
        pytest.skip("tshark is not installed (Debian package tshark)")
    directory = tmp_path_factory.mktemp("capture")
    broker = Restartable(directory)
    with broker:
        port = int(broker.bootstrap.rsplit(":", 1)[1])
        capture = Capture(directory / "capture.pcapng", port)
        tshark = _begin(capture)
        try:
            for name in CLIENTS:
                with Puppet(PUPPETS[name], broker.bootstrap, directory) as puppet:
                    play(puppet)
        except Unavailable as reason:
            pytest.skip(str(reason))
        finally:
            tshark.terminate()
            tshark.wait()
        yield capture


def _begin(capture: Capture) -> "subprocess.Popen[str]":
    """Record what goes over loopback, from the moment that tshark says it does."""
    command = ["tshark", "-l", "-i", "lo", "-f", f"tcp port {capture.port}", "-w", str(capture.file)]
    tshark = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    assert tshark.stderr is not None
    said = ""
    for line in tshark.stderr:
        said += line
        if line.startswith("Capturing on"):
            break
    else:
        pytest.skip(f"tshark may not record on loopback here: {said.strip()}")
    deadline = time.monotonic() + START_SECONDS_MAX
    while not capture.file.exists() or capture.file.stat().st_size == 0:
        assert time.monotonic() < deadline, f"tshark records nothing: {said}"
        time.sleep(0.05)
    return tshark


def play(puppet: Puppet) -> None:
    """Something of everything that this client knows."""
    topic, group = f"topic-{puppet.name}", f"group-{puppet.name}"
    puppet.ask("create-topic", topic, 4, "retention.ms=100000")
    puppet.ask("topics")
    puppet.ask("get-config", topic, "retention.ms")
    puppet.ask("set-config", topic, "max.message.bytes", 2_000_000)
    for number, codec in enumerate(("none", "gzip", "snappy", "lz4", "zstd")):
        puppet.ask("produce", topic, 0, codec, 50 * number, 50, 100)
    puppet.ask("consume", topic, 0, 0, 250)
    puppet.ask("offset-at", topic, 0, 1_700_000_000_005)
    puppet.ask("delete-records", topic, 0, 6)
    puppet.ask("join", "member", group, topic)
    while len(puppet.ask("seen", "member")) < 244:
        time.sleep(0.05)
    puppet.ask("members", group)
    puppet.ask("leave", "member")
    puppet.ask("committed", group, topic)
    puppet.ask("delete-group", group)
    puppet.ask("add-partitions", topic, 5)
    puppet.ask("delete-topic", topic)


KNOWN = "kafka && !kafka.unsupported_api_version && !kafka.unknown_api_key"


def test_dissector_reads_many_frames_of_many_apis(capture: Capture) -> None:
    """Without this, the next test would hold for an empty capture as well."""
    keys = capture.api_keys(KNOWN)
    assert len(keys) > 100
    assert {
        ApiKey.PRODUCE,
        ApiKey.FETCH,
        ApiKey.LIST_OFFSETS,
        ApiKey.METADATA,
        ApiKey.OFFSET_COMMIT,
        ApiKey.OFFSET_FETCH,
        ApiKey.FIND_COORDINATOR,
        ApiKey.LEAVE_GROUP,
        ApiKey.API_VERSIONS,
        ApiKey.CREATE_TOPICS,
        ApiKey.DELETE_TOPICS,
        ApiKey.DELETE_RECORDS,
        ApiKey.INIT_PRODUCER_ID,
        ApiKey.DESCRIBE_CONFIGS,
        ApiKey.CREATE_PARTITIONS,
        ApiKey.DELETE_GROUPS,
    } <= set(keys)


def test_dissector_finds_no_malformed_frame(capture: Capture) -> None:
    malformed = {ApiKey(key) for key in capture.api_keys(f"_ws.malformed && {KNOWN}")}
    assert malformed <= MISREAD


def test_every_answer_belongs_to_a_request(capture: Capture) -> None:
    """001.49: matched by correlation id."""
    assert capture.api_keys("kafka.request_missing") == []
