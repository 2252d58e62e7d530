"""Iggy's own Python clients, each release in an environment of its own: they share the name of their module.

The tests that a release ships are in its source package. Both are fetched once, into ``.cache``.
"""

import hashlib
import html
import io
import os
import re
import subprocess
import sys
import tarfile
import urllib.error
import urllib.request
from dataclasses import dataclass
from pathlib import Path

from pip._internal.models.index import PyPI
from tests.interop.kafka import ROOT, Unavailable

CACHE = ROOT / ".cache"
INSTALL_SECONDS_MAX = 300
DOWNLOAD_SECONDS_MAX = 120

SUITE_NEEDS = ("pytest", "pytest-asyncio")

SHA256 = {
    "0.5.0": "13e7f732c85ccec1abdcfec639e75860feb636482f7481ed986ed5ba737b0fcf",
    "0.6.0": "fadd8ce153efb11255ec336949ab072f5a35d7afb4a00a92d6395d259bc53b9f",
    "0.7.0": "5ed23fcfa32de6f4992309870449fb6d801e2a7dd27173d407f435a93fb80060",
    "0.8.0": "f95e48eff23db962a290cbfe587dc7cc1bf2fe707c5462f39554c2741fd33c4e",
}
"""Of the source packages, by release: one of each generation."""


@dataclass(frozen=True)
class PythonSdk:
    version: str
    python: Path
    tests: Path
    """The directory whose ``tests`` the release ships."""

    @classmethod
    def obtain(cls, version: str) -> "PythonSdk":
        return cls(version, _environment(version), _tests(version))


def _environment(version: str) -> Path:
    directory = CACHE / f"iggy-python-{version}"
    python = directory / "bin" / "python"
    done = directory / ".ready"
    if done.exists():
        return python
    try:
        for command in (
            [sys.executable, "-m", "venv", str(directory)],
            [
                str(python),
                "-m",
                "pip",
                "install",
                "-q",
                f"apache-iggy=={version}",
                "pytest",
                "pytest-asyncio",
            ],
        ):
            subprocess.run(command, check=True, capture_output=True, text=True, timeout=INSTALL_SECONDS_MAX)
    except (OSError, subprocess.SubprocessError) as error:
        reason = (getattr(error, "stderr", None) or str(error)).strip().splitlines()[-1]
        raise Unavailable(f"apache-iggy {version} cannot be installed ({reason})") from error
    done.touch()
    return python


def _tests(version: str) -> Path:
    directory = CACHE / f"iggy-python-{version}-tests"
    if not directory.exists():
        try:
            package = _source_package(version)
        except (OSError, urllib.error.URLError) as error:
            raise Unavailable(f"the tests of apache-iggy {version} cannot be fetched ({error})") from error
        prefix = f"apache_iggy-{version}/foreign/python/"
        with tarfile.open(fileobj=io.BytesIO(package)) as archive:
            for member in archive.getmembers():
                if member.name.startswith(prefix + "tests/") and member.isfile():
                    file = archive.extractfile(member)
                    assert file is not None
                    target = directory / member.name.removeprefix(prefix)
                    target.parent.mkdir(parents=True, exist_ok=True)
                    target.write_bytes(file.read())
    return directory


def _source_package(version: str) -> bytes:
    page = _fetch(f"{_index()}/apache-iggy/").decode()
    link = re.search(rf'href="([^"#]*/apache_iggy-{re.escape(version)}\.tar\.gz)', page)
    if link is None:
        raise Unavailable(f"apache-iggy {version} has no source package")
    package = _fetch(html.unescape(link[1]))
    if hashlib.sha256(package).hexdigest() != SHA256[version]:
        raise Unavailable(f"the source package of apache-iggy {version} is not the one that was published")
    return package


def _index() -> str:
    """Where pip fetches packages from: its own default, unless it was told otherwise."""
    return os.environ.get("PIP_INDEX_URL", PyPI.simple_url).rstrip("/")


def _fetch(address: str) -> bytes:
    with urllib.request.urlopen(address, timeout=DOWNLOAD_SECONDS_MAX) as answer:
        data: bytes = answer.read()
        return data
