"""A real broker inside a test: ``with Broker() as broker: ... broker.bootstrap ...`` for any client.

It runs in a thread of its own, on a free port of loopback, in memory unless it is given a directory. The
address stays the same over ``restart`` and over ``kill`` and ``start``, and so does what is in its topics.
Any number of brokers live side by side; each is used from any thread, one call at a time.
"""

import asyncio
import atexit
import socket
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Final

from trivium.core.caller import Caller
from trivium.protocols.session import Session
from trivium.server.configuration.address import Address
from trivium.server.configuration.configuration import Protocol
from trivium.server.configuration.security import SecurityProtocol
from trivium.server.node import Node
from trivium.testing.broker_settings import SettingValue, by_keyword, configuration
from trivium.testing.faults import Faults
from trivium.testing.memory_files import MemoryFiles
from trivium.testing.mortal_files import MortalFiles
from trivium.testing.node_thread import NodeThread
from trivium.testing.sabotage import sabotage
from trivium.testing.surroundings import Surroundings

if TYPE_CHECKING:
    from trivium.client.cluster import Cluster
    from trivium.records.record import Header
    from trivium.testing.contents import Keyed, StoredRecord, Value


class NotRunning(Exception):
    """The broker was asked for something while it was stopped."""


class Broker:
    """``settings`` and keywords are those of ``trivium serve``, ours or Kafka's: ``num_partitions=3``.

    ``data`` is a directory, or several; without it everything is in memory, and gone with the broker.
    """

    def __init__(
        self,
        data: str | Path | Sequence[str | Path] | None = None,
        settings: Mapping[str, SettingValue] | None = None,
        **keywords: SettingValue,
    ) -> None:
        named = () if data is None else (data,) if isinstance(data, str | Path) else data
        self.directories: Final = tuple(map(Path, named))
        self.faults: Final = Faults()
        self._settings = {**(settings or {}), **by_keyword(keywords)}
        configuration(self.directories, self._settings)  # Whoever wrote a wrong one hears of it here.
        self._files: MemoryFiles | MortalFiles = MortalFiles() if self.directories else MemoryFiles()
        self._addresses: dict[Protocol, list[Address]] = {}
        self._reserved: list[socket.socket] = []
        """Keeps the ports for this broker while it is down."""
        self._thread: NodeThread | None = None

    # -- life ------------------------------------------------------------------------------------

    def __enter__(self) -> "Broker":
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self.close()

    @property
    def is_running(self) -> bool:
        return self._thread is not None and self._thread.is_alive

    @property
    def bootstrap(self) -> str:
        """``HOST:PORT``, as clients want it. It is known from the first start on."""
        return self.address(Protocol.KAFKA.value)

    def address(self, protocol: str) -> str:
        """The same for the clients of any protocol that it was told to listen for: ``kafka``, ``rustlog``."""
        if not self._addresses:
            raise NotRunning("The broker has no address yet: start it first, or use it with 'with'.")
        addresses = self._addresses.get(Protocol(protocol))
        if not addresses:
            raise NotRunning(
                f"The broker does not listen for {protocol}: set listen.{protocol} to 127.0.0.1:0."
            )
        return ",".join(map(str, addresses))

    def start(self) -> None:
        """Serve. Whatever keeps it from that is raised here, with a sentence."""
        if self.is_running:
            return
        listen = {f"listen.{each.value}": self._listened_on(each) for each in self._addresses}
        thread = NodeThread(
            configuration(self.directories, self._settings, listen), self._files, self._prepare
        )
        self._free_ports()
        node = thread.start()
        self._thread = thread
        self._addresses = {protocol: list(some) for protocol, some in node.addresses.items()}
        # At the end of a process its threads take no more work, and a stop would wait for them for ever.
        atexit.register(self.kill)

    def _listened_on(self, protocol: Protocol) -> str:
        """Where it listened before, protected in the same way."""
        listeners = configuration(self.directories, self._settings).listeners_of(protocol)
        return ",".join(
            f"{listener.security.name if protocol is Protocol.KAFKA else 'tls'}://{address}"
            if listener.security is not SecurityProtocol.PLAINTEXT
            else str(address)
            for listener, address in zip(listeners, self._addresses[protocol], strict=True)
        )

    def stop(self) -> None:
        """Stop as ``trivium serve`` does at SIGTERM; ``start`` goes on with the same topics and address."""
        if self._thread is not None:
            thread, self._thread = self._thread, None
            try:
                thread.stop()
            finally:
                self._reserve_ports()

    def restart(self) -> None:
        self.stop()
        self.start()

    def kill(self) -> None:
        """End as ``kill -9`` would: no answer, no order, the directory as it is at this moment."""
        if self._thread is not None:
            thread, self._thread = self._thread, None
            thread.kill()
            self._files = self._files.kill()
            self._reserve_ports()

    def close(self) -> None:
        """Stop, and leave nothing behind but a directory that was given."""
        try:
            self.stop()
        finally:
            self._free_ports()
            atexit.unregister(self.kill)

    # -- what is in it ---------------------------------------------------------------------------
    # The client is imported when a test first asks for any of this: many have a client of their own.

    def create_topic(
        self,
        name: str,
        partitions: int | None = None,
        configs: Mapping[str, SettingValue] | None = None,
    ) -> None:
        """Make a topic, ready when this returns. ``configs``: the topic's own settings, by Kafka's names."""
        from trivium.testing import contents

        with self._connect() as cluster:
            contents.create_topic(cluster, name, partitions, configs)

    def topics(self) -> dict[str, int]:
        """The topics of clients, each with the number of its partitions."""
        from trivium.testing import contents

        with self._connect() as cluster:
            return contents.topics(cluster)

    def produce(
        self,
        topic: str,
        records: "Iterable[Value | Keyed]",
        *,
        partition: int | None = None,
        headers: "Sequence[Header]" = (),
        timestamp_ms: int | None = None,
    ) -> None:
        """Write values, or pairs of key and value; text as UTF-8. They are there when this returns."""
        from trivium.testing import contents

        with self._connect() as cluster:
            contents.write(
                cluster, topic, records, partition=partition, headers=headers, timestamp_ms=timestamp_ms
            )

    def records(self, topic: str) -> "list[StoredRecord]":
        """Everything in a topic that a reader of committed records finds now, partition by partition."""
        from trivium.testing import contents

        with self._connect() as cluster:
            return contents.read(cluster, topic)

    def _connect(self) -> "Cluster":
        from trivium.testing import contents

        if not self.is_running:
            raise NotRunning("The broker is not running; start it first.")
        return contents.connect(self.bootstrap)

    # -- inside ----------------------------------------------------------------------------------

    def _prepare(self, node: Node, loop: asyncio.AbstractEventLoop) -> None:
        def topic_name(topic_id: bytes) -> str | None:
            topic = node.cluster.image.topics.by_id.get(topic_id)
            return None if topic is None else topic.name

        def hang_up(caller: Caller) -> None:
            for connection in list(node.connections.open):
                other = _caller_of(connection.session)
                if other is not None and other.presence is caller.presence:
                    connection.drop()

        surroundings = Surroundings(topic_name, loop.call_later, hang_up, node.assembly.name_in_kafka)
        sabotage(node.speakers.kafka, self.faults, surroundings)
        # Others are loaded where somebody may speak them.
        if node.addresses.keys() & {Protocol.IGGY, Protocol.AUTO}:
            from trivium.testing.iggy_sabotage import sabotage_iggy

            sabotage_iggy(node.speakers.iggy, self.faults, surroundings)
        if node.addresses.keys() & {Protocol.RUSTLOG, Protocol.AUTO}:
            from trivium.testing.rustlog_sabotage import sabotage_rustlog

            sabotage_rustlog(node.speakers.rustlog, self.faults, surroundings)

    def _reserve_ports(self) -> None:
        """Bound and not listening: clients are refused, and nobody else is given the port."""
        for address in (address for some in self._addresses.values() for address in some):
            sock = socket.socket()
            self._reserved.append(sock)
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            sock.bind((address.host, address.port))

    def _free_ports(self) -> None:
        for sock in self._reserved:
            sock.close()
        self._reserved.clear()


def _caller_of(session: Session) -> Caller | None:
    """Who speaks; nobody does yet where the first bytes have not told the protocol."""
    return getattr(getattr(session, "decided", session), "caller", None)
