"""What a person waits for while writing a pipeline: its check, and a test of it.

Run ``python -m bench.spark_pipelines``. ``check`` is the command as it is typed, for the demo's pipeline and
with a broker to ask; no Spark starts. The test is ``trivium.testing.run_pipeline`` of a small pipeline,
once Spark is warm: the first test of a process waits for Spark, those after it do not.
"""

import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

from bench.peers import scratch, trivium
from rich.console import Console

from trivium.client.admin_topics import NewTopic, create_topics
from trivium.client.cluster import Cluster
from trivium.client.errors import settled
from trivium.testing import run_pipeline

PIPELINE = Path(__file__).parent.parent / "demo" / "shop.toml"
SMALL_PIPELINE = """
[pipeline]
name = "orders"
[source.orders]
schema = "id BIGINT, amount DOUBLE"
[flow.kept]
sql = "SELECT * FROM orders"
expect.positive = "amount > 0"
sink = { format = "delta", path = "kept" }
"""
ROUNDS = 5
CHECK_LEVEL_S = 3.0
TEST_LEVEL_S = 5.0


def main() -> None:
    console = Console(highlight=False)
    with scratch() as directory:
        with trivium(Path(directory)) as broker:
            waits_s, processor_s = checks(f"127.0.0.1:{broker.port}")
        console.print(
            f"trivium pipeline check: {statistics.median(waits_s):.1f} s (<= {CHECK_LEVEL_S:.0f}), best "
            f"{min(waits_s):.1f} s; {processor_s:.1f} s of a processor"
        )
        file = Path(directory, "orders.toml")
        file.write_text(SMALL_PIPELINE)
        cold_s = tested(file)
        warm_s = [tested(file) for _ in range(ROUNDS)]
    console.print(
        f"a test of a pipeline: {statistics.median(warm_s):.1f} s (<= {TEST_LEVEL_S:.0f}), best "
        f"{min(warm_s):.1f} s; the first, with the start of Spark, {cold_s:.1f} s"
    )


def checks(bootstrap: str) -> tuple[list[float], float]:
    """Seconds of each check, and the fewest processor seconds."""
    with Cluster.connect(bootstrap) as cluster:
        for outcome in create_topics(
            cluster, [NewTopic(name, 1, 1, {}) for name in ("orders", "clicks")]
        ).values():
            settled(outcome)
    command = [sys.executable, "-m", "trivium", "pipeline", "check", str(PIPELINE), "--broker", bootstrap]
    waits_s, used_s = [], []
    for _ in range(ROUNDS):
        before, began = os.times(), time.perf_counter()
        subprocess.run(command, check=True, capture_output=True)
        waits_s.append(time.perf_counter() - began)
        after = os.times()
        used_s.append(
            after.children_user - before.children_user + after.children_system - before.children_system
        )
    return waits_s, min(used_s)


def tested(file: Path) -> float:
    began = time.perf_counter()
    found = run_pipeline(file, orders=[{"id": 1, "amount": 2.5}, {"id": 2, "amount": -1.0}, b"no JSON"])
    assert [row["id"] for row in found["kept"].rows] == [1]
    assert len(found["kept"].quarantined) == 2
    return time.perf_counter() - began


if __name__ == "__main__":
    main()
