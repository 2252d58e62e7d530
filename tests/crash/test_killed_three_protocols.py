"""Promises R1 and R12: what was acknowledged through any protocol survives kill -9, and is one log for all.

A real ``trivium serve`` with three listeners, clients of three protocols on the same partitions, SIGKILL at
random moments, a restart on the same directory; after each, readers of every protocol go on where they have
stopped, and in the end others read everything. All of it is one history, and the checker judges it.

``make crash N=300`` kills more often. The seed of a failure is printed; it replays what every client does::

    TRIVIUM_CRASH_SEED=… TRIVIUM_CRASH_KILLS=… python -m pytest tests/crash/test_killed_three_protocols.py

When exactly a kill strikes cannot be replayed. The history stays in pytest's temporary directory, and
``python -m trivium.testing.history FILE`` judges it again.
"""

import os
import random
import time
from pathlib import Path

from tests.server.serving import Served
from tests.server.wire import create_topic
from tests.testing.history.mixed_load import MixedLoad
from trivium.testing.history import Operation, Outcome, Protocol, Recorder, Send, check, read_history

KILLS = int(os.environ.get("TRIVIUM_CRASH_KILLS", "3"))
SEED = int(os.environ.get("TRIVIUM_CRASH_SEED", random.SystemRandom().randrange(1 << 32)))
TOPIC = "witness"
PARTITIONS = 3
CONNECT_SECONDS_MAX = 20
UNDER_WAY_SECONDS_MAX = 0.3
"""A kill comes at any moment from the first bytes on to the middle of a steady stream."""
OPERATIONS_BEFORE = 15
"""Of each client, before the first kill."""
LISTEN = ("--iggy", "127.0.0.1:0", "--rustlog", "127.0.0.1:0")


def test_acknowledged_records_of_three_protocols_after_kill_9_are_one_log_without_anomaly(
    tmp_path: Path,
) -> None:
    path = tmp_path / "history.jsonl"
    print(f"TRIVIUM_CRASH_SEED={SEED} TRIVIUM_CRASH_KILLS={KILLS}, history: {path}")
    choice = random.Random(SEED)
    settings = ("--set", f"num.partitions={PARTITIONS}")
    with (
        Served(tmp_path, *LISTEN, *settings) as served,
        path.open("wb") as file,
        Recorder(file) as recorder,
    ):
        create_topic(served.bootstrap, TOPIC)
        load = MixedLoad(recorder, SEED, TOPIC, PARTITIONS)
        # A busy machine may do nothing before a kill. This much is acknowledged, and survives all of them.
        load.run(served.ready, operations=OPERATIONS_BEFORE).wait()
        for _ in range(KILLS):
            running = load.run(served.ready)
            if choice.random() < 0.8:
                # Otherwise most kills would come before the first login: checking a password takes long.
                assert running.all_connected.wait(CONNECT_SECONDS_MAX), "not everybody could connect"
            time.sleep(choice.uniform(0, UNDER_WAY_SECONDS_MAX))
            served.kill()
            running.wait()
            served.start()
            load.follow(served.ready)
        load.read_everything(served.ready)
        assert served.stop() == 0
    verdict = check(read_history(path))
    print(verdict, f"{acknowledged(path)} records acknowledged", sep="; ")
    assert verdict.is_clean, str(verdict)
    assert all(acknowledged(path).values()), "nothing was acknowledged that a kill could have taken"


def acknowledged(path: Path) -> dict[str, int]:
    """Records by the protocol they were sent through."""
    counts = {protocol.value: 0 for protocol in Protocol}
    for each in read_history(path):
        counts[each.protocol.value] += _sent(each)
    return counts


def _sent(operation: Operation) -> int:
    act = operation.act
    return len(act.values) if isinstance(act, Send) and operation.outcome is Outcome.OK else 0
