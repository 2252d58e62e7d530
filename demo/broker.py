"""The broker's part of the tour, in half a minute, without Java: ``python -m demo.broker``, or ``make demo``
where there is none.

A broker is started, a foreign Kafka client writes to it, and the broker is killed in the middle; it comes
back, and what was acknowledged is counted. A consumer group reads it, and a client of RustLog sees the same
records and where the group stands. Then the same broker serves a directory that Apache Kafka wrote and was
killed on. At last, a broker inside a program, as tests use it.
"""

import contextlib
import json
import signal
import socket
import struct
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from confluent_kafka import Consumer, KafkaError, Message, Producer
from rich.console import Console

from trivium.testing import Broker

KAFKA_DIRECTORY = Path(__file__).parent.parent / "tests/golden/kafka-directories/killed.tar.xz"
ORDERS = 50_000
KILL_AFTER = 20_000
QUIET = {"log_level": 0}
"""librdkafka reports lost connections on standard error, and we are about to make some."""

console = Console(highlight=False)


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="trivium-tour-") as root:
        ours = Path(root, "ours")
        step("1. A broker")
        with serving(ours) as broker:
            trivium("topic", "create", "orders", "--partitions", "3", broker=broker)
            step("2. librdkafka writes orders with acks=all; the broker is killed meanwhile")
            acknowledged, client = write_until(KILL_AFTER, broker.address)
            broker.process.send_signal(signal.SIGKILL)
            broker.process.wait()
            console.print(f"kill -9 after {len(acknowledged):,} acknowledged orders")
        with serving(ours, broker.address) as broker:
            client.flush(30)
            console.print(f"the client went on by itself: {len(acknowledged):,} acknowledged in all")
            step("3. A consumer group reads them")
            count(read_as_group(broker.address), acknowledged)
            trivium("group", "describe", "billing", broker=broker)
            trivium("topic", "list", broker=broker)
            step("4. The same topic for clients of Iggy and RustLog")
            trivium("topic", "show", "orders", broker=broker)
            ask_as_rustlog(broker.rustlog)
        step("5. The same broker on a directory of an Apache Kafka that was killed")
        with tarfile.open(KAFKA_DIRECTORY) as archive:
            archive.extractall(root, filter="data")
        theirs = next(path.parent for path in Path(root).rglob("meta.properties") if path.parent != ours)
        with serving(theirs) as broker:
            trivium("consume", "keyed", "--keys", "--offsets", "--headers", "--max", "5", broker=broker)
            trivium("group", "list", broker=broker)
        step("6. A broker inside a test")
        in_a_test()


def step(title: str) -> None:
    console.rule(f"[bold]{title}", align="left")


def trivium(*arguments: str, broker: "Served") -> None:
    console.print(f"$ trivium {' '.join(arguments)}", style="bold cyan")
    sys.stdout.flush()
    command = [sys.executable, "-m", "trivium", *arguments, "--broker", broker.address]
    subprocess.run(command, check=True)


class Served:
    """A broker that runs as a process of its own."""

    def __init__(self, process: "subprocess.Popen[bytes]", doors: dict[str, str]) -> None:
        self.process = process
        self.address = doors["kafka"]
        self.rustlog = doors["rustlog"]


@contextlib.contextmanager
def serving(data: Path, address: str = "127.0.0.1:0") -> Iterator[Served]:
    """``trivium serve``, until it is stopped or has died."""
    ready = data.with_suffix(".ready")
    ready.unlink(missing_ok=True)
    elsewhere = ["--iggy", "127.0.0.1:0", "--rustlog", "127.0.0.1:0", "--console", "off"]
    arguments = ["serve", "--data", str(data), "--kafka", address, *elsewhere, "--ready-file", str(ready)]
    console.print(f"$ trivium {' '.join(arguments[:5])}", style="bold cyan")
    began = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-m", "trivium", *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    while not ready.exists():
        if process.poll() is not None:
            raise SystemExit(f"trivium serve ended with {process.returncode}; run it by hand to see why")
        time.sleep(0.005)
    seconds = time.perf_counter() - began
    served = Served(process, json.loads(ready.read_text()))
    console.print(f"ready at {served.address} after {seconds:.2f} s")
    try:
        yield served
    finally:
        if process.poll() is None:
            process.terminate()
        process.wait()


def write_until(count: int, address: str) -> tuple[list[int], Producer]:
    """Write orders, and come back when so many are acknowledged. The rest is on its way, and the list grows
    when the client gets an answer to it.
    """
    acknowledged: list[int] = []

    def delivered(error: KafkaError | None, message: Message) -> None:
        if error is None:
            acknowledged.append(int(message.value() or b"0"))

    settings = {"bootstrap.servers": address, "enable.idempotence": True, "linger.ms": 1, **QUIET}
    client = Producer(settings)
    for number in range(ORDERS):
        client.produce("orders", str(number), f"customer-{number % 7}", on_delivery=delivered)
        client.poll(0)
    while len(acknowledged) < count:
        client.poll(0.001)
    return acknowledged, client


def read_as_group(address: str) -> list[int]:
    """Everything in the topic, as two members of one group."""
    settings = {
        "bootstrap.servers": address,
        "group.id": "billing",
        "auto.offset.reset": "earliest",
        "enable.partition.eof": True,
        **QUIET,
    }
    members = [Consumer(settings) for _ in range(2)]
    for member in members:
        member.subscribe(["orders"])
    values: list[int] = []
    ended: set[int] = set()
    while len(ended) < 3:
        for member in members:
            for message in member.consume(1000, 0.2):
                error = message.error()
                if error is None:
                    values.append(int(message.value() or b"0"))
                elif error.code() == KafkaError._PARTITION_EOF:
                    ended.add(message.partition() or 0)
    for member in members:
        member.close()
    return values


def count(found: list[int], acknowledged: list[int]) -> None:
    console.print(f"{len(acknowledged):,} orders were acknowledged, {len(found):,} are there")
    if set(acknowledged) - set(found) or len(set(found)) != len(found):
        raise SystemExit("orders were lost or doubled: this must never happen, please report it")


def ask_as_rustlog(address: str) -> None:
    """RustLog's protocol needs no library: a length, and JSON."""
    host, port = address.rsplit(":", 1)
    with socket.create_connection((host, int(port))) as connection, connection.makefile("rwb") as stream:

        def ask(kind: str, **fields: object) -> Any:
            body = json.dumps({kind: {"topic": "orders", "partition": 0, **fields}}).encode()
            stream.write(struct.pack(">I", len(body)) + body)
            stream.flush()
            (size,) = struct.unpack(">I", stream.read(4))
            return json.loads(stream.read(size))[kind]

        first = ask("Fetch", offset=0, max_bytes=1, group_id=None)["records"][0]
        console.print(f"RustLog: offset {first['offset']} is order {bytes(first['payload']).decode()}")
        console.print(f"RustLog: billing goes on at {ask('OffsetFetch', group_id='billing')['offset']:,}")


def in_a_test() -> None:
    began = time.perf_counter()
    with Broker() as broker:
        broker.create_topic("greetings")
        broker.produce("greetings", ["hello", "from", "a", "test"])
        values = [record.value for record in broker.records("greetings")]
    milliseconds = (time.perf_counter() - began) * 1000
    outcome = f"with Broker() as broker: ... gives {values} in {milliseconds:.0f} ms, all in memory"
    console.print(outcome, markup=False)


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        raise SystemExit("the tour was stopped; what it wrote is gone again") from None
