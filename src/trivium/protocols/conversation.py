"""What every session does besides speaking its language: requests in, answers out, in order, within bounds.

    space, received     bytes in: where to put them, and that they have come
    data_to_send        bytes out, when there are some; ``wake`` is called when some come up in between
    farewell            what is said last
    proceed             answers have left: begin what had to wait
    prepare             nobody asks for anything: get ready what will be asked next, if it is known
    peer_finished       nothing more will come, answers are still taken
    close               nobody is there any more

A protocol joins by its frames (a ``Receiver``), by ``_begin``, which carries one request out, and by what it
puts into the parts of a ``Turn``.

Rules:
- Answers leave in the order of their requests, whatever order they get ready in.
- Requests are carried out as they come, without waiting for the answers before them: that is what makes a
  group commit of pipelined writes. With too many in flight, or too many bytes of answers that have not left,
  the next ones wait unread (``has_room``), so that no peer can ask for more than it takes.
- A frame that is too large to be taken has its turn like any other request, if the protocol has an answer
  to it (``_begin_refused``).
- What a peer that has gone was waiting for is not waited for any longer.
- Nobody waits for an answer that cannot be made: whatever is raised while one is made, by a protocol's own
  code or by the core's, now or later (``core.behalf``), is a mistake of ours, ends this connection
  (``failed``), and is no trouble of whoever has set the answer off.
- Who has used more than its budgets allow is answered, then not listened to for a while (``core.quotas``).
"""

from collections import deque
from collections.abc import Callable
from typing import Final, Generic, ParamSpec, Protocol, TypeVar

from trivium.core.caller import Caller, Presence
from trivium.core.quotas.budgets import Budgets, Standing
from trivium.core.quotas.limits import Budget
from trivium.core.timers import Timer
from trivium.protocols.session import AnswerFailed
from trivium.wire.buffer import Buffer
from trivium.wire.errors import DecodeError
from trivium.wire.receiving import Receiver

ANSWER_BYTES_MAX: Final = 1 << 20
"""Answers of one connection that have not left yet; with more, no further request is begun."""


class Turn(Protocol):
    """One request on its way, and the place of its answer in the queue."""

    parts: list[Buffer] | None
    """The answer; None until there is one. Empty for a request that wants none."""
    size_bytes: int
    """Of the answer."""
    request_bytes: int
    """Memory that the request has to itself, until it is answered."""

    @property
    def name(self) -> str:
        """What is asked for, to people who look for a mistake."""
        ...


T = TypeVar("T", bound=Turn)
P = ParamSpec("P")


def _due(timer: Timer) -> int:
    return timer.due_ms


def _nobody() -> None:
    """Who is to be woken when the connection has gone."""


