"""A node as a process: the end of one that has lost its metadata."""

import asyncio
import sys
from pathlib import Path

import pytest

from trivium.server import process
from trivium.server.configuration.loading import load
from trivium.server.node import Node
from trivium.server.process import CannotServe


def test_node_that_loses_its_metadata_directory_ends_with_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As Kafka does: a supervisor starts it again, and the start recovers."""
    # Signals and garbage collection are the test runner's here.
    monkeypatch.setattr(process, "_obey_signals", lambda stopping: None)
    monkeypatch.setattr("trivium.server.process.gc.freeze", lambda: None)
    monkeypatch.setattr("trivium.server.process.gc.set_threshold", lambda threshold: None)
    doors = {
        "listen.kafka": "127.0.0.1:0",
        "listen.iggy": "off",
        "listen.rustlog": "off",
        "listen.console": "off",
    }
    flags = {"data": str(tmp_path / "data"), **doors}

    def break_disk(node: Node) -> None:
        node.store.directories[0].health.fail(OSError(5, "Input/output error"), "sync")

    with pytest.raises(CannotServe, match=r"Input/output error.*start again"):
        process.run(load(None, {}, flags), ready_file=tmp_path / "ready", announce=break_disk)
    assert not (tmp_path / "ready").exists()


def test_loop_without_uvloop_is_pythons_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "uvloop", None)
    seen: list[str] = []

    async def main() -> None:
        seen.append(type(asyncio.get_running_loop()).__module__)

    process._run_loop(main())
    assert seen[0].startswith("asyncio.")
