"""What a node counts while it works, and how Prometheus reads it.

Counting is a few additions on plain numbers (less than a microsecond a request); names, labels and text are
made when somebody asks. ``prometheus_client`` is imported then and not before: a start does not pay for it.
"""

from bisect import bisect_left
from collections.abc import Iterable
from itertools import accumulate, islice
from time import perf_counter
from typing import TYPE_CHECKING, Final

from trivium.messages.schema import Response
from trivium.protocols.kafka.error_codes import error_codes

if TYPE_CHECKING:
    from prometheus_client.core import Metric

    from trivium.server.node import Node

SECONDS: Final = (
    0.0001,
    0.00025,
    0.0005,
    0.001,
    0.0025,
    0.005,
    0.01,
    0.025,
    0.05,
    0.1,
    0.25,
    0.5,
    1,
    2.5,
    10,
    60,
)
"""Upper ends of the classes that durations are counted in."""

PARTITIONS_MAX: Final = 1_000
"""Partitions that have their own rows; how many had to be left out is a row of its own."""

GROUP_ROWS_MAX: Final = 1_000
"""Partitions of groups that have their own row."""


class Durations:
    """A histogram of seconds."""

    __slots__ = ("counts", "total_seconds")

    def __init__(self) -> None:
        self.counts = [0] * (len(SECONDS) + 1)
        self.total_seconds = 0.0

    def add(self, seconds: float) -> None:
        self.counts[bisect_left(SECONDS, seconds)] += 1
        self.total_seconds += seconds

    @property
    def count(self) -> int:
        return sum(self.counts)

    @property
    def buckets(self) -> list[tuple[str, float]]:
        ends = [*map(str, SECONDS), "+Inf"]
        return list(zip(ends, map(float, accumulate(self.counts)), strict=True))


class RequestMeter:
    """Requests by API: how many, how long, and the errors in their answers."""

    def __init__(self) -> None:
        self.durations: dict[int, Durations] = {}
        self.errors: dict[tuple[int, int], int] = {}

    def begin(self) -> float:
        return perf_counter()

    def end(self, api_key: int, begun: float, response: Response | None) -> None:
        durations = self.durations.get(api_key)
        if durations is None:
            self.durations[api_key] = durations = Durations()
        durations.add(perf_counter() - begun)
        if response is not None and (codes := error_codes(response)):
            for code in codes:
                self.errors[api_key, code] = self.errors.get((api_key, code), 0) + 1


class NamedRequestMeter:
    """The same for a protocol whose requests and errors have names."""

    def __init__(self) -> None:
        self.durations: dict[str, Durations] = {}
        self.errors: dict[tuple[str, str], int] = {}

    def begin(self) -> float:
        return perf_counter()

    def end(self, request: str, begun: float, error: str | None) -> None:
        durations = self.durations.get(request)
        if durations is None:
            self.durations[request] = durations = Durations()
        durations.add(perf_counter() - begun)
        if error is not None:
            self.errors[request, error] = self.errors.get((request, error), 0) + 1


