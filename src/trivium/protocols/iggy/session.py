"""One Iggy connection as a state machine over bytes; its verbs are those of every ``Conversation``.

    request   length u32 (of what follows) | code u32 | body
    answer    status u32 | length u32 | payload, which an error never has

Rules:
- One request after the other: the next one is begun when the one before is answered. A login changes what the
  rest of the connection may do, and clients wait for each answer anyway.
- Whatever is wrong with a request, it is answered with an error and the next one is read, as Iggy 0.8 does.
  Only a client that is stale or whose user is gone is sent away, after its answer.
- Nothing but PING and logins is done for somebody who has not logged in, and nothing larger than
  ``FRAME_BYTES_MAX_BEFORE_LOGIN`` is received (promises S3, S7).
- A first length of 0 is a client of Iggy 0.9 (``newcomer``), which is told so when its header is there.
- Who polls one stretch after the other has the next one read while it works on the last (``foresight``), if
  nobody counts what it uses.
- A large send is bridged while it comes in (``arriving``).
- A node that stops says so unasked, behind its last answer.
"""

import struct
from collections.abc import Callable
from typing import Any, Final

from trivium.core.caller import Caller
from trivium.core.commands.clients import GreetClient
from trivium.core.commands.command import Command
from trivium.core.quotas.limits import Budget
from trivium.protocols.conversation import Conversation
from trivium.protocols.iggy.arriving import Arriving
from trivium.protocols.iggy.body import Body
from trivium.protocols.iggy.client import Client, Endpoint
from trivium.protocols.iggy.code import Code
from trivium.protocols.iggy.commands import OPEN_TO_ALL
from trivium.protocols.iggy.commands.polling import read_ahead
from trivium.protocols.iggy.exchange import EMPTY, Answer, Call, Exchange
from trivium.protocols.iggy.newcomer import HEADER_BYTES, Newcomer, eviction
from trivium.protocols.iggy.protocol import IggyProtocol
from trivium.protocols.iggy.status import STATUS_OF_FLAW, Rejected, Status
from trivium.records.iggy import BadMessages
from trivium.wire.buffer import Buffer
from trivium.wire.errors import DecodeError
from trivium.wire.framing import IGGY_LENGTH
from trivium.wire.limits import FRAME_BYTES_MAX_BEFORE_LOGIN
from trivium.wire.receiving import Receiver

_CODE: Final = struct.Struct("<I")
_ANSWER_HEAD: Final = struct.Struct("<II")

CONTROL_BYTES_MAX: Final = 10 << 20
"""The body of anything but SEND_MESSAGES, as Iggy 0.8 has it."""

PASSED_OVER_BYTES_MAX: Final = 256 << 20
"""What is announced to be larger is no request of Iggy's: the words of other protocols are such lengths. (The
least of them is HTTP's GET, of 515 MiB.)"""

REQUESTS_IN_FLIGHT_MAX: Final = 1
"""One after the other, see above."""

_NAMES: Final = {code.value: code.name for code in Code}

_ENDS_THE_SESSION: Final = {
    Status.STALE_CLIENT: "the client has missed its heartbeats",
    Status.CLIENT_NOT_FOUND: "the client's user has been deleted",
}


class _Turn:
    """The request that is being carried out, and the place of its answer."""

    __slots__ = ("begun", "code", "exchange", "frame_bytes", "parts", "request_bytes", "size_bytes")

    def __init__(self, begun: float, request_bytes: int) -> None:
        self.begun = begun
        self.code = 0
        self.frame_bytes = 0
        self.exchange: Exchange | None = None
        self.request_bytes = request_bytes
        self.parts: list[Buffer] | None = None
        self.size_bytes = 0

    @property
    def name(self) -> str:
        return _NAMES.get(self.code, "UNKNOWN")


class _Reply:
    """The reply to one question. One that comes while it is being asked waits to be taken up: steps that
    began each other would pile up on the stack.
    """

    __slots__ = ("_session", "has_come", "is_late", "result")

    def __init__(self, session: "IggySession") -> None:
        self._session = session
        self.has_come = False
        self.is_late = False
        self.result: Any = None

    def __call__(self, result: Any) -> None:
        if self.is_late:
            self._session.resume(result)
        else:
            self.result = result
            self.has_come = True


