"""Metrics of clients (KIP-714): subscriptions are settings, and clients push what they match.

A subscription is a resource of type client-metrics: names of metrics, an interval, and patterns that choose
clients. What a client is asked for is the sum of all that match it, and has a number; a push that names
another number is refused, so that a client learns of a change with its next push. Nobody may come more often
than was asked for. What is pushed goes to ``receive``, unpacked within a bound; without a receiver it is
counted and dropped.
"""

import re
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from trivium.core.caller import Caller
from trivium.core.cluster import Cluster
from trivium.core.commands.command import Reply, Routes
from trivium.core.commands.telemetry import GetSubscription, PushMetrics, Subscription
from trivium.core.config.client_metrics import CLIENT_METRICS
from trivium.core.faults import Fault
from trivium.core.metadata_configs import ConfigType
from trivium.records.compression import Compression, decompress
from trivium.records.crc import crc32c
from trivium.wire.errors import DecodeError
from trivium.wire.uuid_text import ZERO_UUID, uuid_to_text

CLIENTS_MAX: Final = 16_384
"""Clients that are remembered; the one that was not heard of for longest is forgotten."""
UNPACKED_BYTES_MAX: Final = 16 << 20
"""One push after decompression (promise S4): sixteen times what may be sent."""
ALL_METRICS: Final = "*"
_CODECS: Final = frozenset(map(int, Compression))
_RESERVED_IDS: Final = frozenset((ZERO_UUID, bytes(15) + b"\x01"))

Receive = Callable[[Caller, bytes, bytes], None]
"""Takes the caller, the id of the client, and its metrics (OTLP, as they came)."""


@dataclass(slots=True)
class _Client:
    """What a client was told, and when it was last heard of."""

    asked: Subscription
    heard_ms: int | None = None
    is_over: bool = False
    may_ask_again: bool = False


class Telemetry:
    def __init__(
        self,
        cluster: Cluster,
        new_id: Callable[[], bytes],
        push_bytes_max: int,
        receive: Receive | None = None,
    ) -> None:
        self._cluster = cluster
        self._new_id = new_id
        self._push_bytes_max = push_bytes_max
        self._receive = receive
        self._clients: OrderedDict[bytes, _Client] = OrderedDict()
        self.pushes = 0
        """Pushes that were taken so far."""
        self.routes: Routes = {GetSubscription: self.subscription, PushMetrics: self.push}

    def subscription(self, command: GetSubscription, caller: Caller, reply: Reply[Subscription]) -> None:
        client_id = command.client_instance_id
        if client_id == ZERO_UUID:
            client_id = self._new_id()
        client = self._client(client_id, caller)
        if not client.may_ask_again and not self._is_time(client):
            reply(Subscription(Fault.THROTTLED))
            return
        client.heard_ms = self._cluster.clock.monotonic_ms()
        client.may_ask_again = False
        reply(client.asked)

    def push(self, command: PushMetrics, caller: Caller, reply: Reply[Fault | None]) -> None:
        if command.client_instance_id in _RESERVED_IDS:
            reply(Fault.INVALID_REQUEST)
            return
        client = self._client(command.client_instance_id, caller)
        fault = self._fault_of(command, client) or self._taken(command, caller)
        client.is_over = client.is_over or command.is_last
        client.may_ask_again = fault in (Fault.UNKNOWN_SUBSCRIPTION_ID, Fault.UNSUPPORTED_COMPRESSION)
        reply(fault)

    def _fault_of(self, command: PushMetrics, client: _Client) -> Fault | None:
        if client.is_over:
            return Fault.INVALID_REQUEST
        if not command.is_last and not self._is_time(client):
            return Fault.THROTTLED
        client.heard_ms = self._cluster.clock.monotonic_ms()
        if command.subscription_id != client.asked.subscription_id:
            return Fault.UNKNOWN_SUBSCRIPTION_ID
        if command.compression not in _CODECS:
            return Fault.UNSUPPORTED_COMPRESSION
        if len(command.metrics) > self._push_bytes_max:
            return Fault.TELEMETRY_TOO_LARGE
        return None

    def _taken(self, command: PushMetrics, caller: Caller) -> Fault | None:
        if not command.metrics:
            return None
        if self._receive is not None:
            codec = Compression(command.compression)
            try:
                metrics = decompress(codec, command.metrics, UNPACKED_BYTES_MAX)
            except DecodeError:
                return Fault.INVALID_RECORD
            self._receive(caller, command.client_instance_id, metrics)
        self.pushes += 1
        return None

    def _is_time(self, client: _Client) -> bool:
        if client.heard_ms is None:
            return True
        return self._cluster.clock.monotonic_ms() - client.heard_ms >= client.asked.push_interval_ms

    def _client(self, client_id: bytes, caller: Caller) -> _Client:
        asked = self._asked_of(client_id, caller)
        client = self._clients.pop(client_id, None)
        if client is None or client.asked != asked:
            # What is asked of it is new to the client, so it may come at once.
            client = _Client(asked, is_over=client is not None and client.is_over)
        self._clients[client_id] = client
        if len(self._clients) > CLIENTS_MAX:
            self._clients.popitem(last=False)
        return client

    def _asked_of(self, client_id: bytes, caller: Caller) -> Subscription:
        """All subscriptions that match a client, in one."""
        interval_ms = _interval_ms({})
        metrics: set[str] = set()
        for resource, values in self._cluster.image.configs.by_resource.items():
            if resource.type is not ConfigType.CLIENT_METRICS:
                continue
            if _matches(_list(values, "match"), client_id, caller):
                metrics.update(_list(values, "metrics"))
                interval_ms = min(interval_ms, _interval_ms(values))
        names = [ALL_METRICS] if ALL_METRICS in metrics else sorted(metrics)
        return Subscription(
            client_instance_id=client_id,
            subscription_id=_number(names, interval_ms, client_id),
            metrics=names,
            push_interval_ms=interval_ms,
            push_bytes_max=self._push_bytes_max,
        )


def _list(values: Mapping[str, str], name: str) -> list[str]:
    parsed = CLIENT_METRICS[name].parse(values.get(name, ""))
    assert isinstance(parsed, tuple)
    return [str(item) for item in parsed]


def _interval_ms(values: Mapping[str, str]) -> int:
    definition = CLIENT_METRICS["interval.ms"]
    value = definition.parse(values["interval.ms"]) if "interval.ms" in values else definition.default
    assert isinstance(value, int)
    return value


def _matches(patterns: list[str], client_id: bytes, caller: Caller) -> bool:
    """Whether a client fits every pattern of a subscription; no pattern fits everybody."""
    about = {
        "client_instance_id": uuid_to_text(client_id),
        "client_id": caller.client_id,
        "client_software_name": caller.software_name,
        "client_software_version": caller.software_version,
        "client_source_address": caller.host,
    }
    for pattern in patterns:
        name, _, expression = pattern.partition("=")
        try:
            if re.fullmatch(expression.strip(), about.get(name.strip(), "")) is None:
                return False
        except re.error:
            # It is right for Java, or it would not have been accepted; we cannot say whom it means.
            return False
    return True


def _number(metrics: list[str], interval_ms: int, client_id: bytes) -> int:
    """Another number for every other question, and for every other client."""
    checksum = crc32c(f"{metrics}{interval_ms}".encode())
    for at in range(0, len(client_id), 4):
        checksum ^= int.from_bytes(client_id[at : at + 4], "big")
    return checksum - (1 << 32) if checksum >> 31 else checksum
