"""The load of ``trivium bench``, and what is measured under it.

Records are made before the clock starts, and whole batches are handed over, so that the figures are the
broker's and not the client's. The latency of a batch is the time from handing it over to its acknowledgement;
it is handed over when fewer than so many others are under way, so that nothing waits within the client.
"""

import random
import time
from collections import defaultdict, deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle
from typing import Final

from trivium.cli.latency import LatencyHistogram
from trivium.client.delivery import Delivery
from trivium.client.lane import record_bytes
from trivium.client.producer import Producer
from trivium.client.reader import Reader
from trivium.client.topology import TopicPartition
from trivium.records.record import Record

_LETTERS: Final = b"abcdefghijklmnop"
"""Half a byte of information in each: values compress about as well as text does."""

_PATTERNS: Final = 64
"""Different values, so that a codec does not find each one in the last."""

_WAIT_S: Final = 1.0


@dataclass(frozen=True, slots=True)
class Figures:
    records: int
    seconds: float
    records_per_second: float
    megabytes_per_second: float
    """Of keys and values, before compression."""

    p50_ms: float
    p90_ms: float
    p99_ms: float
    p99_9_ms: float
    max_ms: float


def figures(records: int, size_bytes: int, seconds: float, latencies: LatencyHistogram) -> Figures:
    return Figures(
        records=records,
        seconds=round(seconds, 3),
        records_per_second=round(records / seconds, 1),
        megabytes_per_second=round(size_bytes / seconds / 1e6, 2),
        p50_ms=_milliseconds(latencies.percentile_s(50)),
        p90_ms=_milliseconds(latencies.percentile_s(90)),
        p99_ms=_milliseconds(latencies.percentile_s(99)),
        p99_9_ms=_milliseconds(latencies.percentile_s(99.9)),
        max_ms=_milliseconds(latencies.max_s),
    )


def _milliseconds(seconds: float) -> float:
    return round(seconds * 1000, 3)


def make_records(count: int, size_bytes: int) -> list[Record]:
    """Records of this size, always the same ones."""
    source = random.Random(size_bytes)  # noqa: S311 - to be the same each time
    values = [bytes(source.choices(_LETTERS, k=size_bytes)) for _ in range(min(count, _PATTERNS))]
    timestamp_ms = int(time.time() * 1000)
    return [Record(0, timestamp_ms, None, values[number % len(values)]) for number in range(count)]


class ProduceLoad:
    """Batches to all partitions in turn, ``in_flight`` of them under way."""

    def __init__(self, in_flight: int) -> None:
        self.latencies = LatencyHistogram()
        self.seconds = 0.0
        self._in_flight = in_flight
        self._under_way = 0
        self._handed_over: dict[TopicPartition, deque[float]] = defaultdict(deque)

    def delivered(self, delivery: Delivery) -> None:
        """Batches of a partition are acknowledged in the order in which they were handed over."""
        self._under_way -= 1
        began = self._handed_over[delivery.key].popleft()
        if delivery.error is None:
            self.latencies.add(time.perf_counter() - began, delivery.records_count)

    def send(
        self,
        producer: Producer,
        keys: Sequence[TopicPartition],
        batch: list[Record],
        records_total: int,
        rate: float | None,
        advance: Callable[[int], None],
    ) -> None:
        """Send so many records, at most ``rate`` of them a second."""
        record_size_bytes = sum(map(record_bytes, batch)) // len(batch)
        began = time.perf_counter()
        sent = 0
        for key in cycle(keys):
            if rate is not None:
                self._wait_until(producer, began + sent / rate)
            while self._under_way >= self._in_flight:
                producer.poll(_WAIT_S)
            records = batch[: records_total - sent]
            self._under_way += 1
            self._handed_over[key].append(time.perf_counter())
            producer.send_batch(key.topic, key.partition, records, record_size_bytes * len(records))
            sent += len(records)
            advance(len(records))
            if sent >= records_total:
                break
        producer.flush()
        self.seconds = time.perf_counter() - began

    def _wait_until(self, producer: Producer, moment: float) -> None:
        while (left := moment - time.perf_counter()) > 0:
            if self._under_way:
                producer.poll(left)
            else:
                time.sleep(left)


def read_load(
    reader: Reader,
    ends: Mapping[TopicPartition, int],
    records_max: int,
    latencies: LatencyHistogram,
    advance: Callable[[int], None],
) -> tuple[int, int]:
    """Read up to the ends, or so many records; how many, and the size of their keys and values."""
    count = size_bytes = 0
    while count < records_max and any(reader.positions[key] < end for key, end in ends.items()):
        asked = time.perf_counter()
        chunks = reader.poll(_WAIT_S)
        latencies.add(time.perf_counter() - asked)
        found = sum(len(chunk.records) for chunk in chunks)
        for chunk in chunks:
            size_bytes += sum(len(each.key or b"") + len(each.value or b"") for each in chunk.records)
        count += found
        advance(found)
    return count, size_bytes
