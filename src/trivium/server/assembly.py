"""The core of a node, put together on its data: every noun with what it needs, and the broker over them.

A noun is loaded when the first command for it comes, or at a start that finds state of it on disk. A node
wants to be there at once, and what nobody has asked for yet is not worth waiting for. This is the one place
where the core is loaded piece by piece: nowhere else does anybody notice.
"""

import asyncio
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from trivium.core.access import Access
from trivium.core.broker import Broker
from trivium.core.cluster import (
    AUDIT_TOPIC,
    CLOSED_TOPIC,
    OFFSETS_TOPIC,
    SHARE_STATE_TOPIC,
    TRANSACTIONS_TOPIC,
    Cluster,
)
from trivium.core.commands.command import Routes
from trivium.core.faults import Fault, Refused
from trivium.core.quotas.budgets import Budgets
from trivium.core.quotas.limits import Limits
from trivium.core.settings import whole
from trivium.core.timers import Timers
from trivium.server.clock import SystemClock
from trivium.server.configuration.configuration import Configuration, Listener
from trivium.server.event_log import events
from trivium.server.listeners import CannotListen
from trivium.server.node_data import NodeData
from trivium.server.password_queue import PasswordQueue
from trivium.server.strangers import Strangers
from trivium.server.worker import Worker

if TYPE_CHECKING:
    from trivium.core.acls.authorizer import Authorizer
    from trivium.core.commands.topics import StreamPlace
    from trivium.core.groups.coordinator import GroupCoordinator
    from trivium.core.groups.offsets import Place
    from trivium.core.internal_topic import InternalTopic
    from trivium.core.producer_ids import Producers
    from trivium.core.streams.streams import Streams
    from trivium.core.topic_creation import TopicCreation
    from trivium.core.transactions.coordinator import TransactionCoordinator
    from trivium.core.transactions.transaction import Producer
    from trivium.core.users.authentication import Bearers
    from trivium.core.users.kerberos import Kerberos
    from trivium.core.users.people import People
    from trivium.server.audit import AuditTrail
    from trivium.server.bearer_tokens import JwksTokens
    from trivium.server.kerberos import Keytab, KeytabTickets
    from trivium.server.own_state import OwnState


PASSWORD_NICENESS = 10
"""By how much hashing stands back: on a busy machine it gets a tenth of what the loop gets."""


