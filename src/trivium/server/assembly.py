"""The core of a node, put together on its data: every noun with what it needs, and the broker over them."""

import asyncio
import uuid

from trivium.core.access import Access
from trivium.core.acls.administration import AclAdministration
from trivium.core.acls.authorizer import Authorizer
from trivium.core.broker import Broker
from trivium.core.cluster import Cluster
from trivium.core.cluster_facts import ClusterFacts
from trivium.core.commands.groups import CoordinatorKind
from trivium.core.configs import Configs
from trivium.core.faults import Refused
from trivium.core.features import Features
from trivium.core.fetch import Fetching
from trivium.core.groups.coordinator import GroupCoordinator
from trivium.core.groups.share.reading import ShareReading
from trivium.core.list_offsets import Offsets
from trivium.core.log_directories import LogDirectories
from trivium.core.placement import Placement
from trivium.core.produce import Producing
from trivium.core.producer_ids import Producers
from trivium.core.settings import whole
from trivium.core.streams.registry import Registry
from trivium.core.streams.streams import Streams
from trivium.core.telemetry import Telemetry
from trivium.core.timers import Timers
from trivium.core.topic_creation import TopicCreation
from trivium.core.topic_deletion import TopicDeletion
from trivium.core.topics import TopicDirectory
from trivium.core.transactions.coordinator import TransactionCoordinator
from trivium.core.transactions.queries import Queries
from trivium.core.trivium_log import TriviumLog
from trivium.core.users.directory import UserDirectory
from trivium.core.users.people import People
from trivium.server.clock import SystemClock
from trivium.server.configuration.configuration import Configuration, Listener
from trivium.server.event_log import events
from trivium.server.first_user import found_first_user
from trivium.server.loggers import PythonLoggers
from trivium.server.machine import ProcessMachine
from trivium.server.node_data import NodeData
from trivium.server.passwords import ArgonPasswords, new_token
from trivium.server.strangers import Strangers
from trivium.server.worker import Worker


class Assembly:
    """``broker`` carries out commands; the rest is for those who start and stop it."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        configuration: Configuration,
        data: NodeData,
        clock: SystemClock,
        timers: Timers,
    ) -> None:
        self._configuration = configuration
        self._users, registry = UserDirectory(), Registry(data.image.topics.id_of)
        access = Access(self._users, registry, configuration.anonymous, _authorizer(configuration, data))
        self._strangers = Strangers(configuration.anonymous, configuration.listeners)
        settings = data.settings
        self.cluster = cluster = Cluster(
            node_id=data.meta.node_id,
            cluster_id=data.meta.cluster_id,
            image=data.image,
            metadata_log=data.metadata_log,
            storage=data.storage,
            clock=clock,
            rules_for=settings.rules,
        )
        topics = TopicCreation(cluster, settings, access, lambda: uuid.uuid4().bytes, timers)
        self.groups = GroupCoordinator(
            cluster, settings, access, timers, topics.new_topic_records, lambda: str(uuid.uuid4())
        )
        producers = Producers(cluster, access)
        queries = Queries()
        log = TriviumLog(cluster, topics.new_topic_records, [self._users, registry, queries])
        self.transactions = TransactionCoordinator(
            cluster,
            settings,
            access,
            timers,
            topics.new_topic_records,
            producers.give,
            self.groups,
            log,
            queries,
        )
        self.groups.finding.add(CoordinatorKind.TRANSACTION, self.transactions.topic)
        self.streams = Streams(
            cluster, settings, access, registry, log, topics, self.groups, ProcessMachine()
        )
        self.password_worker = Worker(loop, "passwords")
        self._people = People(
            self._users,
            log,
            access,
            ArgonPasswords(self.password_worker),
            clock,
            new_token,
            self.streams.clients.session_changed,
            self._strangers.report_change,
        )
        fetch_bytes_max = whole(settings.broker, "fetch.max.bytes")
        push_bytes_max = whole(settings.broker, "telemetry.max.bytes")
        self.broker = Broker(
            access,
            [
                topics.routes,
                TopicDirectory(cluster, settings, access, topics, registry.place_with).routes,
                TopicDeletion(cluster, settings, access, timers).routes,
                Configs(cluster, settings, access, PythonLoggers()).routes,
                Placement(cluster).routes,
                LogDirectories(cluster, settings).routes,
                ClusterFacts(cluster, settings, access).routes,
                AclAdministration(cluster, access, lambda: uuid.uuid4().bytes).routes,
                Features(cluster).routes,
                Producing(cluster, access, timers, self.transactions.adding.admit).routes,
                Fetching(cluster, access, timers, loop.call_soon, fetch_bytes_max).routes,
                Offsets(cluster, access).routes,
                producers.routes,
                self.transactions.routes,
                Telemetry(cluster, lambda: uuid.uuid4().bytes, push_bytes_max).routes,
                self.groups.routes,
                ShareReading(
                    cluster,
                    access,
                    timers,
                    loop.call_soon,
                    self.groups.share_states,
                    self.groups.share_rules,
                    fetch_bytes_max,
                ).routes,
                self.streams.routes,
                self._people.routes,
            ],
        )

    async def open_streams(self, doors: list[Listener]) -> None:
        """With a door to streams there is somebody who may come in by it."""
        try:
            if doors:
                await found_first_user(self._people.founding, self._configuration.first_user, doors)
                self.streams.enrolment.wake()
            else:
                self.streams.enrolment.wake_if_used()
        except Refused as refused:
            self._users.suspect()
            events.error("users and streams cannot be read", reason=refused.message or refused.fault.name)
        else:
            self._strangers.report_start(self._users.is_only_root)


def _authorizer(configuration: Configuration, data: NodeData) -> Authorizer | None:
    """Who decides by access control lists, if they count."""
    if configuration.authorization is None:
        return None
    return Authorizer(data.image.access_control.rules, *configuration.authorization)
