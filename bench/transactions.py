"""Transactions of Trivium and Kafka by librdkafka, which waits for each step of each of them."""

import statistics
import time
import uuid
from collections.abc import Callable, Sequence

from bench.load import Client
from bench.peers import Peer
from confluent_kafka import Producer

ROUNDS = 3
RECORDS = 100
VALUE_BYTES = 1024
TRANSACTIONS = 100

Rows = list[tuple[str, ...]]


def transactions(row: Callable[..., tuple[str, ...]], peers: Sequence[Peer]) -> Rows:
    rates, costs = transaction_rates(peers)
    return [
        row("transactions of 100 x 1 KB, records/s", rates, ",.0f", ">= 1"),
        row("    processor ms for each", costs, ".2f", "<= 1"),
    ]


def transaction_rates(peers: Sequence[Peer]) -> tuple[list[float], list[float]]:
    """Records a second in transactions of a hundred, and milliseconds of processor for each of them."""
    found: list[list[tuple[float, float]]] = [[] for _ in peers]
    for round_ in range(ROUNDS):
        for peer, results in zip(peers, found, strict=True):
            results.append(_transact(peer, f"bench-{round_}"))
    return (
        [statistics.median(rate for rate, _ in results) for results in found],
        [statistics.median(cost for _, cost in results) for results in found],
    )


def _transact(peer: Peer, transactional_id: str) -> tuple[float, float]:
    with Client(peer.port) as client:
        client.create_topic("transactions")
    producer = Producer(
        {
            "bootstrap.servers": f"127.0.0.1:{peer.port}",
            "transactional.id": transactional_id,
            "linger.ms": 5,
        }
    )
    producer.init_transactions(60)
    value = uuid.uuid4().bytes * (VALUE_BYTES // 16)
    _commit_one(producer, value)
    cpu_s, start_s = peer.cpu_s, time.perf_counter()
    for _ in range(TRANSACTIONS):
        _commit_one(producer, value)
    seconds = time.perf_counter() - start_s
    return TRANSACTIONS * RECORDS / seconds, (peer.cpu_s - cpu_s) / TRANSACTIONS * 1000


def _commit_one(producer: Producer, value: bytes) -> None:
    producer.begin_transaction()
    for _ in range(RECORDS):
        producer.produce("transactions", value)
    producer.commit_transaction(60)
