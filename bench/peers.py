"""The two brokers that are compared, as processes: Trivium, and Apache Kafka from Maven.

Both run with their defaults on loopback and on the same disk; Kafka has the heap that its scripts give it.
"""

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from bench.load import Client
from tests.interop.kafka import LOGGING, Kafka

CLUSTER_ID = "4L6g3nShT-eMCtK--X86sw"
CLOCK_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass
class Peer:
    """A broker that runs."""

    name: str
    pid: int
    port: int
    started_s: float
    """From the start of the process to its first answer, which is one to a Metadata request or a login."""

    @property
    def cpu_s(self) -> float:
        """What the process has used so far, in user and system mode."""
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / CLOCK_TICKS

    @property
    def memory_mb(self) -> float:
        """Resident memory."""
        for line in Path(f"/proc/{self.pid}/status").read_text().splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) / 1024
        raise RuntimeError(f"process {self.pid} tells no memory")


@contextlib.contextmanager
def trivium(directory: Path) -> Iterator[Peer]:
    """``trivium serve`` as users start it."""
    port = free_port()
    ready = directory / "ready.json"
    command = [
        sys.executable,
        "-m",
        "trivium",
        "serve",
        "--data",
        str(directory / "trivium"),
        "--kafka",
        f"127.0.0.1:{port}",
        *("--iggy", "off", "--rustlog", "off", "--console", "off"),
        "--ready-file",
        str(ready),
    ]
    with process("trivium", command, port, directory / "trivium.log") as peer:
        assert json.loads(ready.read_text())
        yield peer


@contextlib.contextmanager
def kafka(directory: Path, jars: Kafka, **settings: str) -> Iterator[Peer]:
    port, controller_port = free_port(), free_port()
    properties = directory / "kafka.properties"
    lines = {
        "process.roles": "broker,controller",
        "node.id": "1",
        "controller.quorum.voters": f"1@127.0.0.1:{controller_port}",
        "listeners": f"PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller_port}",
        "controller.listener.names": "CONTROLLER",
        "log.dirs": str(directory / "kafka"),
        "offsets.topic.replication.factor": "1",
        "transaction.state.log.replication.factor": "1",
        "transaction.state.log.min.isr": "1",
        **{name.replace("_", "."): value for name, value in settings.items()},
    }
    properties.write_text("".join(f"{name}={value}\n" for name, value in lines.items()))
    jars.run("kafka.tools.StorageTool", "format", "-t", CLUSTER_ID, "-c", str(properties))
    command = [
        "java",
        "-Xmx1G",
        "-Xms1G",
        "-XX:+UseG1GC",
        f"-Dlog4j2.configurationFile={LOGGING}",
        "-cp",
        f"{jars.jars}/*",
        "kafka.Kafka",
        str(properties),
    ]
    with process("kafka", command, port, directory / "kafka.log") as peer:
        yield peer


@contextlib.contextmanager
def process(
    name: str,
    command: list[str],
    port: int,
    log: Path,
    *,
    greet: Callable[[int], None] | None = None,
    environment: dict[str, str] | None = None,
) -> Iterator[Peer]:
    """A broker until a clean stop; ``greet`` asks it something by its port, or fails with ``OSError``."""
    began = time.perf_counter()
    with log.open("ab") as output:
        running = subprocess.Popen(
            command, stdout=output, stderr=output, env={**os.environ, **(environment or {})}
        )
    try:
        _wait_for_answer(running, port, log, greet or _ask_for_metadata)
        yield Peer(name, running.pid, port, time.perf_counter() - began)
    finally:
        running.send_signal(signal.SIGTERM)
        running.wait(60)


def _ask_for_metadata(port: int) -> None:
    with Client(port) as client:
        client.metadata([])


def _wait_for_answer(
    process: "subprocess.Popen[bytes]", port: int, log: Path, greet: Callable[[int], None]
) -> None:
    while process.poll() is None:
        try:
            greet(port)
            return
        except OSError:
            time.sleep(0.002)
    raise RuntimeError(f"the broker ended at once; it said: {log.read_text()[-1000:]}")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def iggy_settings(port: int, directory: Path) -> dict[str, str]:
    """For a real Iggy server: its TCP door and no other, and the first user that ours has on loopback."""
    return {
        "IGGY_TCP_ADDRESS": f"127.0.0.1:{port}",
        "IGGY_HTTP_ENABLED": "false",
        "IGGY_QUIC_ENABLED": "false",
        "IGGY_WEBSOCKET_ENABLED": "false",
        "IGGY_SYSTEM_PATH": str(directory / "data"),
        "IGGY_ROOT_USERNAME": "iggy",
        "IGGY_ROOT_PASSWORD": "iggy",
    }


def scratch() -> "tempfile.TemporaryDirectory[str]":
    return tempfile.TemporaryDirectory(
        prefix="trivium-bench-", dir=sys.argv[1] if len(sys.argv) > 1 else None
    )
