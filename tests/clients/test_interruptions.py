"""A broker that stops or is killed while clients work: nothing acknowledged is lost, nothing doubled (R1)."""

import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.clients.clients import SECONDS_MAX, Client, Sending, Sent
from trivium.testing import Broker

RECORDS = 3_000
INTERRUPTIONS = 3


def restart(broker: Broker) -> None:
    broker.restart()


def kill(broker: Broker) -> None:
    broker.kill()
    broker.start()


@pytest.fixture(params=[restart, kill])
def interrupt(request: pytest.FixtureRequest) -> Callable[[Broker], None]:
    end: Callable[[Broker], None] = request.param
    return end


def interrupted_records(broker: Broker, interrupt: Callable[[Broker], None]) -> Iterator[Sent]:
    """Records to be sent; while they are handed out, the broker is interrupted again and again."""
    step = RECORDS // (INTERRUPTIONS + 1)
    threads: list[threading.Thread] = []
    for number in range(RECORDS):
        if number and number % step == 0 and len(threads) < INTERRUPTIONS:
            for thread in threads:
                thread.join()
            threads.append(threading.Thread(target=interrupt, args=(broker,)))
            threads[-1].start()
        yield Sent(b"%d" % number)
    for thread in threads:
        thread.join()


def test_idempotent_producer_loses_and_doubles_nothing(
    client: Client, interrupt: Callable[[Broker], None]
) -> None:
    """R13 through a real client: retries after each interruption are recognised, also by the next broker."""
    with Broker() as broker:
        broker.create_topic("t")
        client.produce(
            broker.bootstrap,
            "t",
            interrupted_records(broker, interrupt),
            Sending(idempotent=True, linger_ms=1),
        )
        found = [record.value for record in broker.records("t")]
    assert found == [b"%d" % number for number in range(RECORDS)]


def test_producer_that_waits_for_all_acks_loses_nothing(
    client: Client, interrupt: Callable[[Broker], None]
) -> None:
    with Broker() as broker:
        broker.create_topic("t")
        told = client.produce(
            broker.bootstrap, "t", interrupted_records(broker, interrupt), Sending(acks="all", linger_ms=1)
        )
        found = {record.offset: record.value for record in broker.records("t")}
    assert len(told) == RECORDS
    assert {offset for _, offset in told} <= found.keys()
    assert set(found.values()) == {b"%d" % number for number in range(RECORDS)}


def test_consumer_reads_on_where_it_was(client: Client, interrupt: Callable[[Broker], None]) -> None:
    """Records come while it reads, and the broker goes away in between."""
    with Broker() as broker:
        broker.create_topic("t")
        fetches = broker.faults.delay("Fetch", seconds=0, topic="t")

        def work() -> None:
            while not fetches.fired:
                time.sleep(0.01)  # Not before the client is at work: some give up if nobody answers at first.
            for first in range(0, RECORDS, 1_000):
                broker.produce("t", [str(number) for number in range(first, first + 1_000)])
                interrupt(broker)

        worker = threading.Thread(target=work, daemon=True)
        worker.start()
        seen = client.consume(broker.bootstrap, "t", RECORDS)
        worker.join(SECONDS_MAX)
    assert [(record.offset, record.value) for record in seen] == [
        (number, b"%d" % number) for number in range(RECORDS)
    ]


def test_acknowledged_records_are_on_disk_after_every_kill(client: Client, tmp_path: Path) -> None:
    """The same on a real directory: each life of the broker finds what the ones before have acknowledged."""
    expected: list[bytes | None] = []
    with Broker(tmp_path) as broker:
        for life in range(INTERRUPTIONS):
            expected.append(b"%d" % life)
            client.produce(broker.bootstrap, "t", [Sent(expected[-1])], Sending(idempotent=True))
            kill(broker)
            assert [record.value for record in broker.records("t")] == expected