class Assembly:
    """``broker`` carries out commands; the rest is for those who start and stop it."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        configuration: Configuration,
        data: NodeData,
        clock: SystemClock,
        timers: Timers,
        keytab: "Keytab | None" = None,
    ) -> None:
        """``keytab``: where listeners offer GSSAPI."""
        self._keytab = keytab
        self._loop = loop
        self._configuration = configuration
        self._settings = data.settings
        self._clock = clock
        self._timers = timers
        self._strangers = Strangers(configuration.anonymous, configuration.listeners)
        self._access = Access(anonymous=configuration.anonymous, authorizer=_authorizer(configuration, data))
        self._password_worker = Worker(loop, "passwords", niceness=PASSWORD_NICENESS)
        self._password_queue = PasswordQueue(loop, self._password_worker)
        self._jwks: JwksTokens | None = None
        self._tickets: KeytabTickets | None = None
        self.has_new_user = False
        """Whether this start has made the first user."""
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
        self.audit = self._audit_trail()
        self._access.witness = self.audit
        self.broker = Broker(
            self._access,
            watched=self._watched,
            rooms={
                "acls": self._acl_routes,
                "batches": self._transaction_routes,
                "clients": self._stream_routes,
                "cluster": self._cluster_routes,
                "configs": self._config_routes,
                "consumer_groups": self._group_routes,
                "features": self._feature_routes,
                "groups": self._group_routes,
                "list_offsets": self._offset_routes,
                "offsets": self._group_routes,
                "placement": self._placement_routes,
                "producers": self._producer_routes,
                "quotas": self._quota_routes,
                "records": self._record_routes,
                "sasl": self._user_routes,
                "delegation": self._user_routes,
                "share_groups": self._group_routes,
                "share_groups_reading": self._share_reading_routes,
                "stream_groups": self._stream_routes,
                "streams": self._stream_routes,
                "telemetry": self._telemetry_routes,
                "topics": self._topic_routes,
                "transactions": self._transaction_routes,
                "users": self._user_routes,
            },
        )

    def _audit_trail(self) -> "AuditTrail | None":
        """``CannotListen`` if it cannot be written: nobody is let in unseen."""
        settings = self._configuration.audit
        if not settings.is_kept:
            return None
        from trivium.server.audit import AuditTrail
        from trivium.server.audit_file import AuditFile

        try:
            file = None if settings.file is None else AuditFile(settings.file)
        except OSError as error:
            raise CannotListen(
                f"audit.file = {settings.file} cannot be written: {error.strerror}."
            ) from error
        publish = self._publish_audit if settings.to_topic else None
        return AuditTrail(self._loop, self._clock, file, publish, settings.allowed_one_in)

    def _watched(self, routes: Routes) -> Routes:
        if self.audit is None:
            return routes
        from trivium.core.audit import watched

        return watched(routes, self.audit)

    def _publish_audit(self, lines: Sequence[bytes]) -> None:
        try:
            self._audit_topic.ensure()
            self._audit_topic.write(0, [(b"", line.rstrip()) for line in lines])
        except Refused as refused:
            events.seldom("audit not written", reason=refused.message or refused.fault.name, lines=len(lines))

    @cached_property
    def _audit_topic(self) -> "InternalTopic":
        from trivium.core.internal_topic import InternalTopic

        return InternalTopic(
            self.cluster,
            AUDIT_TOPIC,
            self._creation.new_topic_records,
            lambda: 1,
            {"cleanup.policy": "delete"},
        )

    # -- at a start, when the metadata are complete ------------------------------------------------

    async def resume(self, stream_doors: Sequence[Listener]) -> None:
        """Go on with what was there before; and with a door to streams, there is somebody who may come in."""
        known = self.cluster.image.topics.by_name
        if OFFSETS_TOPIC in known or SHARE_STATE_TOPIC in known:
            self.broker.open("groups")
        if TRANSACTIONS_TOPIC in known:
            self.broker.open("transactions")
        if self._has_delegation_tokens:
            self._expire_tokens()
        if stream_doors or CLOSED_TOPIC in known:
            await self._open_streams(stream_doors)

    @property
    def _has_delegation_tokens(self) -> bool:
        """Whether there are any, or can be."""
        return bool(self.cluster.image.tokens.by_id) or self._delegation_key is not None

    @property
    def _delegation_key(self) -> str | None:
        return self._configuration.static_settings.get("delegation.token.secret.key")

    def _expire_tokens(self) -> None:
        from trivium.core.users.token_expiry import TokenExpiry

        interval_ms = whole(self._settings.broker, "delegation.token.expiry.check.interval.ms")
        TokenExpiry(self.cluster, self._timers, interval_ms).start()

    async def _open_streams(self, doors: Iterable[Listener]) -> None:
        from trivium.server.first_user import found_first_user, refuse_well_known_user

        founding, configured = self._people.founding, self._configuration.first_user
        listeners = self._configuration.listeners
        try:
            if doors:
                self.has_new_user = await found_first_user(
                    founding, configured, listeners, lambda: self.streams
                )
            if not self.has_new_user:
                await refuse_well_known_user(founding, configured, listeners)
            self.streams.enrolment.wake()
        except Refused as refused:
            self._own.users.suspect()
            events.error("users and streams cannot be read", reason=refused.message or refused.fault.name)
        else:
            self._strangers.report_start(self._own.users.is_only_root)

    async def stop(self) -> None:
        """When nobody is connected any more: what is being checked is waited for, nothing else."""
        self._password_queue.clear()
        await self._password_worker.drain()
        self.end_threads()
        if self.audit is not None:
            await self.audit.stop()

    def end_threads(self) -> None:
        self._password_worker.close()
        if self._jwks is not None:
            self._jwks.close()
        if self._tickets is not None:
            self._tickets.close()

    # -- what several nouns share ------------------------------------------------------------------

    @cached_property
    def _creation(self) -> "TopicCreation":
        from trivium.core.topic_creation import TopicCreation

        return TopicCreation(
            self.cluster,
            self._settings,
            self._access,
            _new_id,
            self._timers,
            self.budgets.admits_mutations,
        )

    @cached_property
    def _producers(self) -> "Producers":
        from trivium.core.producer_ids import Producers

        return Producers(self.cluster, self._access)

    @cached_property
    def _own(self) -> "OwnState":
        from trivium.server.own_state import OwnState

        own = OwnState(self.cluster, self._creation)
        self._access.know(own.users, own.registry)
        return own

    @cached_property
    def groups(self) -> "GroupCoordinator":
        from trivium.core.commands.groups import CoordinatorKind
        from trivium.core.groups.coordinator import GroupCoordinator
        from trivium.core.transactions.topic import transactions_topic

        cluster, settings, new_topic_records = self.cluster, self._settings, self._creation.new_topic_records
        groups = GroupCoordinator(
            cluster, settings, self._access, self._timers, new_topic_records, lambda: str(uuid.uuid4())
        )
        groups.finding.add(
            CoordinatorKind.TRANSACTION, transactions_topic(cluster, settings, new_topic_records)
        )
        groups.start()
        if "streams" in vars(self):
            groups.spare(self.streams.keeps_offsets)
        return groups

    @cached_property
    def _transactions(self) -> "TransactionCoordinator":
        from trivium.core.transactions.coordinator import TransactionCoordinator

        transactions = TransactionCoordinator(
            self.cluster,
            self._settings,
            self._access,
            self._timers,
            self._creation.new_topic_records,
            self._producers.give,
            self.groups,
            self._own.log,
            self._own.queries,
        )
        transactions.start()
        return transactions

    @cached_property
    def streams(self) -> "Streams":
        from trivium.core.streams.streams import Streams
        from trivium.server.machine import ProcessMachine

        own = self._own
        streams = Streams(
            self.cluster,
            self._settings,
            self._access,
            own.registry,
            own.log,
            self._creation,
            lambda: self.groups.routes,
            ProcessMachine(),
        )
        if "groups" in vars(self):
            self.groups.spare(streams.keeps_offsets)
        return streams

    @cached_property
    def _people(self) -> "People":
        from trivium.core.users.people import Delegating, Failing, People
        from trivium.server.passwords import ArgonPasswords, chance

        return People(
            self._own.users,
            self._own.log,
            self.cluster,
            self._access,
            ArgonPasswords(self._password_queue),
            self._clock,
            chance(),
            Delegating(
                self._delegation_key,
                whole(self._settings.broker, "delegation.token.max.lifetime.ms"),
                whole(self._settings.broker, "delegation.token.expiry.time.ms"),
            ),
            Failing(
                self._timers,
                whole(self._settings.broker, "connection.failed.authentication.delay.ms"),
                self._configuration.limits.failed_logins_per_minute,
            ),
            lambda caller, user_id: self.streams.clients.session_changed(caller, user_id),
            self._strangers.report_change,
            self._bearers(),
            self._kerberos(),
        )

    def _bearers(self) -> "Bearers | None":
        """Who may come in by tokens that others have signed, if anybody."""
        settings = self._configuration.static_settings
        source = settings.get("sasl.oauthbearer.jwks.endpoint.url")
        if source is None:
            return None
        from trivium.core.users.authentication import Bearers
        from trivium.core.users.bearer import BearerRules
        from trivium.server.bearer_tokens import JwksTokens

        audiences = settings.get("sasl.oauthbearer.expected.audience", "").split(",")
        self._jwks = JwksTokens(
            self._loop, source, whole(self._settings.broker, "sasl.oauthbearer.jwks.endpoint.refresh.ms")
        )
        return Bearers(
            self._jwks,
            BearerRules(
                settings.get("sasl.oauthbearer.expected.issuer"),
                frozenset(each.strip() for each in audiences if each.strip()),
                settings.get("sasl.oauthbearer.sub.claim.name", "sub"),
                whole(self._settings.broker, "sasl.oauthbearer.clock.skew.seconds"),
            ),
        )

    def _kerberos(self) -> "Kerberos | None":
        """Who may come in by tickets, if anybody."""
        keytab, settings = self._keytab, self._configuration.kerberos
        if keytab is None or settings is None:
            return None
        from trivium.core.users.kerberos import Kerberos
        from trivium.core.users.kerberos_names import LocalNames
        from trivium.server.kerberos import KeytabTickets

        self._tickets = KeytabTickets(self._loop, keytab)
        return Kerberos(
            self._tickets,
            LocalNames.parse(settings.rules, keytab.principal.realm),
            keytab.principal.service,
        )

    def committed(self) -> "Iterable[tuple[str, Place, int]]":
        """Group, partition and offset of every commit; none, while nobody has had to do with groups."""
        return self.groups.committed() if "groups" in vars(self) else ()

    def name_in_kafka(self, stream: int | str, topic: int | str) -> str | None:
        """What a topic of a stream is called there; nothing, while nobody uses streams."""
        return self._own.registry.name_in_kafka(stream, topic) if "_own" in vars(self) else None

    def _place_with(self, topic_id: bytes) -> "StreamPlace | None":
        """Where a topic is among the streams; nowhere, while nobody uses them."""
        return self._own.registry.place_with(topic_id) if "_own" in vars(self) else None

    def _admit(
        self,
        transactional_id: str,
        producer: "Producer",
        places: "Sequence[Place]",
        admitted: "Callable[[Mapping[Place, Fault]], None]",
        *,
        joins: bool,
    ) -> None:
        self._transactions.adding.admit(transactional_id, producer, places, admitted, joins=joins)

    def _owns(self, transactional_id: str, producer_id: int) -> bool:
        return self._transactions.adding.owns(transactional_id, producer_id)

    # -- rooms: who carries out the commands of a module ---------------------------------------------

    def _topic_routes(self) -> Routes:
        from trivium.core.topic_deletion import TopicDeletion
        from trivium.core.topics import TopicDirectory

        cluster, settings, access, creation = self.cluster, self._settings, self._access, self._creation
        return {
            **creation.routes,
            **TopicDirectory(cluster, settings, access, creation, self._place_with).routes,
            **TopicDeletion(cluster, settings, access, self._timers, self.budgets.admits_mutations).routes,
        }

    def _record_routes(self) -> Routes:
        from trivium.core.fetch import Fetching
        from trivium.core.produce import Producing

        return {
            **Producing(self.cluster, self._access, self._timers, self._admit, self._owns).routes,
            **Fetching(
                self.cluster, self._access, self._timers, self._loop.call_soon, self._fetch_bytes_max
            ).routes,
        }

    @property
    def _fetch_bytes_max(self) -> int:
        return whole(self._settings.broker, "fetch.max.bytes")

    def _offset_routes(self) -> Routes:
        from trivium.core.list_offsets import Offsets

        return Offsets(self.cluster, self._access).routes

    def _producer_routes(self) -> Routes:
        return self._producers.routes

    def _acl_routes(self) -> Routes:
        from trivium.core.acls.administration import AclAdministration

        return AclAdministration(self.cluster, self._access, _new_id).routes

    def _config_routes(self) -> Routes:
        from trivium.core.configs import Configs
        from trivium.server.loggers import PythonLoggers

        return Configs(self.cluster, self._settings, self._access, PythonLoggers()).routes

    def _placement_routes(self) -> Routes:
        from trivium.core.log_directories import LogDirectories
        from trivium.core.placement import Placement

        return {**Placement(self.cluster).routes, **LogDirectories(self.cluster, self._settings).routes}

    def _quota_routes(self) -> Routes:
        from trivium.core.quotas.administration import QuotaAdministration

        return QuotaAdministration(self.cluster).routes

    def _cluster_routes(self) -> Routes:
        from trivium.core.cluster_facts import ClusterFacts

        return ClusterFacts(self.cluster, self._settings, self._access).routes

    def _feature_routes(self) -> Routes:
        from trivium.core.features import Features

        return Features(self.cluster).routes

    def _telemetry_routes(self) -> Routes:
        from trivium.core.telemetry import Telemetry

        return Telemetry(self.cluster, _new_id, whole(self._settings.broker, "telemetry.max.bytes")).routes

    def _group_routes(self) -> Routes:
        return self.groups.routes

    def _share_reading_routes(self) -> Routes:
        from trivium.core.groups.share.reading import ShareReading

        return ShareReading(
            self.cluster,
            self._access,
            self._timers,
            self._loop.call_soon,
            self.groups.share_states,
            self.groups.share_rules,
            self._fetch_bytes_max,
        ).routes

    def _transaction_routes(self) -> Routes:
        return self._transactions.routes

    def _stream_routes(self) -> Routes:
        return self.streams.routes

    def _user_routes(self) -> Routes:
        return self._people.routes


def _authorizer(configuration: Configuration, data: NodeData) -> "Authorizer | None":
    """Who decides by access control lists, if they count."""
    if configuration.authorization is None:
        return None
    from trivium.core.acls.authorizer import Authorizer

    return Authorizer(data.image.access_control.rules, *configuration.authorization)


def _new_id() -> bytes:
    return uuid.uuid4().bytes
