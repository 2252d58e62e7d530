"""What a person sees of flows while they run (M7): how fast, how far behind, what was set aside."""

import io
import time

from rich.console import Console
from tests.client.live import fill
from tests.pipeline.definitions import defined

from trivium.cli.pipeline_watching import LagSeconds, progress_table
from trivium.client.cluster import Cluster
from trivium.client.door import Door
from trivium.client.group_offsets import CommittedOffset, commit_offsets
from trivium.client.topology import TopicPartition
from trivium.pipeline.definition import Definition
from trivium.spark.running.tally import Tally

SECONDS_MAX = 60.0


def shop(topic: str) -> Definition:
    return defined(
        f"""
        [pipeline]
        name = "{topic}"
        [source.orders]
        topic = "{topic}"
        [flow.clean]
        sql = "SELECT * FROM orders"
        sink = {{ topic = "out" }}
        """
    )


def wait_for(lag: LagSeconds) -> dict[str, float | None]:
    ends_at = time.monotonic() + SECONDS_MAX
    while not lag.by_flow and time.monotonic() < ends_at:
        time.sleep(0.01)
    return lag.by_flow


def test_table_shows_speed_lag_batch_time_and_what_was_set_aside() -> None:
    tally = Tally("clean", rows_in=1200, rows_out=1100, quarantined=99, dropped=1, batch_ms=345)
    tally.rows_per_second, tally.lag_records = 5000.4, 67890
    drawn = io.StringIO()
    Console(file=drawn, width=160).print(
        progress_table("shop", {"clean": tally, "fresh": Tally("fresh")}, {"clean": 12.5})
    )
    _, heading, clean, fresh = drawn.getvalue().splitlines()
    for name in ("rows per second", "lag records", "lag seconds", "batch ms", "quarantined"):
        assert name in heading
    assert clean.split() == ["clean", "1,200", "1,100", "99", "1", "5,000", "67,890", "12.5", "345"]
    assert fresh.split() == ["fresh", "0", "0", "0", "0", "0", "0"], "what is not known is not shown"


def test_seconds_are_those_that_status_says(cluster: Cluster, bootstrap: str, topic: str) -> None:
    hour_ago_ms = int(time.time() * 1000) - 3_600_000
    fill(cluster, topic, b"a", b"b", timestamp_ms=hour_ago_ms)
    commit_offsets(cluster, f"{topic}.clean", {TopicPartition(topic, 0): CommittedOffset(1)})
    with LagSeconds(shop(topic), Door(bootstrap)) as lag:
        seconds = wait_for(lag)["clean"]
    assert seconds is not None
    assert seconds >= 3_598