class Conversation(Generic[T]):
    caller: Caller
    """With the ``presence`` that is made here."""
    has_ended = False
    """None of the protocols has a word for that."""
    has_foresight = False
    """Whether there is something to prepare."""

    def __init__(self, receiver: Receiver, requests_in_flight_max: int, wake: Callable[[], None]) -> None:
        self._receiver = receiver
        self._requests_in_flight_max = requests_in_flight_max
        self._wake = wake
        self._turns: deque[T] = deque()
        self._waiting: deque[bytearray | int] = deque()
        """Whole requests that are not begun yet; of one that is too large, its size."""
        self._kept_bytes = 0
        """Memory of requests that wait, or are being carried out and did not come whole in one read."""
        self._out: list[Buffer] = []
        self._is_receiving = False
        self.out_bytes = 0
        """Answers that are ready to leave."""
        self.requests = 0
        """Whole requests so far, those that were too large among them."""
        self.is_closed = False
        self.presence = Presence(self.failed)
        self._failure: AnswerFailed | None = None
        self.budgets: Budgets | None = None
        """What callers may use; None: as much as they like."""
        self._before: Standing | None = None
        """How things were before the request that is being carried out, while it is not settled for."""
        self._silence: Timer | None = None
        """The end of the time in which the peer is not listened to."""

    # -- what a connection asks ------------------------------------------------------------------

    @property
    def in_flight(self) -> int:
        """Requests whose answers have not been handed out yet."""
        return len(self._turns)

    @property
    def has_room(self) -> bool:
        """Whether the next request would be begun at once."""
        return (
            not self._waiting
            and self._silence is None
            and self._failure is None
            and len(self._turns) < self._requests_in_flight_max
            and self.out_bytes < ANSWER_BYTES_MAX
        )

    @property
    def is_idle(self) -> bool:
        """Whether everything that was asked has been answered."""
        return not self._turns and not self._waiting

    @property
    def held_bytes(self) -> int:
        """Memory of requests: come in part, waiting, or being carried out."""
        return self._receiver.held_bytes + self._kept_bytes

    @property
    def is_between_requests(self) -> bool:
        return self._receiver.is_between_frames

    # -- bytes in --------------------------------------------------------------------------------

    def space(self, scratch: memoryview) -> memoryview:
        return self._receiver.space(scratch)

    def received(self, count: int, scratch: memoryview) -> None:
        """Carry out every request that has come whole."""
        own_bytes = self._receiver.own_bytes
        self._is_receiving = True
        try:
            for frame in self._receiver.received(count, scratch):
                self.requests += 1
                if self.has_room:
                    self._carry_out(frame, own_bytes)
                else:
                    self._waiting.append(bytearray(frame))
                    self._kept_bytes += len(frame)
        finally:
            self._is_receiving = False
        if self._failure is not None:
            self._end_failed()

    def proceed(self) -> None:
        """Begin requests that had to wait, as many as there is room for."""
        waiting, self._waiting = self._waiting, deque()
        self._is_receiving = True
        try:
            while waiting and self.has_room:
                frame = waiting.popleft()
                if isinstance(frame, int):
                    self._begin_refused(frame)
                else:
                    self._kept_bytes -= len(frame)
                    self._carry_out(memoryview(frame), len(frame))
        finally:
            self._is_receiving = False
            self._waiting = waiting
        if self._failure is not None:
            self._end_failed()

    def prepare(self) -> None:
        """Only where there is foresight."""

    def _refuse(self, frame_bytes: int) -> None:
        """For the receiver: a frame is larger than it may be."""
        self.requests += 1
        if self.has_room:
            self._begin_refused(frame_bytes)
        else:
            self._waiting.append(frame_bytes)

    def _carry_out(self, frame: memoryview, own_bytes: int) -> None:
        budgets = self.budgets
        if budgets is None or not budgets.are_set:
            self._begin(frame, own_bytes)
            return
        self._before = budgets.standing()
        self._begin(frame, own_bytes)
        self._settle()

    def _begin(self, frame: memoryview, own_bytes: int) -> None:
        """Begin one request; ``own_bytes`` of memory are its own until it is answered."""
        raise NotImplementedError

    def _begin_refused(self, frame_bytes: int) -> None:
        """Answer a request that was too large to be taken; only where ``_refuse`` is asked."""
        raise NotImplementedError

    # -- budgets ---------------------------------------------------------------------------------

    @property
    def is_budgeted(self) -> bool:
        """Whether anybody is; most nodes have no quotas, and then nothing has to be weighed."""
        return self.budgets is not None and self.budgets.are_set

    def settle(self, budget: Budget | None = None, amount: int = 0) -> int:
        """Charge the caller for what it has been given, and for the request itself if that is still to do;
        how many milliseconds it is not listened to because of that.
        """
        budgets = self.budgets
        if budgets is None or not budgets.are_set:
            return 0
        self._settle()
        if budget is not None:
            self._fall_silent(budgets.charge(self.caller, budget, amount))
        return 0 if self._silence is None else budgets.remaining_ms(self._silence)

    def withholds(self, amount: int) -> int:
        """How many milliseconds pass before so much may be read, because too much was or because the request
        has taken too long; 0 if it may be now, and then it is charged.
        """
        budgets = self.budgets
        if budgets is None or not budgets.are_set:
            return 0
        wait_ms = self._settle() or budgets.take(self.caller, Budget.FETCH, amount)
        self._fall_silent(wait_ms)
        return wait_ms

    def _settle(self) -> int:
        before, self._before = self._before, None
        if before is None or self.budgets is None:
            return 0
        wait_ms = self.budgets.settle(self.caller, before)
        self._fall_silent(wait_ms)
        return wait_ms

    def _fall_silent(self, wait_ms: int) -> None:
        if not wait_ms or self.budgets is None or self.is_closed:
            return
        timer = self.budgets.after(wait_ms, self._listen_again)
        if self._silence is not None:
            later, earlier = max(timer, self._silence, key=_due), min(timer, self._silence, key=_due)
            earlier.cancel()
            timer = later
        self._silence = timer

    def _listen_again(self) -> None:
        self._silence = None
        self._wake()

    # -- bytes out -------------------------------------------------------------------------------

    def _queue(self, turn: T) -> None:
        self._kept_bytes += turn.request_bytes
        self._turns.append(turn)

    def answered(self) -> None:
        """An answer is ready; those at the head of the queue may leave."""
        turns = self._turns
        if turns[0].parts is None:
            return
        while turns and (parts := turns[0].parts) is not None:
            self._out += parts
            turn = turns.popleft()
            self.out_bytes += turn.size_bytes
            self._kept_bytes -= turn.request_bytes
        if not self._is_receiving:
            self._wake()

    def _say(self, unasked: bytes) -> None:
        """What is no answer, behind all answers that are ready."""
        self._out.append(unasked)
        self.out_bytes += len(unasked)
        if not self._is_receiving:
            self._wake()

    def data_to_send(self) -> list[Buffer]:
        out, self._out = self._out, []
        self.out_bytes = 0
        return out

    def farewell(self) -> bytes:
        return b""

    # -- the end ---------------------------------------------------------------------------------

    def attempt(self, turn: T, step: Callable[P, None], *arguments: P.args, **named: P.kwargs) -> None:
        """A step towards the answer of a turn; what it raises is a mistake of ours."""
        try:
            step(*arguments, **named)
        except DecodeError:
            raise
        except Exception as error:  # noqa: BLE001  whatever it is, nobody shall wait for this answer
            self.failed(turn.name, error)

    def failed(self, request: str, error: Exception) -> bool:
        """An answer cannot be made: begin nothing more, and end when the connection next looks. False if it
        ends, or has ended, without that: then this is told to nobody.
        """
        if self.is_closed or self._failure is not None:
            return False
        self._failure = AnswerFailed(request)
        self._failure.__cause__ = error
        self._requests_in_flight_max = 0
        if not self._is_receiving:
            self._wake()
        return True

    def _end_failed(self) -> None:
        failure, self._failure = self._failure, None
        assert failure is not None
        raise failure

    def peer_finished(self) -> None:
        """The peer sends nothing more: what waits for something to happen is answered as things are."""
        self.caller.presence.leave()

    def close(self) -> None:
        """The peer has gone: let go of everything that was kept for it."""
        self.is_closed = True
        self._turns.clear()
        self._waiting.clear()
        self._out.clear()
        self._kept_bytes = self.out_bytes = 0
        if self._silence is not None:
            self._silence.cancel()
            self._silence = None
        # The connection holds the session: held in return, both would stay until cycles are looked for.
        self._wake = _nobody
        self.presence.forget()
        self.caller.presence.leave()
