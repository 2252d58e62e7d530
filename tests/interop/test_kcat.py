"""kcat, as Debian ships it with librdkafka 2.0: what people type to look into a broker (003.18, 003.31)."""

import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.interop.brokers import Restartable

pytestmark = pytest.mark.interop

SECONDS_MAX = 60


class Kcat:
    def __init__(self, broker: Restartable) -> None:
        self.broker = broker

    def __call__(self, *arguments: str, text: str = "") -> str:
        """Run it to its end; what it printed."""
        done = subprocess.run(
            ["kcat", "-b", self.broker.bootstrap, "-q", *arguments],
            input=text,
            capture_output=True,
            text=True,
            timeout=SECONDS_MAX,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout


@pytest.fixture(scope="module")
def kcat(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kcat]:
    if shutil.which("kcat") is None:
        pytest.skip("kcat is not installed (Debian package kcat)")
    broker = Restartable(tmp_path_factory.mktemp("broker"), "--set", "num.partitions=2")
    with broker:
        yield Kcat(broker)


@pytest.mark.parametrize("codec", ["none", "gzip", "snappy", "lz4", "zstd"])
def test_kcat_reads_what_it_wrote_with_each_codec(kcat: Kcat, codec: str) -> None:
    topic = f"codec-{codec}"
    lines = "".join(f"k{number}:{number} {'.' * 200}\n" for number in range(500))
    kcat("-P", "-t", topic, "-p", "1", "-K:", "-z", codec, "-H", "origin=kcat", text=lines)
    found = kcat("-C", "-t", topic, "-p", "1", "-o", "beginning", "-e", "-K:")
    assert found == lines
    first = json.loads(kcat("-C", "-t", topic, "-p", "1", "-o", "7", "-c", "1", "-J"))
    assert (first["offset"], first["key"], first["headers"]) == (7, "k7", ["origin", "kcat"])
    assert first["tstype"] == "create"


def test_kcat_produces_idempotently_in_order(kcat: Kcat) -> None:
    lines = "".join(f"{number}\n" for number in range(5_000))
    options = ("-X", "enable.idempotence=true", "-X", "batch.num.messages=100", "-X", "linger.ms=0")
    kcat("-P", "-t", "idempotent", "-p", "0", *options, text=lines)
    assert kcat("-C", "-t", "idempotent", "-p", "0", "-e") == lines


def test_kcat_lists_brokers_topics_and_partitions(kcat: Kcat) -> None:
    kcat("-P", "-t", "listed", text="x\n")
    metadata = json.loads(kcat("-L", "-J"))
    assert [broker["name"] for broker in metadata["brokers"]] == [kcat.broker.bootstrap]
    [topic] = [topic for topic in metadata["topics"] if topic["topic"] == "listed"]
    assert [(each["partition"], each["leader"]) for each in topic["partitions"]] == [(0, 1), (1, 1)]


def test_kcat_asks_for_offsets_by_time(kcat: Kcat) -> None:
    kcat("-P", "-t", "timed", "-p", "0", text="a\nb\n")
    assert kcat("-Q", "-t", "timed:0:-2").split() == ["timed", "[0]", "offset", "0"]
    assert kcat("-Q", "-t", "timed:0:-1").split() == ["timed", "[0]", "offset", "2"]
    assert kcat("-Q", "-t", "timed:0:1").split() == ["timed", "[0]", "offset", "0"]


def test_kcat_in_a_group_goes_on_after_a_restart_where_it_stopped(kcat: Kcat) -> None:
    """R1, 003.28: what the group has committed is there after ``kill -9``."""
    reading = ("-G", "readers", "-X", "auto.offset.reset=earliest", "-X", "session.timeout.ms=10000", "-e")
    kcat("-P", "-t", "grouped", "-p", "0", text="1\n2\n3\n")
    assert kcat(*reading, "grouped").splitlines() == ["1", "2", "3"]
    kcat.broker.restart(killed=True)
    kcat("-P", "-t", "grouped", "-p", "0", text="4\n")
    assert kcat(*reading, "grouped").splitlines() == ["4"]


def test_kcat_sends_a_whole_file_and_an_empty_value(kcat: Kcat, tmp_path: Path) -> None:
    file = tmp_path / "large"
    file.write_bytes(b"\n:\x00" * 300_000)
    kcat("-P", "-t", "files", "-p", "0", str(file))
    kcat("-P", "-t", "files", "-p", "0", "-Z", "-K:", text="key:\n")
    large, tombstone = (
        json.loads(line) for line in kcat("-C", "-t", "files", "-p", "0", "-e", "-J").splitlines()
    )
    assert large["payload"] == "\n:\x00" * 300_000
    assert (tombstone["key"], tombstone["payload"]) == ("key", None)
