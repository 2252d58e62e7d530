"""A Kerberos realm of its own: a KDC on loopback, everything in one directory, nothing of the system touched.

Debian has the programs in ``krb5-kdc``, ``krb5-admin-server`` and ``krb5-user``. The package ``gssapi`` for
the broker and Python's clients is compiled once, into ``.cache``, with ``libkrb5-dev``.
"""

import os
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path
from types import TracebackType

from tests.interop.kafka import ROOT, Unavailable

REALM = "TRIVIUM.TEST"
SERVICE = f"kafka/localhost@{REALM}"
GSSAPI_VERSION = "1.12.0"

START_SECONDS_MAX = 60
TOOL_SECONDS_MAX = 60
BUILD_SECONDS_MAX = 300

_PATH = os.pathsep.join((os.environ.get("PATH", ""), "/usr/sbin"))
_PROGRAMS = ("krb5kdc", "kdb5_util", "kadmin.local", "kinit")


def obtain_gssapi() -> Path:
    """A directory with the package; ``Unavailable`` where it or a KDC cannot be had."""
    for program in _PROGRAMS:
        if shutil.which(program, path=_PATH) is None:
            raise Unavailable(f"{program} is not installed (Debian: krb5-kdc krb5-admin-server krb5-user)")
    directory = ROOT / ".cache" / f"gssapi-{GSSAPI_VERSION}"
    if not directory.is_dir():
        unfinished = directory.with_name(f"{directory.name}.{os.getpid()}.tmp")
        done = subprocess.run(
            [
                *(sys.executable, "-m", "pip", "install", "--quiet", "--target", str(unfinished)),
                f"gssapi=={GSSAPI_VERSION}",
            ],
            capture_output=True,
            text=True,
            timeout=BUILD_SECONDS_MAX,
            check=False,
        )
        if done.returncode:
            shutil.rmtree(unfinished, ignore_errors=True)
            raise Unavailable("gssapi cannot be built here (Debian: gcc python3-dev libkrb5-dev)")
        unfinished.rename(directory)
    return directory


class Realm:
    """A KDC with the key of a broker in ``keytab``, and users as they are added."""

    def __init__(self, directory: Path, gssapi: Path) -> None:
        self._directory = directory
        with socket.socket() as sock:
            sock.bind(("127.0.0.1", 0))
            self._address = f"127.0.0.1:{sock.getsockname()[1]}"
        self.config = directory / "krb5.conf"
        self.keytab = directory / "kafka.keytab"
        self.environment = {
            "PATH": _PATH,
            "PYTHONPATH": os.pathsep.join(filter(None, (str(gssapi), os.environ.get("PYTHONPATH")))),
            "KRB5_CONFIG": str(self.config),
            "KRB5_KDC_PROFILE": str(directory / "kdc.conf"),
            "KRB5RCACHENAME": f"dfl:{directory}",
            "KRB5RCACHEDIR": str(directory),
        }

    def __enter__(self) -> "Realm":
        self._write()
        self._run("kdb5_util", "create", "-s", "-r", REALM, "-P", "master")
        self.add(SERVICE, self.keytab)
        with (self._directory / "kdc.txt").open("wb") as log:
            self._kdc = subprocess.Popen(
                [_program("krb5kdc"), "-n", "-P", str(self._directory / "kdc.pid")],
                env=self._whole_environment(),
                stdout=log,
                stderr=log,
            )
        self._wait()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self._kdc.kill()
        self._kdc.wait()

    def add(self, principal: str, keytab: Path) -> None:
        """A new principal, with its key in a file."""
        self._run("kadmin.local", "-r", REALM, "addprinc", "-randkey", principal)
        self.renew(principal, keytab)

    def renew(self, principal: str, keytab: Path) -> None:
        """A new key for a principal, in a file of its own."""
        self._run("kadmin.local", "-r", REALM, "ktadd", "-k", str(keytab), principal)

    def user(self, name: str) -> dict[str, str]:
        """The environment of somebody who has a ticket of this user."""
        keytab, cache = (self._directory / f"{name}.{kind}" for kind in ("keytab", "cache"))
        self.add(f"{name}@{REALM}", keytab)
        environment = self.environment | {"KRB5CCNAME": f"FILE:{cache}"}
        self._run("kinit", "-k", "-t", str(keytab), f"{name}@{REALM}", environment=environment)
        return environment

    def keytab_of(self, name: str) -> Path:
        return self._directory / f"{name}.keytab"

    def _write(self) -> None:
        self.config.write_text(
            "[libdefaults]\n"
            f"default_realm = {REALM}\n"
            "dns_lookup_kdc = false\ndns_lookup_realm = false\n"
            "dns_canonicalize_hostname = false\nrdns = false\n"
            "udp_preference_limit = 1\n"
            f"[realms]\n{REALM} = {{\n kdc = {self._address}\n}}\n"
            f"[domain_realm]\nlocalhost = {REALM}\n"
        )
        (self._directory / "kdc.conf").write_text(
            f'[kdcdefaults]\nkdc_listen = ""\nkdc_tcp_listen = {self._address}\n'
            f"[realms]\n{REALM} = {{\n database_name = {self._directory}/principal\n"
            f" key_stash_file = {self._directory}/stash\n acl_file = {self._directory}/acl\n}}\n"
            f"[logging]\nkdc = FILE:{self._directory}/kdc.log\ndefault = FILE:{self._directory}/kdc.log\n"
        )

    def _wait(self) -> None:
        host, _, port = self._address.partition(":")
        deadline = time.monotonic() + START_SECONDS_MAX
        while True:
            try:
                socket.create_connection((host, int(port)), 1).close()
                return
            except OSError:
                is_late = self._kdc.poll() is not None or time.monotonic() > deadline
                assert not is_late, (self._directory / "kdc.txt").read_text()
                time.sleep(0.02)

    def _run(self, program: str, *arguments: str, environment: dict[str, str] | None = None) -> None:
        done = subprocess.run(
            [_program(program), *arguments],
            env=self._whole_environment() | (environment or {}),
            capture_output=True,
            text=True,
            timeout=TOOL_SECONDS_MAX,
            check=False,
        )
        assert done.returncode == 0, f"{program} failed: {done.stderr}"

    def _whole_environment(self) -> dict[str, str]:
        return {**os.environ, **self.environment}


def _program(name: str) -> str:
    found = shutil.which(name, path=_PATH)
    assert found is not None, f"{name} is not installed"
    return found
