"""The two servers, empty, with the same settings."""

import contextlib
import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from bench.peers import free_port, iggy_settings, process
from tests.interop.iggy.dialogues.server import Server
from tests.interop.kafka import Unavailable
from tests.protocols.iggy.raw_client import RawClient
from tests.server.serving import Served

VARIABLE = "IGGY_SERVER"


@dataclass(frozen=True)
class Pair:
    ours: Server
    theirs: Server


def iggy_server() -> str:
    named = os.environ.get(VARIABLE)
    if not named or shutil.which(named) is None:
        raise Unavailable(f"{VARIABLE} names no server of Iggy 0.8")
    return named


@contextlib.contextmanager
def servers(program: str, directory: Path) -> Iterator[Pair]:
    (directory / "ours").mkdir()
    (directory / "theirs").mkdir()
    with (
        iggy(directory / "theirs", program) as theirs,
        Served(directory / "ours", "--iggy", "127.0.0.1:0") as served,
    ):
        pair = Pair(Server(str(served.ready["iggy"])), theirs)
        yield pair
        pair.ours.close()
        pair.theirs.close()


@contextlib.contextmanager
def iggy(directory: Path, program: str) -> Iterator[Server]:
    """With one shard: with several, one may not know yet what another has done. It saves every message at
    once: what it has not saved it still gives out when the topic has been purged.
    """
    port = free_port()
    settings = {
        **iggy_settings(port, directory),
        "IGGY_SYSTEM_SHARDING_CPU_ALLOCATION": "1",
        "IGGY_SYSTEM_PARTITION_MESSAGES_REQUIRED_TO_SAVE": "1",
    }
    with process("iggy", [program], port, directory / "log.txt", greet=_log_in, environment=settings):
        yield Server(f"127.0.0.1:{port}")


def _log_in(port: int) -> None:
    with RawClient(f"127.0.0.1:{port}") as client:
        client.login()
