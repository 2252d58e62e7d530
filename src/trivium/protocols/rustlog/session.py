"""One RustLog connection as a state machine over bytes; its verbs and its order are those of every
``Conversation``.

    frame   u32 length, then a request or response in one of the ``dialects``; 10 MB at most, both ways

Rules:
- Every request is answered, by its response or by an error in its own dialect (mission 004.18). Nothing that
  can be wrong with a request ends the connection: frames keep the stream in step, and a frame that is too
  large is passed over. Only one that would take too long to pass by ends it (``PASSED_OVER_BYTES_MAX``).
- Where a login is required, nothing else but Ping is done before it, and nothing larger than
  ``FRAME_BYTES_MAX_BEFORE_LOGIN`` is received (promises S3, S7). What follows a login waits for its outcome.
- Clients send one request at a time (mission 004.3). Who sends more gets the answers in order; with too many
  in flight, fetches above all, the next wait unread (``has_room``).
"""

from collections.abc import Callable
from typing import Final, TypeVar

from trivium.core.caller import ANONYMOUS, Caller
from trivium.core.commands.command import Command, Reply
from trivium.core.commands.users import LoggedIn
from trivium.core.quotas.limits import Budget
from trivium.protocols.certified import certified
from trivium.protocols.conversation import Conversation
from trivium.protocols.rustlog.allowance import Allowance
from trivium.protocols.rustlog.dialect import Dialect
from trivium.protocols.rustlog.dialects import FIRST_SPOKEN, dialect_of
from trivium.protocols.rustlog.login import FIRST
from trivium.protocols.rustlog.messages import (
    ErrorResponse,
    FetchRequest,
    LoginRequest,
    PingRequest,
    Problem,
    ProduceRequest,
    Response,
    Unreadable,
)
from trivium.protocols.rustlog.protocol import RustLogProtocol
from trivium.wire.buffer import Buffer
from trivium.wire.errors import DecodeError
from trivium.wire.framing import RUSTLOG_LENGTH
from trivium.wire.limits import FRAME_BYTES_MAX, FRAME_BYTES_MAX_BEFORE_LOGIN
from trivium.wire.receiving import Receiver

PASSED_OVER_BYTES_MAX: Final = FRAME_BYTES_MAX
"""A refused frame up to this size is waited out. What announces more is hardly a RustLog client."""

UNREADABLE: Final = "unreadable"
"""The name in metrics of a request that has none."""

R = TypeVar("R")


class _Call:
    """One request on its way, and the place of its answer in the queue."""

    __slots__ = (
        "_begun",
        "_session",
        "dialect",
        "frame_bytes",
        "is_fetch",
        "is_produce",
        "name",
        "parts",
        "request_bytes",
        "size_bytes",
    )

    def __init__(self, session: "RustLogSession", dialect: Dialect, request_bytes: int) -> None:
        self._session = session
        self._begun = session.protocol.meter.begin()
        self.dialect = dialect
        self.request_bytes = request_bytes
        self.name = UNREADABLE
        self.is_fetch = self.is_produce = False
        self.frame_bytes = 0
        self.parts: list[Buffer] | None = None
        self.size_bytes = 0

    @property
    def protocol(self) -> RustLogProtocol:
        return self._session.protocol

    @property
    def caller(self) -> Caller:
        return self._session.caller

    def execute(self, command: Command[R], reply: Reply[R]) -> None:
        session = self._session
        session.protocol.engine.execute(
            command, session.caller, lambda result: session.attempt(self, reply, result)
        )

    def wait_for_login(self) -> None:
        self._session.pause()

    def become(self, logged_in: LoggedIn) -> None:
        self._session.become(logged_in)

    def wait_ms(self, size_bytes: int) -> int:
        return self._session.wait_ms(size_bytes)

    def answer(self, response: Response) -> None:
        if not self._session.is_closed:
            self._session.attempt(self, self._give, response)

    def _give(self, response: Response) -> None:
        protocol = self.protocol
        body = self.dialect.write(response)
        if len(body) > protocol.frame_bytes_max:
            detail = (
                f"The answer would have {len(body)} bytes, and a frame has {protocol.frame_bytes_max} at "
                "most; ask for it in another dialect, or by Kafka's protocol."
            )
            response = ErrorResponse(Problem.FRAME_TOO_LARGE, detail)
            body = self.dialect.write(response)
        self.parts = [RUSTLOG_LENGTH.pack(len(body)), body]
        self.size_bytes = RUSTLOG_LENGTH.size + len(body)
        if self.is_fetch:
            self._session.settle(Budget.FETCH, self.size_bytes)
        elif self.is_produce:
            self._session.settle(Budget.PRODUCE, self.frame_bytes)
        error = response.problem.name if isinstance(response, ErrorResponse) else None
        protocol.meter.end(self.name, self._begun, error)
        self._session.answered()


