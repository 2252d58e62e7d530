"""The process and its machine behind the core's port: from Linux' /proc, and as far as it goes elsewhere."""

import os
import platform
import threading
import time
from pathlib import Path
from typing import NamedTuple

from trivium.core.ports import MachineFacts

_PROC = Path("/proc")
_KIB = 1024


class _Times(NamedTuple):
    """Seconds: on the clock, of this process, of all processes (busy, and altogether)."""

    wall: float
    own: float
    busy: float
    total: float


class ProcessMachine:
    def __init__(self) -> None:
        self._started_at_us = time.time_ns() // 1000
        self._started = time.monotonic()
        self._before = _times()
        system = platform.uname()
        self._names = (system.node, system.system, system.version, system.release)

    def facts(self) -> MachineFacts:
        before, now = self._before, _times()
        self._before = now
        memory = _numbers(_PROC / "meminfo")
        io = _numbers(_PROC / "self" / "io")
        hostname, os_name, os_version, kernel_version = self._names
        return MachineFacts(
            process_id=os.getpid(),
            cpu_percent=_percent(now.own - before.own, now.wall - before.wall),
            machine_cpu_percent=_percent(now.busy - before.busy, now.total - before.total),
            memory_bytes=_numbers(_PROC / "self" / "status").get("VmRSS", 0) * _KIB,
            machine_memory_bytes=memory.get("MemTotal", 0) * _KIB,
            available_memory_bytes=memory.get("MemAvailable", 0) * _KIB,
            run_time_us=int((time.monotonic() - self._started) * 1_000_000),
            started_at_us=self._started_at_us,
            read_bytes=io.get("read_bytes", 0),
            written_bytes=io.get("write_bytes", 0),
            threads_count=threading.active_count(),
            hostname=hostname,
            os_name=os_name,
            os_version=os_version,
            kernel_version=kernel_version,
        )


def _percent(part: float, whole: float) -> float:
    return 100 * part / whole if whole > 0 else 0.0


def _times() -> _Times:
    """Where there is no /proc/stat, only the process is known."""
    own = time.process_time()
    try:
        first_line = (_PROC / "stat").read_text().split("\n", 1)[0]
        ticks = [int(number) for number in first_line.split()[1:9]]
    except (OSError, ValueError):
        return _Times(time.monotonic(), own, 0.0, 0.0)
    idle = ticks[3] + ticks[4]
    return _Times(time.monotonic(), own, float(sum(ticks) - idle), float(sum(ticks)))


def _numbers(path: Path) -> dict[str, int]:
    """Of a file with lines like ``VmRSS:  1234 kB``."""
    try:
        lines = path.read_text().splitlines()
    except OSError:
        return {}
    pairs = (line.partition(":") for line in lines)
    return {name: int(word) for name, _, rest in pairs if (word := rest.split(" kB")[0].strip()).isdigit()}
