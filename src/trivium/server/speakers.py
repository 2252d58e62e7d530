"""Who speaks with a peer: the session that a new connection gets, by the listener it came in by.

A protocol is loaded when its first peer arrives, and Iggy's by a new node while it waits for a hash anyway.
Most nodes are asked for one of them only, and a node wants to be there at once: what nobody has asked for yet
is not worth waiting for.
"""

from functools import cached_property
from typing import TYPE_CHECKING

from trivium.core.access import Anonymous
from trivium.core.commands.command import Engine
from trivium.core.quotas.budgets import Budgets
from trivium.core.settings import Settings, whole
from trivium.core.timers import Timers
from trivium.protocols.session import Session
from trivium.server.clock import SystemClock
from trivium.server.configuration.configuration import Configuration, Durability, Listener, Protocol
from trivium.server.connection import Connection
from trivium.server.event_log import events
from trivium.server.metrics import NamedRequestMeter, RequestMeter
from trivium.wire.errors import DecodeError

if TYPE_CHECKING:
    from trivium.protocols.iggy.protocol import IggyProtocol
    from trivium.protocols.iggy.session import IggySession
    from trivium.protocols.kafka.protocol import KafkaProtocol
    from trivium.protocols.kafka.session import KafkaSession
    from trivium.protocols.rustlog.protocol import RustLogProtocol
    from trivium.protocols.rustlog.session import RustLogSession
    from trivium.protocols.rustlog.slow_consumer import SlowConsumer
    from trivium.protocols.tls import Certificate
    from trivium.server.certificates import Certificates