class RustLogSession(Conversation[_Call]):
    def __init__(
        self,
        protocol: RustLogProtocol,
        host: str,
        wake: Callable[[], None],
        *,
        certified_name: str | None = None,
    ) -> None:
        """``certified_name`` is who the peer has shown to be by a certificate; ``DecodeError`` if that user
        may not come in.
        """
        receiver = Receiver(RUSTLOG_LENGTH, protocol.frame_bytes_max, self._refuse)
        super().__init__(receiver, protocol.requests_in_flight_max, wake)
        self.protocol = protocol
        caller = Caller(host=host, protocol="rustlog", presence=self.presence)
        self.caller = certified(caller, certified_name, protocol.engine)
        self._must_log_in = protocol.is_login_required and self.caller.principal == ANONYMOUS
        if self._must_log_in:
            self._receiver.bytes_max = FRAME_BYTES_MAX_BEFORE_LOGIN
        self._spoken = FIRST_SPOKEN
        self._allowance: Allowance | None = None
        protocol.counters.open_sessions += 1

    @property
    def has_room(self) -> bool:
        fetches = sum(call.is_fetch for call in self._turns)
        return super().has_room and fetches < self.protocol.fetches_in_flight_max

    def close(self) -> None:
        if not self.is_closed:
            self.protocol.counters.open_sessions -= 1
        super().close()

    # -- one request -----------------------------------------------------------------------------

    def _begin(self, frame: memoryview, own_bytes: int) -> None:
        dialect = dialect_of(frame)
        if dialect is not None:
            self._spoken = dialect
        call = self._begin_call(own_bytes)
        try:
            request = self._spoken.read(frame)
        except Unreadable as error:
            call.answer(ErrorResponse(Problem.UNREADABLE, str(error)))
            return
        call.name, carry_out = self.protocol.carry_out[type(request)]
        if self._must_log_in and not isinstance(request, LoginRequest | PingRequest):
            call.answer(ErrorResponse(Problem.OTHER, FIRST))
            return
        call.is_fetch = isinstance(request, FetchRequest)
        call.is_produce = isinstance(request, ProduceRequest)
        call.frame_bytes = len(frame)
        self.attempt(call, carry_out, request, call)

    def pause(self) -> None:
        """Begin nothing more: who asks may be somebody else soon."""
        self._requests_in_flight_max = 0

    def become(self, logged_in: LoggedIn) -> None:
        self._requests_in_flight_max = self.protocol.requests_in_flight_max
        if logged_in.fault is None:
            self.caller = logged_in.become(self.caller)
            self._must_log_in = False
            self._receiver.bytes_max = self.protocol.frame_bytes_max

    def _refuse(self, frame_bytes: int) -> None:
        if frame_bytes > PASSED_OVER_BYTES_MAX:
            self._begin_refused(frame_bytes)
            raise DecodeError(f"a frame of {frame_bytes} bytes is announced")
        super()._refuse(frame_bytes)

    def _begin_refused(self, frame_bytes: int) -> None:
        detail = f"{frame_bytes} bytes are announced, and {self._receiver.bytes_max} at most are taken."
        self._begin_call(0).answer(ErrorResponse(Problem.FRAME_TOO_LARGE, detail))

    def _begin_call(self, own_bytes: int) -> _Call:
        call = _Call(self, self._spoken, own_bytes)
        self._queue(call)
        return call

    def wait_ms(self, size_bytes: int) -> int:
        """How long this consumer has to wait for so many bytes."""
        rate = self.protocol.consumer_bytes_per_second
        if not rate:
            return 0
        now_ms = self.protocol.clock.monotonic_ms()
        if self._allowance is None:
            self._allowance = Allowance(rate, now_ms)
        return self._allowance.spend(size_bytes, now_ms)
