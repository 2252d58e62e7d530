"""A shop that does not exist: what it writes, through which door, and what must come of it."""

import json
import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

from confluent_kafka import Consumer, KafkaError, Producer
from deltalake import DeltaTable
from demo.doors import write_as_iggy, write_as_rustlog
from pyarrow import parquet

from trivium.testing import Broker

ORDERS = 6_000
CLICKS = 3_000
MINUTES = 20
BEGAN = datetime(2025, 6, 15, 10, tzinfo=UTC)
QUIET = {"log_level": 0}


@dataclass
class Counted:
    """What is in one place, and what should be."""

    place: str
    found: int
    expected: int
    twice: int = 0


class Shop:
    def __init__(self, broker: Broker) -> None:
        self._broker = broker
        self._seed = random.Random(17)  # noqa: S311 - the same shop every time
        self._good: dict[int, tuple[datetime, Decimal]] = {}
        self._good_clicks = 0
        self._wrong: Counter[str] = Counter()
        self._revenue: list[dict[str, Any]] = []

    # -- writing ---------------------------------------------------------------------------------

    def write(self) -> Iterator[str]:
        orders = [self._order(number) for number in range(ORDERS)]
        # One from much later: it makes every minute before it final.
        orders.append(self._good_order(ORDERS, BEGAN + timedelta(minutes=MINUTES + 10)))
        clicks = [self._click(number) for number in range(CLICKS)]
        self._broker.create_topic("orders", 2)
        self._broker.create_topic("clicks", 2)
        self._write_as_kafka("orders", orders[::2])
        yield f"Kafka: {len(orders[::2]):,} orders by librdkafka"
        write_as_rustlog(self._broker.address("rustlog"), "orders", 1, orders[1::2])
        yield f"RustLog: {len(orders[1::2]):,} orders in its JSON"
        write_as_iggy(self._broker.address("iggy"), "clicks", clicks)
        yield f"Iggy: {len(clicks):,} clicks in its binary protocol"
        wrong = (f"{count} {what}" for what, count in sorted(self._wrong.items()))
        yield f"broken on purpose: {', '.join(wrong)}"

    def _order(self, number: int) -> bytes:
        at = BEGAN + timedelta(seconds=self._seed.uniform(0, MINUTES * 60))
        match self._seed.randrange(40):
            case 0:
                return self._broken("that are no JSON", b'{"id": ')
            case 1:
                return self._broken(
                    "with a negative amount", _json(id=number, customer="c1", amount="-1.00", at=at)
                )
            case 2:
                return self._broken(
                    "with words for an amount", _json(id=number, customer="c1", amount="much", at=at)
                )
            case 3:
                self._wrong["without a customer"] += 1
                return _json(id=number, customer=None, amount="1.00", at=at)
            case _:
                return self._good_order(number, at)

    def _good_order(self, number: int, at: datetime) -> bytes:
        # More in the middle of the hour: the plot should have something to show.
        minute = (at - BEGAN).total_seconds() / 60
        amount = (
            Decimal(self._seed.randrange(100, 2_000) + int(50 * min(minute, max(MINUTES - minute, 0)) ** 2))
            / 100
        )
        self._good[number] = (at, amount)
        return _json(id=number, customer=f"c{number % 50}", amount=str(amount), at=at)

    def _click(self, number: int) -> bytes:
        page = self._seed.choice(["/", "/cart", "/pay"])
        if self._seed.randrange(50) == 0:
            return self._broken("clicks without a page", _json(id=number, page=None, at=BEGAN))
        self._good_clicks += 1
        return _json(id=number, page=page, at=BEGAN + timedelta(seconds=number))

    def _broken(self, what: str, value: bytes) -> bytes:
        self._wrong[what] += 1
        return value

    def _write_as_kafka(self, topic: str, values: list[bytes]) -> None:
        producer = Producer(
            {"bootstrap.servers": self._broker.bootstrap, "enable.idempotence": True, **QUIET}
        )
        for value in values:
            producer.produce(topic, value)
            producer.poll(0)
        if producer.flush(60):
            raise SystemExit("the broker did not take all orders within a minute")

    # -- reading ---------------------------------------------------------------------------------

    def read_back(self) -> list[Counted]:
        orders = DeltaTable("lake/orders").to_pyarrow_table(columns=["id"]).column("id").to_pylist()
        aside = DeltaTable("lake/orders__quarantine").to_pyarrow_table().num_rows
        clicks = parquet.read_table("lake/clicks", columns=["id"]).column("id").to_pylist()
        clicks_aside = parquet.read_table("lake/clicks__quarantine").num_rows
        minutes = DeltaTable("lake/revenue").to_pyarrow_table().num_rows
        self._revenue = self._read_as_kafka("revenue")
        topic_minutes = [row["minute"] for row in self._revenue]
        final = len({_minute(at) for at, _ in self._good.values() if at < BEGAN + timedelta(minutes=MINUTES)})
        wrong = self._wrong.total() - self._wrong["without a customer"] - self._wrong["clicks without a page"]
        return [
            Counted("Delta table lake/orders", len(orders), len(self._good), len(orders) - len(set(orders))),
            Counted("its quarantine", aside, wrong),
            Counted("Parquet lake/clicks", len(clicks), self._good_clicks, len(clicks) - len(set(clicks))),
            Counted("its quarantine", clicks_aside, self._wrong["clicks without a page"]),
            Counted("Delta table lake/revenue, minutes", minutes, final + 1),
            Counted(
                "topic revenue, minutes",
                len(topic_minutes),
                final,
                len(topic_minutes) - len(set(topic_minutes)),
            ),
        ]

    def revenue_by_minute(self) -> list[tuple[str, float]]:
        rows = sorted(self._revenue, key=lambda row: str(row["minute"]))
        return [(str(row["minute"])[11:16], float(row["revenue"])) for row in rows]

    def problems(self, found: list[Counted]) -> list[str]:
        said = [
            f"{each.place}: {each.found:,} are there, {each.expected:,} should be, {each.twice:,} are twice"
            for each in found
            if each.found != each.expected or each.twice
        ]
        truth: Counter[str] = Counter()
        for at, amount in self._good.values():
            truth[_minute(at)] += amount  # type: ignore[assignment]
        for row in self._revenue:
            minute = str(row["minute"])[:16]
            if Decimal(str(row["revenue"])) != truth[minute]:
                said.append(f"revenue of {minute}: {row['revenue']} is there, {truth[minute]} should be")
        return said

    def _read_as_kafka(self, topic: str) -> list[dict[str, Any]]:
        """All committed records, as any Kafka client sees them."""
        consumer = Consumer(
            {
                "bootstrap.servers": self._broker.bootstrap,
                "group.id": "tour",
                "auto.offset.reset": "earliest",
                "isolation.level": "read_committed",
                "enable.partition.eof": True,
                **QUIET,
            }
        )
        consumer.subscribe([topic])
        partitions = self._broker.topics()[topic]
        rows: list[dict[str, Any]] = []
        ended: set[int] = set()
        while len(ended) < partitions:
            for message in consumer.consume(100, 0.5):
                error = message.error()
                if error is None:
                    rows.append(json.loads(message.value() or b"{}"))
                elif error.code() == KafkaError._PARTITION_EOF:
                    ended.add(message.partition() or 0)
        consumer.close()
        return rows


def _json(*, at: datetime, **fields: object) -> bytes:
    return json.dumps({**fields, "at": at.isoformat(timespec="milliseconds")}).encode()


def _minute(at: datetime) -> str:
    return at.isoformat(timespec="minutes")[:16]
