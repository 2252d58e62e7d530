"""One row from topic to topic through Spark, exactly once: how long it takes, and what waiting for it costs.

Run ``python -m bench.spark_latency``. A query with the continuous trigger copies ``in`` to ``out``, on a
broker of its own; a Kafka client sends a row, and another that reads committed records waits for it. The
first rounds do not count: the JVM compiles what it runs. A query with nothing to do should start no job; what
it costs is the processor time of Spark's JVM and of the processes of Python that it has started.
"""

import statistics
import sys
import time
from pathlib import Path

from bench.peers import scratch, trivium
from bench.spark_reads import SETTINGS, processor_s, spent_s
from confluent_kafka import Consumer, Producer
from confluent_kafka import TopicPartition as Place
from rich.console import Console

from trivium.client.admin_topics import NewTopic, create_topics
from trivium.client.cluster import Cluster
from trivium.client.errors import settled
from trivium.spark import session

ROUNDS = 160
WARM_ROUNDS = 60
IDLE_S = 5.0
DEADLINE_S = 60.0
LEVEL_MS = 120


def main() -> None:
    console = Console(highlight=False)
    with scratch() as directory, trivium(Path(directory)) as broker:
        bootstrap = f"127.0.0.1:{broker.port}"
        with Cluster.connect(bootstrap) as cluster:
            made = create_topics(cluster, [NewTopic("in", 1, 1, {}), NewTopic("out", 1, 1, {})])
            for outcome in made.values():
                settled(outcome)
        spark = session("local[2]", **SETTINGS)
        options = {"kafka.bootstrap.servers": bootstrap}
        source = spark.readStream.format("trivium").schema("key BINARY, value BINARY")
        query = (
            source.options(**options, subscribe="in", startingOffsets="earliest")
            .load()
            .writeStream.format("trivium")
            .options(**options, topic="out", checkpointLocation=f"{directory}/checkpoint")
            .trigger(processingTime="0 seconds")
            .start()
        )
        waits_ms = sorted(rounds(bootstrap)[WARM_ROUNDS:])
        jvm = int(spark._jvm.java.lang.ProcessHandle.current().pid())  # type: ignore[union-attr]
        tracker = spark.sparkContext.statusTracker()
        jobs, before = len(tracker.getJobIdsForGroup(str(query.runId))), processor_s(jvm)
        time.sleep(IDLE_S)
        idle = sum(spent_s(jvm, before)) / IDLE_S
        idle_jobs = len(tracker.getJobIdsForGroup(str(query.runId))) - jobs
        query.stop()
        spark.stop()
    p50, p90 = statistics.median(waits_ms), waits_ms[int(len(waits_ms) * 0.9)]
    console.print(f"one row, topic to topic: p50 {p50:.0f} ms (<= {LEVEL_MS}), p90 {p90:.0f} ms")
    console.print(f"nothing to do: {idle_jobs} jobs (0), {100 * idle:.0f} % of a processor")
    sys.exit(idle_jobs > 0)


def rounds(bootstrap: str) -> list[float]:
    """Milliseconds from sending a row until it is there, one after the other."""
    producer = Producer({"bootstrap.servers": bootstrap, "linger.ms": 0})
    consumer = Consumer(
        {
            "bootstrap.servers": bootstrap,
            "group.id": "unused",
            "isolation.level": "read_committed",
            "fetch.wait.max.ms": 10,
        }
    )
    consumer.assign([Place("out", 0, 0)])
    waits_ms = []
    for number in range(ROUNDS):
        began = time.perf_counter()
        producer.produce("in", str(number))
        producer.flush()
        message = None
        while message is None or message.error():
            assert time.perf_counter() < began + DEADLINE_S, "the row did not arrive"
            message = consumer.poll(1.0)
        assert message.value() == str(number).encode()
        waits_ms.append(1000 * (time.perf_counter() - began))
    consumer.close()
    return waits_ms


if __name__ == "__main__":
    main()
