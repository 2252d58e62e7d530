"""Apache Kafka's own programs: the jars, the command line tools, and a broker on loopback."""

import contextlib
import os
import re
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from confluent_kafka.admin import AdminClient

from trivium.testing import Broker

ROOT = Path(__file__).parents[2]
POM = ROOT / "interop" / "kafka" / "pom.xml"
LOGGING = ROOT / "interop" / "kafka" / "log4j2.xml"

START_SECONDS = 60
"""A broker is there after about five seconds on two idle cores; a busy machine gets its time."""

TOOL_SECONDS = 120


class Unavailable(Exception):
    """Kafka cannot be run here; the message says what is missing."""


@dataclass(frozen=True)
class Kafka:
    """The jars of one version of Kafka."""

    jars: Path

    @classmethod
    def obtain(cls) -> "Kafka":
        """The jars that ``pom.xml`` names, copied by Maven the first time."""
        if shutil.which("java") is None:
            raise Unavailable("Java is not installed (17 or newer is needed)")
        version = re.search(r"<kafka.version>(.+)</kafka.version>", POM.read_text())
        assert version is not None
        jars = ROOT / ".cache" / f"kafka-{version[1]}"
        copy_jars(jars, POM)
        kafka = cls(jars)
        kafka._remember_classes()
        return kafka

    @property
    def _classes(self) -> Path:
        """What a tool has to load, as the Java of this machine likes it best."""
        return self.jars.with_name(f"{self.jars.name}.jsa")

    def _remember_classes(self) -> None:
        """Let one tool leave its classes behind, checked and laid out: the others need half the time."""
        if self._classes.exists():
            return
        unfinished = self._classes.with_name(f"{self._classes.name}.{os.getpid()}.tmp")
        with Broker() as broker:
            where = ["--bootstrap-server", broker.bootstrap]
            words = ["--describe", "--entity-type", "brokers", "--all"]
            command = self.command("kafka.admin.ConfigCommand", *where, *words)
            command.insert(1, f"-XX:ArchiveClassesAtExit={unfinished}")
            subprocess.run(command, capture_output=True, timeout=TOOL_SECONDS, check=False)
        if unfinished.exists():
            unfinished.rename(self._classes)

    def command(self, main: str, *arguments: str, heap: str = "256m") -> list[str]:
        # An archive of another Java's is passed over, and not a word said about it among what a tool prints.
        archive = [f"-XX:SharedArchiveFile={self._classes}", "-Xlog:disable"]
        return [
            "java",
            f"-Xmx{heap}",
            "-XX:TieredStopAtLevel=1",
            "-XX:+UseSerialGC",
            *(archive if self._classes.exists() else ()),
            f"-Dlog4j2.configurationFile={LOGGING}",
            "-cp",
            f"{self.jars}/*",
            main,
            *arguments,
        ]

    def run(self, main: str, *arguments: str, text: str = "") -> str:
        """Run one of Kafka's tools to its end, with something to read; what it printed."""
        done = self._finished(main, arguments, text)
        assert done.returncode == 0, f"{main} failed: {done.stderr}\n{done.stdout[-2000:]}"
        return done.stdout

    def refused(self, main: str, *arguments: str) -> str:
        """Run a tool that must fail; what it said about it."""
        done = self._finished(main, arguments, "")
        assert done.returncode != 0, f"{main} did not fail: {done.stdout[-2000:]}"
        return done.stdout + done.stderr

    def _finished(
        self, main: str, arguments: tuple[str, ...], text: str
    ) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            self.command(main, *arguments),
            input=text,
            capture_output=True,
            text=True,
            timeout=TOOL_SECONDS,
            check=False,
        )

    def dump(self, *options: str, files: list[Path]) -> str:
        """What Kafka's DumpLogSegments says about these files."""
        names = ",".join(str(file) for file in files)
        return self.run("org.apache.kafka.tools.DumpLogSegments", *options, "--files", names)

    @contextlib.contextmanager
    def broker(self, data: Path, cluster_id: str, settings: str = "") -> Iterator[str]:
        """A broker on a data directory, formatted if it is new, until a clean stop; gives its address.

        ``settings`` are more lines of its ``server.properties``.
        """
        port, controller_port = _free_ports(2)
        properties = data.with_suffix(".properties")
        properties.write_text(_properties(data, port, controller_port) + settings)
        if not (data / "meta.properties").exists():
            self.run("kafka.tools.StorageTool", "format", "-t", cluster_id, "-c", str(properties))
        with data.with_suffix(".log").open("ab") as log:
            process = subprocess.Popen(
                self.command("kafka.Kafka", str(properties), heap="512m"), stdout=log, stderr=log
            )
        try:
            _wait_until_ready(f"127.0.0.1:{port}", process, data.with_suffix(".log"))
            yield f"127.0.0.1:{port}"
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(START_SECONDS)


def copy_jars(jars: Path, pom: Path, *options: str) -> None:
    """Have Maven copy what a pom names to a directory, unless it is there already."""
    if jars.is_dir():
        return
    maven = shutil.which("mvn")
    if maven is None:
        raise Unavailable(f"Maven is not installed, and {jars.name} is not in the cache yet")
    unfinished = jars.with_name(f"{jars.name}.{os.getpid()}.tmp")
    goal = "dependency:copy-dependencies"
    done = subprocess.run(
        [
            maven,
            "-q",
            "-B",
            "-f",
            pom,
            *options,
            goal,
            "-DincludeScope=runtime",
            f"-DoutputDirectory={unfinished}",
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        shutil.rmtree(unfinished, ignore_errors=True)
        raise Unavailable(f"Maven cannot copy the jars of {jars.name}: {done.stdout[:500]}")
    unfinished.rename(jars)


def _properties(data: Path, port: int, controller_port: int) -> str:
    """One node that is broker and controller at once."""
    return f"""
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:{controller_port}
listeners=PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller_port}
advertised.listeners=PLAINTEXT://127.0.0.1:{port}
controller.listener.names=CONTROLLER
inter.broker.listener.name=PLAINTEXT
log.dirs={data}
log.retention.ms=-1
offsets.topic.num.partitions=1
offsets.topic.replication.factor=1
transaction.state.log.num.partitions=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
share.coordinator.state.topic.num.partitions=1
share.coordinator.state.topic.replication.factor=1
share.coordinator.state.topic.min.isr=1
group.initial.rebalance.delay.ms=0
"""


def _free_ports(count: int) -> list[int]:
    with contextlib.ExitStack() as held:
        sockets = [held.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]


def _wait_until_ready(address: str, process: "subprocess.Popen[bytes]", log: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    host, port = address.split(":")
    while time.monotonic() < deadline:
        if process.poll() is not None:
            break
        with contextlib.suppress(OSError), socket.create_connection((host, int(port)), timeout=1):
            if _leads_everything(AdminClient({"bootstrap.servers": address})):
                return
        time.sleep(0.2)
    raise AssertionError(f"Kafka did not start on {address}:\n{log.read_text()[-4000:]}")


def _leads_everything(admin: AdminClient) -> bool:
    """Whether all partitions have a leader and all groups are loaded, which goes on after a port is open.

    A partition without replicas has none to wait for.
    """
    topics = admin.list_topics(timeout=10).topics.values()
    partitions = [partition for topic in topics for partition in topic.partitions.values()]
    if any(partition.leader < 0 for partition in partitions if partition.replicas):
        return False
    return not admin.list_consumer_groups().result(10).errors
