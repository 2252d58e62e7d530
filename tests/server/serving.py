"""``trivium serve`` as a process of its own, for tests that look at it from outside or kill it."""

import json
import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import TracebackType
from typing import Any

START_SECONDS_MAX = 60
STOP_SECONDS_MAX = 60


class Served:
    """A broker on free ports, and on the same ones after a restart. It keeps records of any year.

    What it writes is in ``log_text`` and, after its end, in ``greeting``.
    """

    def __init__(
        self,
        directory: Path,
        *flags: str,
        environment: dict[str, str] | None = None,
        descriptors_max: int | None = None,
    ) -> None:
        self.data = directory / "data"
        self._ready_file = directory / "ready.json"
        self._log_file = directory / "log.txt"
        self._output_file = directory / "output.txt"
        self._flags = flags
        self._descriptors_max = descriptors_max
        self._environment = {
            name: value for name, value in os.environ.items() if not name.startswith("TRIVIUM_")
        } | (environment or {})
        self._kafka = self._console = "127.0.0.1:0"
        self.process: subprocess.Popen[bytes]
        self.ready: dict[str, Any] = {}

    def __enter__(self) -> "Served":
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        if self.process.poll() is None:
            self.kill()

    @property
    def bootstrap(self) -> str:
        return str(self.ready["kafka"])

    @property
    def console(self) -> str:
        return str(self.ready["console"])

    @property
    def log_text(self) -> str:
        return self._log_file.read_text()

    @property
    def greeting(self) -> str:
        return self._output_file.read_text()

    @property
    def resident_bytes(self) -> int:
        """Memory of the process, by Linux."""
        for line in Path(f"/proc/{self.process.pid}/status").read_text().splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) * 1024
        raise AssertionError("no VmRSS")

    def start(self) -> None:
        with self._log_file.open("ab") as log, self._output_file.open("wb") as output:
            self.process = subprocess.Popen(
                [
                    *(sys.executable, "-m", "trivium", "serve"),
                    *("--data", str(self.data), "--kafka", self._kafka, "--console", self._console),
                    *("--iggy", "off", "--rustlog", "off", "--ready-file", str(self._ready_file)),
                    *("--set", "log.retention.ms=-1"),
                    *self._flags,
                ],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=log,
                env=self._environment,
                preexec_fn=self._limit_descriptors,
            )
        deadline = time.monotonic() + START_SECONDS_MAX
        while not self._ready_file.exists():
            if self.process.poll() is not None or time.monotonic() > deadline:
                self.kill()
                raise AssertionError(f"trivium serve did not start: {self.log_text}")
            time.sleep(0.005)
        self.ready = json.loads(self._ready_file.read_text())
        self._kafka, self._console = self.bootstrap, self.ready.get("console", "off")

    def _limit_descriptors(self) -> None:
        if self._descriptors_max is not None:
            resource.setrlimit(resource.RLIMIT_NOFILE, (self._descriptors_max, self._descriptors_max))

    def stop(self, number: int = signal.SIGTERM) -> int:
        """The exit code after a signal."""
        self.process.send_signal(number)
        return self.process.wait(STOP_SECONDS_MAX)

    def kill(self) -> None:
        """As a power cut is to the process, not to the disk."""
        self.process.kill()
        self.process.wait()
        self._ready_file.unlink(missing_ok=True)


def run_serve(*arguments: str) -> "subprocess.CompletedProcess[str]":
    """A ``trivium serve`` that is expected to end by itself."""
    return subprocess.run(
        [sys.executable, "-m", "trivium", "serve", "--iggy", "off", "--rustlog", "off", *arguments],
        capture_output=True,
        text=True,
        timeout=START_SECONDS_MAX,
        check=False,
    )
