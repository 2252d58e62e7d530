"""A node in figures: what is in its log, who is connected, and the machine it runs on."""

from trivium.core.caller import Caller
from trivium.core.commands.clients import LogFigures, MeasureNode, NodeFigures
from trivium.core.commands.command import Reply, Routes
from trivium.core.ports import Machine
from trivium.core.refusing import refusing
from trivium.core.streams.clients import Clients
from trivium.core.streams.finding import Finding
from trivium.core.streams.measuring import Measuring


class Figures:
    def __init__(self, finding: Finding, measuring: Measuring, clients: Clients, machine: Machine) -> None:
        self._finding = finding
        self._measuring = measuring
        self._clients = clients
        self._machine = machine
        self.routes: Routes = {MeasureNode: refusing(self.measure)}

    def measure(self, command: MeasureNode, caller: Caller, reply: Reply[NodeFigures]) -> None:
        streams = self._finding.streams()
        topics = [topic for stream in streams for topic in stream.topics.values()]
        parts = [part for topic in topics for part in self._measuring.partitions(topic)]
        figures = LogFigures(
            size_bytes=sum(part.size_bytes for part in parts),
            streams_count=len(streams),
            topics_count=len(topics),
            partitions_count=len(parts),
            segments_count=sum(part.segments_count for part in parts),
            messages_count=sum(part.messages_count for part in parts),
            clients_count=len(self._clients),
            groups_count=sum(len(topic.groups) for topic in topics),
        )
        reply(NodeFigures(None, self._machine.facts(), figures))
