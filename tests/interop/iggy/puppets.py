"""Foreign Iggy clients as puppets: the Java client of three releases, and the Rust client.

They obey as Kafka's do, with commands of their own (``interop/README.md``); an error is the server's code.
"""

import os
from functools import partial
from pathlib import Path

from tests.interop.kafka import copy_jars
from tests.interop.puppets import CACHE, SOURCES, Kind, build, fetch, is_stale, require

JAVA_RELEASES = {"0.6.0": "0.6", "0.7.0": "0.7", "0.8.0": "0.7"}
"""By release, the directory whose ``Release.java`` knows its ways."""

RUST_RELEASE = "0.10.0"
RUST_BUILD_SECONDS_MAX = 1_200
"""The first time, with everything that the crate needs; about two and a half minutes on two idle cores."""


def _java(version: str) -> list[str]:
    require("java", "Java 17 or newer")
    home = SOURCES / "iggy-java"
    jars = CACHE / f"iggy-java-{version}"
    copy_jars(jars, home / "pom.xml", f"-Diggy.version={version}")
    classes = CACHE / f"iggy-java-puppet-{version}"
    sources = [home / "Puppet.java", home / JAVA_RELEASES[version] / "Release.java"]
    if any(is_stale(classes / "Puppet.class", source) for source in sources):
        require("javac", "a Java compiler")
        options = ["--release", "17", "-cp", f"{jars}/*", "-d", str(classes)]
        build(["javac", *options, *map(str, sources)], home)
    options = ["-Xmx256m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"]
    return ["java", *options, "-cp", os.pathsep.join([str(classes), f"{jars}/*"]), "Puppet"]


def _rust() -> list[str]:
    require("cargo", "Rust's cargo")
    home = SOURCES / "iggy-rust"
    target = CACHE / "iggy-rust-puppet"
    program = target / "debug" / "iggy-puppet"
    if any(is_stale(program, source) for source in _rust_sources(home)):
        fetch(["cargo", "fetch"], home)
        build(
            ["cargo", "build", "--locked", "--offline", "--target-dir", str(target)],
            home,
            seconds_max=RUST_BUILD_SECONDS_MAX,
        )
        program.touch()
    return [str(program)]


def _rust_sources(home: Path) -> list[Path]:
    return [home / "Cargo.toml", *(home / "src").iterdir()]


PUPPETS = {
    kind.name: kind
    for kind in (
        *(Kind(f"iggy-java-{version}", partial(_java, version)) for version in JAVA_RELEASES),
        Kind(f"iggy-rust-{RUST_RELEASE}", _rust),
    )
}
