"""Promise R12: three protocols at once on the same partitions are one log with one order, come what may."""

import os
import random
from pathlib import Path

from tests.testing.history.mixed_load import MixedLoad
from trivium.testing import Broker
from trivium.testing.history import Outcome, Protocol, Recorder, check, read_history

SEED = int(os.environ.get("TRIVIUM_CRASH_SEED", random.SystemRandom().randrange(1 << 32)))
PARTITIONS = 3
OPERATIONS = 40
"""Of each actor, before and after each restart."""
LISTEN = {f"listen.{protocol.value}": "127.0.0.1:0" for protocol in Protocol}


def test_mixed_load_through_three_protocols_has_no_anomaly(tmp_path: Path) -> None:
    print(f"TRIVIUM_CRASH_SEED={SEED}")
    path = tmp_path / "history.jsonl"
    with Broker(settings=LISTEN) as broker, path.open("wb") as file, Recorder(file) as recorder:
        broker.create_topic("orders", PARTITIONS)
        load = MixedLoad(recorder, SEED, "orders", PARTITIONS)
        addresses = {protocol.value: broker.address(protocol.value) for protocol in Protocol}
        for end_of_life in (broker.stop, broker.kill):
            load.run(addresses, operations=OPERATIONS).wait()
            load.follow(addresses)
            end_of_life()
            broker.start()
        load.run(addresses, operations=OPERATIONS).wait()
        load.read_everything(addresses)
    verdict = check(read_history(path))
    assert verdict.is_clean, str(verdict)
    done = {(each.protocol, type(each.act)) for each in read_history(path) if each.outcome is Outcome.OK}
    assert len(done) == len(Protocol) * 4, "every protocol has sent, polled, committed and found offsets"
