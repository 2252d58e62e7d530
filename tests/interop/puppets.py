"""Foreign Kafka clients as puppets: a process that obeys one command a line (see ``interop/README.md``).

``PUPPETS`` names every client in every version that is tried. What a puppet needs (packages, a compiler) is
fetched or built once, into ``.cache``; where that cannot be done, ``Unavailable`` says what is missing.
"""

import json
import os
import shutil
import subprocess
import threading
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any

from tests.interop.kafka import ROOT, Unavailable, copy_jars

SOURCES = ROOT / "interop"
CACHE = ROOT / ".cache"

JAVA_CLIENTS = ("2.1.1", "2.8.2", "3.3.2", "3.9.1", "4.3.1")
JAVA_CLIENT_COMPILED_AGAINST = "3.9.1"
"""It knows both the old and the new way of changing a configuration."""

BUILD_SECONDS_MAX = 300
ANSWER_SECONDS_MAX = 120
"""Longer than any client tries by itself."""


class Refused(Exception):
    """The client, or the broker through it, said no; the message is the client's."""


class Unable(Exception):
    """The client has no such command."""


@dataclass(frozen=True)
class Kind:
    """One client in one version: ``prepare`` gives its command line, without the address."""

    name: str
    prepare: Callable[[], list[str]]


class Puppet:
    """A running client. ``ask`` gives its answer; what it complained about meanwhile is in ``complaints``."""

    def __init__(self, kind: Kind, bootstrap: str, directory: Path) -> None:
        self.name = kind.name
        self._errors = directory / "puppet.err"
        with self._errors.open("ab") as errors:
            self._process = subprocess.Popen(
                [*kind.prepare(), bootstrap],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
            )

    def __enter__(self) -> "Puppet":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self._process.kill()
        self._process.wait()

    @property
    def complaints(self) -> str:
        return self._errors.read_text()

    def ask(self, command: str, *words: object) -> Any:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(" ".join([command, *map(str, words)]) + "\n")
        self._process.stdin.flush()
        patience = threading.Timer(ANSWER_SECONDS_MAX, self._process.kill)
        patience.start()
        line = self._process.stdout.readline()
        patience.cancel()
        assert line, f"{self.name} ended over {command}: {self.complaints[-2000:]}"
        answer = json.loads(line)
        if "unable" in answer:
            raise Unable(f"{self.name}: {answer['unable']}")
        if "error" in answer:
            raise Refused(answer["error"])
        return answer["ok"]


# -- how each of them is made ------------------------------------------------------------------------


def _java(version: str) -> list[str]:
    require("java", "Java 17 or newer")
    jars = _java_client(version)
    classes = CACHE / "java-puppet"
    source = SOURCES / "java-client" / "Puppet.java"
    if is_stale(classes / "Puppet.class", source):
        require("javac", "a Java compiler")
        compiled_against = _java_client(JAVA_CLIENT_COMPILED_AGAINST)
        build(
            ["javac", "--release", "11", "-cp", f"{compiled_against}/*", "-d", str(classes), str(source)],
            source.parent,
        )
    options = ["-Xmx256m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"]
    return ["java", *options, "-cp", os.pathsep.join([str(classes), f"{jars}/*"]), "Puppet"]


def _java_share() -> list[str]:
    """The share consumer, which only the newest generation has."""
    require("java", "Java 17 or newer")
    jars = _java_client(JAVA_CLIENTS[-1])
    classes = CACHE / "java-share-puppet"
    source = SOURCES / "java-share" / "SharePuppet.java"
    if is_stale(classes / "SharePuppet.class", source):
        require("javac", "a Java compiler")
        build(
            ["javac", "--release", "11", "-cp", f"{jars}/*", "-d", str(classes), str(source)], source.parent
        )
    options = ["-Xmx256m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"]
    return ["java", *options, "-cp", os.pathsep.join([str(classes), f"{jars}/*"]), "SharePuppet"]


def _java_client(version: str) -> Path:
    jars = CACHE / f"kafka-clients-{version}"
    copy_jars(jars, SOURCES / "java-client" / "pom.xml", f"-Dkafka.version={version}")
    return jars


def _kafkajs() -> list[str]:
    require("node", "Node 18 or newer")
    require("npm", "npm")
    home = CACHE / "kafkajs"
    home.mkdir(parents=True, exist_ok=True)
    lock = SOURCES / "kafkajs" / "package-lock.json"
    if is_stale(home / "node_modules" / ".package-lock.json", lock):
        for name in ("package.json", "package-lock.json"):
            shutil.copy(SOURCES / "kafkajs" / name, home)
        fetch(["npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts"], home)
    shutil.copy(SOURCES / "kafkajs" / "puppet.js", home)
    return ["node", str(home / "puppet.js")]


def _franz_go() -> list[str]:
    require("go", "Go 1.21 or newer")
    program = CACHE / "franz-go-puppet"
    sources = SOURCES / "franz-go"
    if any(is_stale(program, source) for source in sources.iterdir()):
        fetch(["go", "mod", "download"], sources)
        build(["go", "build", "-o", str(program), "."], sources)
    return [str(program)]


def require(program: str, name: str) -> None:
    if shutil.which(program) is None:
        raise Unavailable(f"{name} is not installed")


def is_stale(made: Path, source: Path) -> bool:
    return not made.exists() or made.stat().st_mtime < source.stat().st_mtime


def fetch(command: list[str], directory: Path) -> None:
    """Bring packages from elsewhere. Without a network, or with too old a tool, there is nothing to test."""
    done = _run(command, directory, BUILD_SECONDS_MAX)
    if done.returncode:
        raise Unavailable(f"{' '.join(command)} failed for {directory.name}: {done.stderr[-500:]}")


def build(command: list[str], directory: Path, *, seconds_max: int = BUILD_SECONDS_MAX) -> None:
    """Compile what is ours: that must work where the compiler is there."""
    done = _run(command, directory, seconds_max)
    assert done.returncode == 0, f"{' '.join(command)} failed: {done.stderr}"


def _run(command: list[str], directory: Path, seconds_max: int) -> "subprocess.CompletedProcess[str]":
    try:
        return subprocess.run(
            command, cwd=directory, capture_output=True, text=True, timeout=seconds_max, check=False
        )
    except subprocess.TimeoutExpired as expired:
        raise Unavailable(f"{' '.join(command)} is not done after {seconds_max} s") from expired


SHARE_PUPPET = Kind("java-share", _java_share)
"""A member of share groups, and nothing else."""

PUPPETS = {
    kind.name: kind
    for kind in (
        *(Kind(f"java-{version}", partial(_java, version)) for version in JAVA_CLIENTS),
        Kind("kafkajs", _kafkajs),
        Kind("franz-go", _franz_go),
    )
}
