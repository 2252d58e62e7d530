"""Java is found where people have it, and its absence is one sentence."""

import os
import subprocess
from pathlib import Path

import pytest

from trivium.spark.launch import java
from trivium.spark.launch.errors import LaunchError
from trivium.spark.launch.java import find_java_home, java_version

ADVICE = "Spark needs Java 17 or newer: pip install 'trivium[spark-java]' or set JAVA_HOME."


def make_java(home: Path, version: str, *, has_release: bool = True) -> Path:
    """A Java that can say its version and print its arguments."""
    program = home / "bin" / "java"
    program.parent.mkdir(parents=True)
    program.write_text(f'#!/bin/sh\nfor a; do echo "$a"; done\necho \'openjdk version "{version}"\' >&2\n')
    program.chmod(0o755)
    if has_release:
        (home / "release").write_text(f'IMPLEMENTOR="x"\nJAVA_VERSION="{version}"\n')
    return home


@pytest.fixture(autouse=True)
def _no_bundled_java(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(java, "_bundled_java_home", lambda: None)


@pytest.mark.parametrize(("text", "major"), [("17.0.15", 17), ("1.8.0_402", 8), ("25", 25)])
@pytest.mark.parametrize("has_release", [True, False])
def test_version_is_known_with_and_without_asking(
    tmp_path: Path, text: str, major: int, has_release: bool
) -> None:
    home = make_java(tmp_path / "jdk", text, has_release=has_release)
    assert java_version(home / "bin" / "java") == major


def test_java_home_wins_over_the_path(tmp_path: Path) -> None:
    named, other = make_java(tmp_path / "a", "21"), make_java(tmp_path / "b", "17")
    assert find_java_home({"JAVA_HOME": str(named), "PATH": str(other / "bin")}) == named


def test_java_on_the_path_is_found_through_its_links(tmp_path: Path) -> None:
    home = make_java(tmp_path / "jdk", "17.0.1")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "java").symlink_to(home / "bin" / "java")
    assert find_java_home({"PATH": str(tmp_path / "bin")}) == home


def test_java_home_that_is_wrong_or_old_is_said_and_not_passed_over(tmp_path: Path) -> None:
    with pytest.raises(LaunchError) as missing:
        find_java_home({"JAVA_HOME": str(tmp_path / "no"), "PATH": ""})
    assert str(missing.value) == f"JAVA_HOME is {tmp_path / 'no'}, where there is no bin/java. {ADVICE}"
    old = make_java(tmp_path / "old", "11.0.2")
    with pytest.raises(LaunchError, match="which is Java 11"):
        find_java_home({"JAVA_HOME": str(old), "PATH": ""})


def test_no_java_at_all_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(LaunchError) as missing:
        find_java_home({"PATH": str(tmp_path)})
    assert str(missing.value) == ADVICE


def test_old_java_on_the_path_without_another_is_named(tmp_path: Path) -> None:
    home = make_java(tmp_path / "old", "1.8.0")
    with pytest.raises(LaunchError, match=f"The java on the PATH, {home / 'bin' / 'java'}, is Java 8."):
        find_java_home({"PATH": str(home / "bin")})


def test_bundled_java_gets_every_argument_but_the_module_that_it_lacks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bundled = make_java(tmp_path / "wheel's own", "25.0.2")
    monkeypatch.setattr(java, "_bundled_java_home", lambda: bundled)
    environment = {"PATH": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    home = find_java_home(environment)
    assert home != bundled
    arguments = ["-cp", "a b", "--add-modules=jdk.incubator.vector", "", "Main"]
    done = subprocess.run(
        [str(home / "bin" / "java"), *arguments], capture_output=True, text=True, check=True, env=os.environ
    )
    assert done.stdout.splitlines() == ["-cp", "a b", "", "Main"]
    assert find_java_home(environment) == home
