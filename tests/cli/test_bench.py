"""``trivium bench``: that it measures what it says. How fast anything is, is not tested."""

import pytest
from tests.cli.commands import complaint, facts, output
from tests.client.live import eventually

from trivium.client.cluster import Cluster
from trivium.client.offsets import offset_ranges
from trivium.client.topology import TopicPartition

FIGURES = {
    "records",
    "seconds",
    "records_per_second",
    "megabytes_per_second",
    "p50_ms",
    "p90_ms",
    "p99_ms",
    "p99_9_ms",
    "max_ms",
}


@pytest.mark.parametrize(
    "options",
    [
        (),
        ("--acks", "0"),
        ("--acks", "1", "--compression", "lz4"),
        ("--batch", "7", "--in-flight", "1"),
        ("--rate", "10000"),
        ("--size", "0"),
    ],
)
def test_bench_writes_and_reads_as_many_records_as_it_says(
    bootstrap: str, cluster: Cluster, name: str, options: tuple[str, ...]
) -> None:
    broker = ("--broker", bootstrap, "--topic", name)
    made = facts("bench", "produce", "-n", "1000", "-p", "3", *options, *broker)
    assert set(made) == FIGURES
    assert made["records"] == 1000
    assert 0 < made["p50_ms"] <= made["p99_ms"] <= made["max_ms"]

    def written() -> int:
        ranges = offset_ranges(cluster, [TopicPartition(name, index) for index in range(3)])
        return sum(end for _, end in ranges.values())

    eventually(written, 1000)  # With acks 0 nobody has said so yet.
    assert facts("bench", "consume", *broker)["records"] == 1000


def test_bench_shows_a_table(bootstrap: str, name: str) -> None:
    shown = output("bench", "produce", "-n", "10", "--topic", name, "--broker", bootstrap)
    for part in (f"produced to {name}", "records/s", "MB/s", "99 % within"):
        assert part in shown


def test_bench_of_an_empty_topic_says_how_to_fill_it(bootstrap: str, topic: str) -> None:
    said = complaint("bench", "consume", "--topic", topic, "--broker", bootstrap)
    assert said == f"Topic {topic} is empty; fill it with 'trivium bench produce --topic {topic}'."
