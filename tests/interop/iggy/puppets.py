"""Foreign Iggy clients as puppets: Java of three releases, Go of two, and Rust.

They obey as Kafka's do, with commands of their own (``interop/README.md``); an error is the server's code.
"""

import os
from functools import partial
from pathlib import Path

from tests.interop.kafka import copy_jars
from tests.interop.puppets import CACHE, SOURCES, Kind, build, fetch, is_stale, require

JAVA_RELEASES = {"0.6.0": "0.6", "0.7.0": "0.7", "0.8.0": "0.7"}
"""By release, the directory whose ``Release.java`` knows its ways."""

GO_RELEASES = {"0.7.0": ("-modfile=0.7.mod", "-tags=iggy_0_7"), "0.8.0": ("-modfile=go.mod",)}
"""By release, what builds the puppet with it."""

FLAGS = {"iggy-go-0.8.0": ("--set", "iggy.generation=0.8")}
"""Of a broker, by puppet: Go of 0.8 and Rust of 0.6 cannot be told apart before they send."""

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


def _go(version: str) -> list[str]:
    require("go", "Go 1.25 or newer")
    home = SOURCES / "iggy-go"
    program = CACHE / f"iggy-go-puppet-{version}"
    if any(is_stale(program, source) for source in home.iterdir()):
        module, *tag = GO_RELEASES[version]
        fetch(["go", "mod", "download", module], home)
        build(["go", "build", module, *tag, "-o", str(program), "."], home)
    return [str(program)]


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
        *(Kind(f"iggy-go-{version}", partial(_go, version)) for version in GO_RELEASES),
        Kind(f"iggy-rust-{RUST_RELEASE}", _rust),
    )
}
