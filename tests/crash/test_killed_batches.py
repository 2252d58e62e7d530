"""Promise R19, the broker's half: batches of a query are whole, and there once, over kill -9 at any moment.

A real ``trivium serve``, a query whose tasks write each batch to every partition in a transaction of their
own and whose driver commits it, SIGKILL at random while they do, a restart on the same directory. Whenever
something fails the query behaves as a killed one does: it forgets what it knew, and writes the batch again
under the same number. In the end each batch is in every partition once, in order. A failure prints its seed.
"""

import random
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.crash.test_killed_broker import KILLS, PARTITIONS, SEED
from tests.crash.test_killed_transactions import read_committed
from tests.server.serving import Served
from tests.server.wire import create_topic
from trivium.client.cluster import Cluster
from trivium.client.errors import ClientError
from trivium.client.query_batches import (
    abort_leftovers,
    abort_prepared,
    commit_batch,
    last_batch,
    transactional_id,
)
from trivium.client.transactional_producer import Prepared, TransactionalProducer

TOPIC = "witness"
QUERY = "witness"
KILL_SECONDS_MAX = 0.4
FORGETS = 0.2
"""So many of the batches are written again although their commit was answered."""


@pytest.fixture
def choice(request: pytest.FixtureRequest) -> random.Random:
    print(f"TRIVIUM_CRASH_SEED={SEED}")
    return random.Random(f"{SEED} {request.node.name}")


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    with Served(tmp_path, "--set", f"num.partitions={PARTITIONS}") as served:
        create_topic(served.bootstrap, TOPIC)
        yield served


def write_part(cluster: Cluster, part: int, batch_id: int) -> Prepared:
    with TransactionalProducer(cluster, transactional_id(QUERY, part)) as producer:
        producer.send(TOPIC, b"%012d" % batch_id, partition=part)
        return producer.prepare()


def run_batch(cluster: Cluster, batch_id: int) -> None:
    prepared = [write_part(cluster, part, batch_id) for part in range(PARTITIONS)]
    commit_batch(cluster, QUERY, batch_id, prepared)


def test_batches_through_several_kill_9_are_whole_and_there_once(
    served: Served, choice: random.Random
) -> None:
    delays = [choice.uniform(0, KILL_SECONDS_MAX) for _ in range(KILLS)]
    is_over = threading.Event()

    def torment() -> None:
        for delay in delays:
            is_over.wait(delay)
            served.kill()
            served.start()

    batch_id = 0
    with ThreadPoolExecutor(1) as killer, Cluster.connect(served.bootstrap) as cluster:
        tormented = killer.submit(torment)
        tormented.add_done_callback(lambda _: is_over.set())
        while not is_over.is_set():
            try:
                run_batch(cluster, batch_id)
            except ClientError:
                continue
            if choice.random() >= FORGETS:
                batch_id += 1
        tormented.result()
        abort_leftovers(cluster, QUERY)
        run_batch(cluster, batch_id)
        assert last_batch(cluster, QUERY) == batch_id
        abort_prepared(cluster, [write_part(cluster, 0, batch_id + 1)])
    for numbers in read_committed(served):
        assert numbers == list(range(batch_id + 1)), "a batch is torn, lost, or there twice"
    assert served.stop() == 0
