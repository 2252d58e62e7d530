"""The nouns of the core that more than one room needs, each made when it is first asked for.

A noun is loaded with its first command, or at a start that finds state of it on disk. A node wants to be
there at once, and what nobody has asked for yet is not worth waiting for. Here and in ``rooms`` the core is
loaded piece by piece: nowhere else does anybody notice.
"""

import asyncio
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from trivium.core.access import Access
from trivium.core.cluster import Cluster
from trivium.core.faults import Fault
from trivium.core.quotas.budgets import Budgets
from trivium.core.quotas.limits import Limits
from trivium.core.settings import whole
from trivium.core.timers import Timers
from trivium.server.clock import SystemClock
from trivium.server.configuration.configuration import Configuration
from trivium.server.credentials import Credentials
from trivium.server.node_data import NodeData
from trivium.server.strangers import Strangers

if TYPE_CHECKING:
    from trivium.core.acls.authorizer import Authorizer
    from trivium.core.commands.topics import StreamPlace
    from trivium.core.groups.coordinator import GroupCoordinator
    from trivium.core.groups.offsets import Place
    from trivium.core.producer_ids import Producers
    from trivium.core.streams.streams import Streams
    from trivium.core.topic_creation import TopicCreation
    from trivium.core.transactions.coordinator import TransactionCoordinator
    from trivium.core.transactions.transaction import Producer
    from trivium.core.users.people import People
    from trivium.server.own_state import OwnState


class Nouns:
    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        configuration: Configuration,
        data: NodeData,
        clock: SystemClock,
        timers: Timers,
        credentials: Credentials,
    ) -> None:
        self.loop = loop
        self.settings = data.settings
        self.timers = timers
        self._clock = clock
        self._credentials = credentials
        self.strangers = Strangers(configuration.anonymous, configuration.listeners)
        self.access = Access(anonymous=configuration.anonymous, authorizer=_authorizer(configuration, data))
        self.cluster = Cluster(
            node_id=data.meta.node_id,
            cluster_id=data.meta.cluster_id,
            image=data.image,
            metadata_log=data.metadata_log,
            storage=data.storage,
            clock=clock,
            rules_for=data.settings.rules,
        )
        self.budgets = Budgets(
            Limits(data.image.quotas),
            clock,
            timers,
            lambda: self.cluster.mutations,
            # What is being counted is no whole second yet, as with Kafka.
            max(1, whole(data.settings.broker, "quota.window.num") - 1)
            * whole(data.settings.broker, "quota.window.size.seconds"),
        )

    @cached_property
    def creation(self) -> "TopicCreation":
        from trivium.core.topic_creation import TopicCreation

        return TopicCreation(
            self.cluster,
            self.settings,
            self.access,
            new_id,
            self.timers,
            self.budgets.admits_mutations,
        )

    @cached_property
    def producers(self) -> "Producers":
        from trivium.core.producer_ids import Producers

        return Producers(self.cluster, self.access)

    @cached_property
    def own(self) -> "OwnState":
        from trivium.server.own_state import OwnState

        own = OwnState(self.cluster, self.creation)
        self.access.know(own.users, own.registry)
        return own

    @cached_property
    def groups(self) -> "GroupCoordinator":
        from trivium.core.commands.groups import CoordinatorKind
        from trivium.core.groups.coordinator import GroupCoordinator
        from trivium.core.transactions.topic import transactions_topic

        cluster, settings, new_topic_records = self.cluster, self.settings, self.creation.new_topic_records
        groups = GroupCoordinator(
            cluster, settings, self.access, self.timers, new_topic_records, lambda: str(uuid.uuid4())
        )
        groups.finding.add(
            CoordinatorKind.TRANSACTION, transactions_topic(cluster, settings, new_topic_records)
        )
        groups.start()
        if "streams" in vars(self):
            groups.spare(self.streams.keeps_offsets)
        return groups

    @cached_property
    def transactions(self) -> "TransactionCoordinator":
        from trivium.core.transactions.coordinator import TransactionCoordinator

        transactions = TransactionCoordinator(
            self.cluster,
            self.settings,
            self.access,
            self.timers,
            self.creation.new_topic_records,
            self.producers.give,
            self.groups,
            self.own.log,
            self.own.queries,
        )
        transactions.start()
        return transactions

    @cached_property
    def streams(self) -> "Streams":
        from trivium.core.streams.streams import Streams
        from trivium.server.machine import ProcessMachine

        own = self.own
        streams = Streams(
            self.cluster,
            self.settings,
            self.access,
            own.registry,
            own.log,
            self.creation,
            lambda: self.groups.routes,
            ProcessMachine(),
        )
        if "groups" in vars(self):
            self.groups.spare(streams.keeps_offsets)
        return streams

    @cached_property
    def people(self) -> "People":
        from trivium.core.users.people import People
        from trivium.server.passwords import chance

        return People(
            self.own.users,
            self.own.log,
            self.cluster,
            self.access,
            self._credentials.passwords(),
            self._clock,
            chance(),
            self._credentials.delegating(),
            self._credentials.failing(self.timers),
            lambda caller, user_id: self.streams.clients.session_changed(caller, user_id),
            self.strangers.report_change,
            self._credentials.bearers(),
            self._credentials.kerberos(),
        )

    def committed(self) -> "Iterable[tuple[str, Place, int]]":
        """Group, partition and offset of every commit; none, while nobody has had to do with groups."""
        return self.groups.committed() if "groups" in vars(self) else ()

    def name_in_kafka(self, stream: int | str, topic: int | str) -> str | None:
        """What a topic of a stream is called there; nothing, while nobody uses streams."""
        return self.own.registry.name_in_kafka(stream, topic) if "own" in vars(self) else None

    def place_with(self, topic_id: bytes) -> "StreamPlace | None":
        """Where a topic is among the streams; nowhere, while nobody uses them."""
        return self.own.registry.place_with(topic_id) if "own" in vars(self) else None

    def admit(
        self,
        transactional_id: str,
        producer: "Producer",
        places: "Sequence[Place]",
        admitted: "Callable[[Mapping[Place, Fault]], None]",
        *,
        joins: bool,
    ) -> None:
        self.transactions.adding.admit(transactional_id, producer, places, admitted, joins=joins)

    def owns(self, transactional_id: str, producer_id: int) -> bool:
        return self.transactions.adding.owns(transactional_id, producer_id)


def _authorizer(configuration: Configuration, data: NodeData) -> "Authorizer | None":
    """Who decides by access control lists, if they count."""
    if configuration.authorization is None:
        return None
    from trivium.core.acls.authorizer import Authorizer

    return Authorizer(data.image.access_control.rules, *configuration.authorization)


def new_id() -> bytes:
    return uuid.uuid4().bytes
