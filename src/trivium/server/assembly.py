"""The core of a node, put together on its data: the broker over its rooms, watched where that is asked for,
and what has to go on at a start.

The nouns themselves are made in ``nouns`` and ``rooms``, when the first command for them comes.
"""

import asyncio
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from trivium.core.broker import Broker
from trivium.core.cluster import (
    AUDIT_TOPIC,
    CLOSED_TOPIC,
    OFFSETS_TOPIC,
    SHARE_STATE_TOPIC,
    TRANSACTIONS_TOPIC,
)
from trivium.core.commands.command import Routes
from trivium.core.faults import Refused
from trivium.core.settings import whole
from trivium.core.timers import Timers
from trivium.server.clock import SystemClock
from trivium.server.configuration.configuration import Configuration, Listener, Protocol
from trivium.server.credentials import Credentials
from trivium.server.event_log import events
from trivium.server.listeners import CannotListen
from trivium.server.node_data import NodeData
from trivium.server.nouns import Nouns
from trivium.server.rooms import rooms

if TYPE_CHECKING:
    from trivium.core.groups.offsets import Place
    from trivium.core.internal_topic import InternalTopic
    from trivium.server.audit import AuditTrail
    from trivium.server.kerberos import Keytab


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
        self._loop = loop
        self._configuration = configuration
        self._clock = clock
        self._credentials = Credentials(loop, configuration, data.settings, keytab)
        self.nouns = nouns = Nouns(loop, configuration, data, clock, timers, self._credentials)
        self.cluster, self.budgets = nouns.cluster, nouns.budgets
        self.has_new_user = False
        """Whether this start has made the first user."""
        self.audit = nouns.access.witness = self._audit_trail()
        self.broker = Broker(nouns.access, watched=self._watched, rooms=rooms(nouns))

    def committed(self) -> "Iterable[tuple[str, Place, int]]":
        return self.nouns.committed()

    def name_in_kafka(self, stream: int | str, topic: int | str) -> str | None:
        return self.nouns.name_in_kafka(stream, topic)

    # -- who is told of decisions ------------------------------------------------------------------

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
            self.nouns.creation.new_topic_records,
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
        return bool(self.cluster.image.tokens.by_id) or self._credentials.delegation_key is not None

    def _expire_tokens(self) -> None:
        from trivium.core.users.token_expiry import TokenExpiry

        interval_ms = whole(self.nouns.settings.broker, "delegation.token.expiry.check.interval.ms")
        TokenExpiry(self.cluster, self.nouns.timers, interval_ms).start()

    async def _open_streams(self, doors: Iterable[Listener]) -> None:
        from trivium.server.first_user import found_first_user, refuse_well_known_user

        founding, configured = self.nouns.people.founding, self._configuration.first_user
        listeners = self._configuration.listeners
        try:
            if doors:
                self.has_new_user = await found_first_user(
                    founding, configured, listeners, lambda: self._load_streams(doors)
                )
            if not self.has_new_user:
                await refuse_well_known_user(founding, configured, listeners)
            self.nouns.streams.enrolment.wake()
        except Refused as refused:
            self.nouns.own.users.suspect()
            events.error("users and streams cannot be read", reason=refused.message or refused.fault.name)
        else:
            self.nouns.strangers.report_start(self.nouns.own.users.is_only_root)

    def _load_streams(self, doors: Iterable[Listener]) -> None:
        """What the first one who comes in would wait for otherwise."""
        assert self.nouns.streams is not None  # It is made by being looked at.
        if any(door.protocol is Protocol.IGGY for door in doors):
            import trivium.protocols.iggy.session  # noqa: F401

    async def stop(self) -> None:
        """When nobody is connected any more."""
        await self._credentials.stop()
        if self.audit is not None:
            await self.audit.stop()

    def end_threads(self) -> None:
        self._credentials.end_threads()
