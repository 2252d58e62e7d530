"""Everything about streams, put together: what a node needs to know of this folder."""

from collections.abc import Callable

from trivium.core.access import Access
from trivium.core.cluster import Cluster
from trivium.core.commands.command import Routes
from trivium.core.ports import Machine
from trivium.core.settings import Settings
from trivium.core.streams.clients import Clients
from trivium.core.streams.consuming import Consuming
from trivium.core.streams.directory import StreamDirectory
from trivium.core.streams.enrolment import Enrolment
from trivium.core.streams.figures import Figures
from trivium.core.streams.finding import Finding
from trivium.core.streams.groups import RESERVED_PREFIX, StreamGroups
from trivium.core.streams.measuring import Measuring
from trivium.core.streams.membership import Membership
from trivium.core.streams.partition_changes import PartitionChanges
from trivium.core.streams.registry import Registry
from trivium.core.streams.shared_offsets import SharedOffsets
from trivium.core.streams.topic_changes import TopicChanges
from trivium.core.topic_creation import TopicCreation
from trivium.core.trivium_log import TriviumLog


class Streams:
    def __init__(
        self,
        cluster: Cluster,
        settings: Settings,
        access: Access,
        registry: Registry,
        log: TriviumLog,
        creation: TopicCreation,
        group_routes: Callable[[], Routes],
        machine: Machine,
    ) -> None:
        self.registry = registry
        membership = Membership(cluster.clock.monotonic_ms)
        self.clients = Clients(membership, access.is_removed)
        self.enrolment = Enrolment(cluster, registry, log)
        finding = Finding(cluster, registry, self.enrolment, access)
        measuring = Measuring(cluster, settings)
        offsets = SharedOffsets(group_routes, registry, RESERVED_PREFIX)
        self.keeps_offsets = offsets.are_kept
        """Of a group: they do not expire."""
        topics = TopicChanges(cluster, settings, registry, self.enrolment, finding, measuring, creation, log)
        self.routes: Routes = {
            **self.clients.routes,
            **topics.routes,
            **StreamDirectory(registry, finding, measuring, topics, log).routes,
            **PartitionChanges(cluster, settings, finding, topics, creation).routes,
            **StreamGroups(finding, self.enrolment, membership, self.clients, offsets, log).routes,
            **Consuming(finding, membership, self.clients, offsets).routes,
            **Figures(finding, measuring, self.clients, machine).routes,
        }