class Speakers:
    def __init__(
        self,
        engine: Engine,
        configuration: Configuration,
        settings: Settings,
        clock: SystemClock,
        timers: Timers,
        budgets: Budgets,
    ) -> None:
        self._engine = engine
        self._configuration = configuration
        self._settings = settings
        self._clock = clock
        self._timers = timers
        self._budgets = budgets
        self.kafka_meter = RequestMeter()
        self.rustlog_meter = NamedRequestMeter()
        self.iggy_meter = NamedRequestMeter()

    def session(
        self, connection: Connection, listener: Listener, certificates: "Certificates | None"
    ) -> Session:
        """The session of a new connection."""
        if certificates is None or not listener.security.is_encrypted:
            return self._open_session(connection, listener, certificates)
        return self._encrypted(connection, listener, certificates)

    def _encrypted(self, connection: Connection, listener: Listener, certificates: "Certificates") -> Session:
        from trivium.protocols.tls import TlsSession

        def session(certificate: "Certificate | None") -> Session:
            name = None if certificate is None else _name_in(certificate, certificates)
            return self._open_session(connection, listener, None, name)

        return TlsSession(certificates.context(), session)

    def _open_session(
        self,
        connection: Connection,
        listener: Listener,
        certificates: "Certificates | None",
        name: str | None = None,
    ) -> Session:
        """The session for what is not encrypted, or not any more; with ``certificates`` it may become so."""
        if listener.protocol is not Protocol.AUTO:
            return self._session_of(listener.protocol, connection, listener, name)
        from trivium.protocols.first_bytes import Spoken
        from trivium.protocols.undecided import UndecidedSession

        def session(spoken: Spoken) -> Session:
            if spoken is not Spoken.TLS:
                return self._session_of(Protocol(spoken.value), connection, listener, name)
            if certificates is None:
                raise DecodeError("a TLS handshake, and no certificate is configured for this port")
            return self._encrypted(connection, listener, certificates)

        return UndecidedSession(session)

    def _session_of(
        self, protocol: Protocol, connection: Connection, listener: Listener, name: str | None
    ) -> Session:
        """``name`` is who the peer has shown to be by a certificate."""
        session = self._new_session(protocol, connection, listener, name)
        session.budgets = self._budgets
        return session

    def _new_session(
        self, protocol: Protocol, connection: Connection, listener: Listener, name: str | None
    ) -> "KafkaSession | RustLogSession | IggySession":
        peer = connection.transport.get_extra_info("peername") or ("", 0)
        dialled = connection.transport.get_extra_info("sockname") or ("127.0.0.1", 0)
        if protocol is Protocol.KAFKA:
            from trivium.protocols.kafka.api import Endpoint
            from trivium.protocols.kafka.login import Sasl
            from trivium.protocols.kafka.session import KafkaSession

            public = listener.advertised
            here = Endpoint(public.host, public.port) if public else Endpoint(dialled[0], dialled[1])
            offered = listener.sasl
            sasl = (
                Sasl(offered.mechanisms, offered.is_required, offered.reauthentication_ms)
                if offered
                else None
            )
            return KafkaSession(self.kafka, peer[0], here, connection.wake, certified_name=name, sasl=sasl)
        if protocol is Protocol.RUSTLOG:
            from trivium.protocols.rustlog.session import RustLogSession

            return RustLogSession(self.rustlog, peer[0], connection.wake, certified_name=name)
        if protocol is Protocol.IGGY:
            from trivium.protocols.iggy.client import Endpoint as Reached
            from trivium.protocols.iggy.session import IggySession

            reached = Reached(dialled[0], dialled[1])
            return IggySession(self.iggy, peer[0], peer[1], reached, connection.wake)
        raise DecodeError(f"{protocol.value} is not served here")

    def say_goodbye(self) -> None:
        """The node stops: clients that are sent away from now on hear it, if they have a word for that."""
        if "iggy" in vars(self):
            self.iggy.is_stopping = True

    @cached_property
    def kafka(self) -> "KafkaProtocol":
        from trivium.protocols.kafka.protocol import KafkaProtocol

        limits = self._configuration.limits
        return KafkaProtocol(
            self._engine,
            frame_bytes_max=limits.frame_bytes_max,
            requests_in_flight_max=limits.requests_in_flight_max,
            meter=self.kafka_meter,
            now_ms=self._clock.monotonic_ms,
            fetch_sessions_max=whole(self._settings.broker, "max.incremental.fetch.session.cache.slots"),
        )

    @cached_property
    def rustlog(self) -> "RustLogProtocol":
        from trivium.protocols.rustlog.protocol import RustLogProtocol

        limits = self._configuration.limits
        return RustLogProtocol(
            self._engine,
            self._clock,
            self._timers,
            requests_in_flight_max=limits.requests_in_flight_max,
            consumer_bytes_per_second=limits.rustlog_consumer_bytes_per_second,
            meter=self.rustlog_meter,
            report_slow_consumer=_report_slow_consumer,
            is_login_required=self._configuration.anonymous is Anonymous.DENY,
        )

    @cached_property
    def iggy(self) -> "IggyProtocol":
        from trivium.protocols.iggy.dialect import Generation
        from trivium.protocols.iggy.protocol import IggyProtocol

        settings = self._configuration.iggy
        return IggyProtocol(
            self._engine,
            self._clock,
            self._timers,
            now_us=self._clock.wall_us,
            generation=None if settings.generation is None else Generation(settings.generation),
            sends_wait_for_disk=settings.durability is Durability.FSYNC,
            heartbeat_ms=settings.heartbeat_ms,
            frame_bytes_max=self._configuration.limits.frame_bytes_max,
            meter=self.iggy_meter,
        )


def _name_in(certificate: "Certificate", certificates: "Certificates") -> str:
    """Who the certificate stands for; ``DecodeError`` if it is nobody's."""
    from trivium.core.users.certificate_names import subject_name

    subject = subject_name(certificate.get("subject", ()))
    name = certificates.tls.principal_rules.name_of(subject)
    if not name:
        raise DecodeError(f"no rule says who the certificate of {subject!r} stands for")
    return name


def _report_slow_consumer(consumer: "SlowConsumer") -> None:
    events.seldom(
        "slow consumer",
        consumer.group_id,
        group=consumer.group_id,
        topic=consumer.topic,
        partition=consumer.partition,
        lag=consumer.lag,
    )
