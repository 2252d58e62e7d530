"""A node as a process of its own: its loop, its signals, its descriptors, and the file that says it is ready.

SIGTERM and SIGINT stop it cleanly, a second one at once: the log is made for that. SIGHUP stops a node whose
terminal has gone, and is nothing to one that has none.
"""

import asyncio
import gc
import json
import os
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import FrameType
from typing import Any

from trivium import __version__
from trivium.server.configuration.configuration import Configuration
from trivium.server.event_log import events
from trivium.server.node import Node

GC_THRESHOLD = 20_000
"""Objects between two looks for garbage in cycles. What a broker makes for a request has none, so most looks
find nothing; Python's default would look every 700."""


class CannotServe(Exception):
    """Something outside of the node is in the way; the message says what and what to do."""


def run(configuration: Configuration, *, ready_file: Path | None, announce: Callable[[Node], None]) -> None:
    """Serve until a signal comes. ``announce`` is called once clients can connect."""
    allow_many_descriptors()
    # What was imported stays: no need to look through it again and again.
    gc.freeze()
    gc.set_threshold(GC_THRESHOLD)
    if ready_file is not None:
        forget_ready(ready_file)
    _run_loop(_serve(configuration, ready_file, announce))


def _run_loop(main: Any) -> None:
    """With uvloop; with Python's own loop where there is none."""
    try:
        import uvloop
    except ImportError:
        asyncio.run(main)
    else:
        uvloop.run(main)


async def _serve(
    configuration: Configuration, ready_file: Path | None, announce: Callable[[Node], None]
) -> None:
    events.info("starting", version=__version__, pid=os.getpid())
    node = Node(configuration)
    stopping = asyncio.Event()
    losses: list[str] = []

    def give_up(reason: str) -> None:
        losses.append(reason)
        stopping.set()

    node.when_lost = give_up
    await node.start()
    _obey_signals(stopping)
    try:
        if ready_file is not None:
            write_ready(ready_file, node)
        announce(node)
        await stopping.wait()
    finally:
        if ready_file is not None:
            forget_ready(ready_file)
        await node.stop()
    if losses:
        raise CannotServe(f"{losses[0]}; check the disk, then start again to recover.")


def _obey_signals(stopping: asyncio.Event) -> None:
    """By handlers that run even while the log is being closed, when the loop does not turn."""
    loop = asyncio.get_running_loop()
    asked = False

    def obey(number: int, frame: FrameType | None) -> None:
        nonlocal asked
        if asked:
            os._exit(128 + number)
        asked = True
        events.info("stopping", signal=signal.Signals(number).name)
        loop.call_soon_threadsafe(stopping.set)

    signal.signal(signal.SIGTERM, obey)
    signal.signal(signal.SIGINT, obey)
    has_terminal = sys.stdin is not None and sys.stdin.isatty()
    signal.signal(signal.SIGHUP, obey if has_terminal else signal.SIG_IGN)


def allow_many_descriptors() -> None:
    """Every connection and every open segment takes one: as many as this user may have."""
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        with suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def write_ready(path: Path, node: Node) -> None:
    """Say where the node is reached, in one step: who sees the file sees all of it."""
    facts: dict[str, Any] = {
        protocol.value: ",".join(map(str, addresses)) for protocol, addresses in node.addresses.items()
    }
    facts |= {
        "pid": os.getpid(),
        "node_id": node.meta.node_id,
        "cluster_id": node.meta.cluster_id,
        "data": [directory.path for directory in node.store.directories],
        "version": __version__,
    }
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        unfinished.write_text(json.dumps(facts, indent=2) + "\n")
        unfinished.replace(path)
    except OSError as error:
        raise CannotServe(f"The ready file {path} cannot be written: {error.strerror}.") from error


def forget_ready(path: Path) -> None:
    """A node that does not serve has no ready file, not even an old one."""
    with suppress(OSError):
        path.unlink(missing_ok=True)