class IggySession(Conversation[_Turn]):
    def __init__(
        self, protocol: IggyProtocol, host: str, port: int, here: Endpoint, wake: Callable[[], None]
    ) -> None:
        """``host`` and ``port`` are the peer's, ``here`` is where it has reached this node."""
        receiver = Receiver(IGGY_LENGTH, FRAME_BYTES_MAX_BEFORE_LOGIN, self._refuse, self._look_ahead)
        super().__init__(receiver, REQUESTS_IN_FLIGHT_MAX, wake)
        self.protocol = protocol
        self.client = Client(
            protocol, Caller(host=host, protocol="iggy", presence=self.presence), here, Arriving(receiver)
        )
        self._is_stale = False
        self._has_finished = False
        """Nothing more is read, and the node may have something to say about that."""
        self._why_ending: str | None = None
        self._newcomer: bytearray | None = None
        """All that a client of Iggy 0.9 has said."""
        protocol.heard(self)
        protocol.engine.execute(GreetClient(f"{host}:{port}"), self.client.caller, lambda _client_id: None)

    @property
    def caller(self) -> Caller:  # type: ignore[override]  # it changes by a login, which the client knows
        return self.client.caller

    @property
    def has_room(self) -> bool:
        return self._why_ending is None and super().has_room

    def space(self, scratch: memoryview) -> memoryview:
        return super().space(scratch) if self._newcomer is None else scratch

    def received(self, count: int, scratch: memoryview) -> None:
        """``DecodeError``: close the connection, after its answers."""
        if self._newcomer is not None:
            self._hear_newcomer(scratch[:count])
            return
        begun_bytes = 0 if self.requests else self._receiver.held_bytes
        try:
            super().received(count, scratch)
        except Newcomer:
            self._newcomer = bytearray()
            self._hear_newcomer(scratch[: begun_bytes + count])
        self._end_if_over()

    def _hear_newcomer(self, data: memoryview) -> None:
        assert self._newcomer is not None
        self._newcomer += data
        if len(self._newcomer) >= HEADER_BYTES:
            self._say(eviction(self._newcomer))
            raise Newcomer

    def proceed(self) -> None:
        super().proceed()
        self._say_goodbye()
        self._end_if_over()

    def _end_if_over(self) -> None:
        if self._why_ending is not None and not self._turns:
            raise DecodeError(self._why_ending)

    # -- one request -----------------------------------------------------------------------------

    def _begin(self, frame: memoryview, own_bytes: int) -> None:
        if not frame and self.requests == 1:
            raise Newcomer
        turn = _Turn(self.protocol.meter.begin(), own_bytes)
        self._queue(turn)
        if len(frame) < _CODE.size:
            self._answer_error(Status.INVALID_COMMAND)
            return
        turn.code = code = _CODE.unpack_from(frame)[0]
        turn.frame_bytes = len(frame)
        handler = self.protocol.handlers.get(code)
        if handler is None or (len(frame) > CONTROL_BYTES_MAX and code != Code.SEND_MESSAGES):
            self._answer_error(Status.INVALID_COMMAND)
            return
        if code == Code.PING and not self._is_stale:
            self.protocol.heard(self)
        if code not in OPEN_TO_ALL:
            if self._is_stale:
                self._answer_error(Status.STALE_CLIENT)
                return
            if self.client.caller.user_id is None:
                self._answer_error(Status.UNAUTHENTICATED)
                return
        turn.exchange = handler(Body(frame, _CODE.size), Call(self.client))
        self._go_on(None)

    def _look_ahead(self, begun: memoryview, frame_bytes: int) -> None:
        """A request comes in pieces: a send is begun with what is there, if nothing else is to be done, and
        nobody counts what it uses.
        """
        is_send = len(begun) > _CODE.size and _CODE.unpack_from(begun)[0] == Code.SEND_MESSAGES
        is_allowed = self.client.caller.user_id is not None and not self._is_stale
        if is_send and is_allowed and self.is_idle and not self.is_budgeted:
            self.client.arriving.look(Body(begun, _CODE.size), frame_bytes, self.protocol.now_us())

    @property
    def held_bytes(self) -> int:
        return super().held_bytes + self.client.arriving.held_bytes

    def _refuse(self, frame_bytes: int) -> None:
        """A request is larger than this client may send: an error in its turn, and its bytes are passed over,
        unless they are garbage.
        """
        super()._refuse(frame_bytes)
        if frame_bytes > PASSED_OVER_BYTES_MAX:
            raise DecodeError(f"a request of {frame_bytes} bytes is announced")

    def _begin_refused(self, _frame_bytes: int) -> None:
        self._queue(_Turn(self.protocol.meter.begin(), 0))
        self._answer_error(Status.INVALID_COMMAND)

    def _go_on(self, result: Any) -> None:
        self.attempt(self._turns[0], self._converse, result)

    def _converse(self, result: Any) -> None:
        """Give the command what it has asked for, until that takes time or the command has answered."""
        exchange, engine = self._turns[0].exchange, self.protocol.engine
        assert exchange is not None
        while True:
            try:
                command: Command[Any] = exchange.send(result)
            except StopIteration as end:
                self._answer(end.value)
                return
            except Rejected as rejected:
                self._answer_error(rejected.status)
                return
            except BadMessages as bad:
                self._answer_error(STATUS_OF_FLAW[bad.flaw])
                return
            except DecodeError:
                self._answer_error(Status.INVALID_COMMAND)
                return
            reply = _Reply(self)
            engine.execute(command, self.client.caller, reply)
            if not reply.has_come:
                reply.is_late = True
                return
            result = reply.result

    def resume(self, result: Any) -> None:
        """A reply has come later than its question."""
        if not self.is_closed:
            self._go_on(result)
            self._say_goodbye()

    # -- the next one, maybe ---------------------------------------------------------------------

    def prepare(self) -> None:
        """Read and bridge what will be polled next. Whatever comes of it, nobody is told."""
        self.has_foresight = False
        if self.is_idle and not self.is_budgeted and not self.is_closed:
            read_ahead(self.client)

    # -- its answer ------------------------------------------------------------------------------

    def _answer(self, payload: Answer) -> None:
        # Rights and the ceiling of a frame change by a login, and a logout.
        self._receiver.bytes_max = (
            FRAME_BYTES_MAX_BEFORE_LOGIN
            if self.client.caller.user_id is None
            else self.protocol.frame_bytes_max
        )
        if isinstance(payload, bytes):
            self._give([_ANSWER_HEAD.pack(Status.OK, len(payload)) + payload], None)
        else:
            size_bytes = sum(map(len, payload))
            self._give([_ANSWER_HEAD.pack(Status.OK, size_bytes), *payload], None)

    def _answer_error(self, status: int) -> None:
        self._why_ending = _ENDS_THE_SESSION.get(Status(status))
        self._give([_ANSWER_HEAD.pack(status, len(EMPTY))], Status(status).name)

    def _give(self, parts: list[Buffer], error: str | None) -> None:
        turn = self._turns[0]
        size_bytes = sum(map(len, parts))
        if turn.code == Code.SEND_MESSAGES:
            self.settle(Budget.PRODUCE, turn.frame_bytes)
        elif turn.code == Code.POLL_MESSAGES:
            self.settle(Budget.FETCH, size_bytes)
            self.has_foresight = self.client.foresight.wanted is not None
        self.protocol.meter.end(turn.name, turn.begun, error)
        turn.parts = parts
        turn.size_bytes = size_bytes
        self.answered()

    # -- the end ---------------------------------------------------------------------------------

    def stopped(self) -> None:
        """The client's heart has: it leaves its groups, and hears of it when it asks for anything."""
        self._is_stale = True
        self.client.caller.presence.leave()

    def peer_finished(self) -> None:
        super().peer_finished()
        self._has_finished = True
        self._say_goodbye()

    def _say_goodbye(self) -> None:
        """A node that stops says so behind its last answer, as Iggy does from 0.6 on: whatever a client asks
        next, this is what it reads, and it looks for another connection.
        """
        is_due = self._has_finished and self.is_idle and self.protocol.is_stopping
        if is_due and not self.client.dialect.counts_from_one:
            self._has_finished = False
            self._say(_ANSWER_HEAD.pack(Status.DISCONNECTED, len(EMPTY)))

    def close(self) -> None:
        self.protocol.forget(self)
        self.client.foresight.forget()
        self.client.arriving.forget()
        exchanges = [turn.exchange for turn in self._turns]
        super().close()
        for exchange in exchanges:
            if exchange is not None:
                exchange.close()