class NodeMetrics:
    """A collector for ``prometheus_client``. ``collect`` looks at the node and is called in its loop."""

    def __init__(self, node: "Node", turn_seconds: float) -> None:
        self._node = node
        self._turn_seconds = turn_seconds

    def describe(self) -> "Iterable[Metric]":
        return ()

    def collect(self) -> "Iterable[Metric]":
        yield from self._requests()
        yield from self._connections()
        yield from self._log()
        yield from self._groups()
        yield from self._loop()

    def _requests(self) -> "Iterable[Metric]":
        from prometheus_client.core import CounterMetricFamily, HistogramMetricFamily

        from trivium.messages.api import api_name
        from trivium.messages.errors import ErrorCode

        meter = self._node.speakers.kafka_meter
        seconds = HistogramMetricFamily(
            "trivium_request_seconds", "Time from a whole request to its answer.", labels=["protocol", "api"]
        )
        for key, durations in sorted(meter.durations.items()):
            seconds.add_metric(["kafka", api_name(key)], durations.buckets, durations.total_seconds)
        others = (("rustlog", self._node.speakers.rustlog_meter), ("iggy", self._node.speakers.iggy_meter))
        for protocol, named in others:
            for name, durations in sorted(named.durations.items()):
                seconds.add_metric([protocol, name], durations.buckets, durations.total_seconds)
        yield seconds
        names = {int(code): code.name for code in ErrorCode}
        errors = CounterMetricFamily(
            "trivium_errors", "Error codes in answers.", labels=["protocol", "api", "error"]
        )
        for (key, code), count in sorted(meter.errors.items()):
            errors.add_metric(["kafka", api_name(key), names.get(code, str(code))], count)
        for protocol, named in others:
            for (name, error), count in sorted(named.errors.items()):
                errors.add_metric([protocol, name, error], count)
        yield errors

    def _connections(self) -> "Iterable[Metric]":
        from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily

        shared, doors = self._node.connections, self._node.doors
        yield GaugeMetricFamily("trivium_connections", "Open connections.", len(shared.open))
        yield CounterMetricFamily(
            "trivium_connections_accepted", "Connections taken.", sum(door.accepted for door in doors)
        )
        yield CounterMetricFamily(
            "trivium_connections_refused",
            "Connections turned away by a limit.",
            sum(door.refused for door in doors),
        )
        yield CounterMetricFamily(
            "trivium_connections_dropped",
            "Connections ended because the peer was too slow or held too much.",
            self._node.patrol.dropped,
        )
        yield CounterMetricFamily("trivium_received_bytes", "Bytes from clients.", shared.traffic.in_bytes)
        yield CounterMetricFamily("trivium_sent_bytes", "Bytes to clients.", shared.traffic.out_bytes)
        yield GaugeMetricFamily(
            "trivium_requests_in_flight",
            "Requests that are not answered yet.",
            sum(connection.session.in_flight for connection in shared.open),
        )
        yield GaugeMetricFamily(
            "trivium_request_memory_bytes",
            "Memory of requests that have come in part, wait, or are carried out.",
            shared.requests.used_bytes,
        )
        yield GaugeMetricFamily(
            "trivium_response_memory_bytes",
            "Answers that clients have not taken yet.",
            shared.responses.used_bytes,
        )

    def _log(self) -> "Iterable[Metric]":
        from prometheus_client.core import GaugeMetricFamily, HistogramMetricFamily

        store = self._node.store
        labels = ["topic", "partition"]
        start = GaugeMetricFamily("trivium_log_start_offset", "First offset of a partition.", labels=labels)
        end = GaugeMetricFamily("trivium_log_end_offset", "Next offset of a partition.", labels=labels)
        size = GaugeMetricFamily("trivium_log_size_bytes", "Records of a partition on disk.", labels=labels)
        for topic, partition in sorted(store)[:PARTITIONS_MAX]:
            log = store.get(topic, partition)
            if log is not None:
                row = [topic, str(partition)]
                start.add_metric(row, log.log_start_offset)
                end.add_metric(row, log.log_end_offset)
                size.add_metric(row, sum(segment.size_bytes for segment in log.segments))
        yield from (start, end, size)
        yield GaugeMetricFamily("trivium_partitions", "Partitions with a log.", len(store))
        yield GaugeMetricFamily(
            "trivium_partitions_without_rows",
            f"Partitions beyond the {PARTITIONS_MAX} that have rows here.",
            max(0, len(store) - PARTITIONS_MAX),
        )
        syncs = HistogramMetricFamily("trivium_sync_seconds", "Rounds of group commit.", labels=["directory"])
        offline = GaugeMetricFamily(
            "trivium_directory_offline", "1 where a log directory has failed.", labels=["directory"]
        )
        for directory in store.directories:
            durations = self._node.sync_durations(directory.path)
            syncs.add_metric([directory.path], durations.buckets, durations.total_seconds)
            offline.add_metric([directory.path], float(directory.is_offline))
        for path in store.failed_to_open:
            offline.add_metric([path], 1)
        yield from (syncs, offline)

    def _groups(self) -> "Iterable[Metric]":
        from prometheus_client.core import GaugeMetricFamily

        store = self._node.store
        lag = GaugeMetricFamily(
            "trivium_group_lag",
            "Records between what a group has committed and the end of a partition.",
            labels=["group", "topic", "partition"],
        )
        for group_id, (topic, partition), offset in islice(self._node.assembly.committed(), GROUP_ROWS_MAX):
            log = store.get(topic, partition)
            if log is not None:
                lag.add_metric([group_id, topic, str(partition)], max(0, log.high_watermark - offset))
        yield lag

    def _loop(self) -> "Iterable[Metric]":
        from prometheus_client.core import GaugeMetricFamily, HistogramMetricFamily

        late = self._node.lateness
        lateness = HistogramMetricFamily(
            "trivium_timer_late_seconds", "How late timers ran: the event loop was busy for so long."
        )
        lateness.add_metric([], late.buckets, late.total_seconds)
        yield lateness
        yield GaugeMetricFamily(
            "trivium_event_loop_turn_seconds", "The turn of the event loop before this.", self._turn_seconds
        )


def prepare(node: "Node", turn_seconds: float) -> "Iterable[Metric]":
    """Everything there is to say, looked up now."""
    from prometheus_client import GC_COLLECTOR, PLATFORM_COLLECTOR, PROCESS_COLLECTOR

    families: list[Metric] = list(NodeMetrics(node, turn_seconds).collect())
    for collector in (PROCESS_COLLECTOR, PLATFORM_COLLECTOR, GC_COLLECTOR):
        families += collector.collect()
    return families


class _Prepared:
    """Families that were looked up before, for whoever makes the text."""

    def __init__(self, families: "Iterable[Metric]") -> None:
        self._families = families

    def collect(self) -> "Iterable[Metric]":
        return self._families


def as_text(families: "Iterable[Metric]") -> bytes:
    """What Prometheus reads; takes a while, and may run in any thread."""
    from prometheus_client.exposition import generate_latest

    text: bytes = generate_latest(_Prepared(families))
    return text
