"""The clients that are connected, and the node they are connected to, in figures."""

from collections.abc import Sequence
from enum import Enum
from typing import ClassVar, NamedTuple

from trivium.core.access import Operation, Row, for_everybody, on_cluster
from trivium.core.commands.command import Command, command
from trivium.core.faults import Fault
from trivium.core.ports import MachineFacts


class Transport(Enum):
    TCP = 1
    QUIC = 2
    HTTP = 3
    WEBSOCKET = 4


class ClientGroup(NamedTuple):
    """A group that a client is a member of."""

    stream_id: int
    topic_id: int
    group_id: int


class ClientFacts(NamedTuple):
    client_id: int
    user_id: int | None
    """None before it has logged in."""
    transport: Transport
    address: str
    groups: Sequence[ClientGroup] = ()


@command
class GreetClient(Command[int]):
    """A session begins: the result is the number of its client, above 0 and never used before. It is
    forgotten with the caller's presence.
    """

    ROW: ClassVar[Row] = for_everybody("a connection is counted before it has said who it is")
    address: str
    transport: Transport = Transport.TCP


class DescribedClient(NamedTuple):
    fault: Fault | None = None
    client: ClientFacts | None = None


@command
class DescribeMe(Command[DescribedClient]):
    ROW: ClassVar[Row] = for_everybody("everybody may know itself")

    def refused(self, fault: Fault, message: str | None = None) -> DescribedClient:
        return DescribedClient(fault)


@command
class DescribeClient(Command[DescribedClient]):
    """No client without a fault: there is none of this number."""

    ROW: ClassVar[Row] = on_cluster(Operation.DESCRIBE)
    client_id: int

    def refused(self, fault: Fault, message: str | None = None) -> DescribedClient:
        return DescribedClient(fault)


class ListedClients(NamedTuple):
    fault: Fault | None = None
    clients: Sequence[ClientFacts] = ()


@command
class ListClients(Command[ListedClients]):
    ROW: ClassVar[Row] = on_cluster(Operation.DESCRIBE)

    def refused(self, fault: Fault, message: str | None = None) -> ListedClients:
        return ListedClients(fault)


class LogFigures(NamedTuple):
    """What is in the log, as seen by streams."""

    size_bytes: int = 0
    streams_count: int = 0
    topics_count: int = 0
    partitions_count: int = 0
    segments_count: int = 0
    messages_count: int = 0
    clients_count: int = 0
    groups_count: int = 0


class NodeFigures(NamedTuple):
    fault: Fault | None = None
    machine: MachineFacts = MachineFacts()
    log: LogFigures = LogFigures()


@command
class MeasureNode(Command[NodeFigures]):
    ROW: ClassVar[Row] = on_cluster(Operation.DESCRIBE)

    def refused(self, fault: Fault, message: str | None = None) -> NodeFigures:
        return NodeFigures(fault)
