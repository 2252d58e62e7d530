"""The records of one partition that a share group is at work on, as plain state.

    start offset    everything before it is done with
    end offset      everything from it on has never been given out
    between them    runs of records without a gap, each in one state

    AVAILABLE ──acquire──> ACQUIRED ──accept, gap──> ACKNOWLEDGED
        ^                     │  └────reject───────> ARCHIVED
        └──release, time-out──┘  (after the last delivery that is allowed: ARCHIVED)

A record that is none for readers (compaction has taken it, a marker, one of an aborted transaction) is
ARCHIVED as soon as that is seen. Nothing here knows the time, logs or the outside; a change that may be
refused is made on a copy, which takes the place of the original when it has been written.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from enum import IntEnum
from operator import attrgetter
from typing import NamedTuple

from trivium.core.commands.share_groups_reading import Acknowledgement, Acquired
from trivium.core.faults import Fault, Refused


class State(IntEnum):
    """The values are those of stored records."""

    AVAILABLE = 0
    ACQUIRED = 1
    ACKNOWLEDGED = 2
    ARCHIVED = 4


class Run(NamedTuple):
    """Records that follow each other and share their fate, the last one included."""

    first: int
    last: int
    state: State
    deliveries: int = 0
    """How often they were given out."""
    member_id: str | None = None
    deadline_ms: int = 0
    """When the lock of the member that has acquired them is over."""

    @property
    def length(self) -> int:
        return self.last - self.first + 1

    @property
    def is_done(self) -> bool:
        return self.state in (State.ACKNOWLEDGED, State.ARCHIVED)


_first_of = attrgetter("first")

Span = tuple[int, int]
"""First and last offset."""


class Claim(NamedTuple):
    """What a member may have now."""

    member_id: str
    deadline_ms: int
    records_max: int
    is_strict: bool
    delivery_count_max: int
    locks_max: int
    """As long as so many records are not done with, no new ones are given out."""


class Flight:
    def __init__(self, start_offset: int, runs: Sequence[Run] = ()) -> None:
        self.start_offset = start_offset
        self._runs = list(runs)

    def copy(self) -> "Flight":
        return Flight(self.start_offset, self._runs)

    # -- looking ---------------------------------------------------------------------------------

    @property
    def runs(self) -> Sequence[Run]:
        return self._runs

    @property
    def end_offset(self) -> int:
        return self._runs[-1].last + 1 if self._runs else self.start_offset

    @property
    def next_offset(self) -> int:
        """The first record that may be given out: one that came back, or the first that never was."""
        for run in self._runs:
            if run.state is State.AVAILABLE:
                return run.first
        return self.end_offset

    @property
    def unfinished_count(self) -> int:
        return sum(run.length for run in self._runs if not run.is_done)

    @property
    def finished_count(self) -> int:
        """Records that are done with while one before them is not."""
        return sum(run.length for run in self._runs if run.is_done)

    @property
    def next_deadline_ms(self) -> int | None:
        locks = (run.deadline_ms for run in self._runs if run.state is State.ACQUIRED)
        return min(locks, default=None)

    def within(self, span: Span) -> Iterator[Run]:
        """The runs of a span, cut to it."""
        first, last = max(span[0], self.start_offset), span[1]
        begin = max(0, bisect_right(self._runs, first, key=_first_of) - 1)
        end = bisect_right(self._runs, last, key=_first_of)
        for run in self._runs[begin:end]:
            if run.last >= first:
                yield run._replace(first=max(run.first, first), last=min(run.last, last))

    def is_open(self, span: Span) -> bool:
        """Whether anything of a span may be given out."""
        return span[1] >= self.end_offset or any(run.state is State.AVAILABLE for run in self.within(span))

    # -- giving out ------------------------------------------------------------------------------

    def acquire(self, spans: Sequence[Span], claim: Claim) -> list[Acquired]:
        """Lock what is available of these spans for a member, also what was never given out. A span is a
        batch, and is not torn apart unless the claim is strict.

        Records that have failed often go out in ever smaller portions, at last one by one, and alone: what
        cannot be processed must not make its neighbours fail, too.
        """
        acquired: list[Acquired] = []
        room = claim.records_max
        for first, last in spans:
            reach = self._reachable(first, last, room, claim)
            self._reach(reach)
            for run in [each for each in self.within((first, reach)) if each.state is State.AVAILABLE]:
                portion = _portion(run, claim.delivery_count_max)
                if portion is not None and acquired:
                    return acquired
                size = run.length if portion is None else portion
                size = min(size, room) if claim.is_strict else size
                if size > 0:
                    acquired.append(self._lock(run, size, claim))
                    room -= size
                if portion is not None:
                    return acquired
            if room <= 0 or reach < last:
                break
        return acquired

    def _reachable(self, first: int, last: int, room: int, claim: Claim) -> int:
        """Up to where records of a batch may be given out. What came back is never held back."""
        end = self.end_offset
        if last < end:
            return last
        if self.unfinished_count >= claim.locks_max:
            return end - 1
        if not claim.is_strict:
            return last
        returned = sum(run.length for run in self.within((first, last)) if run.state is State.AVAILABLE)
        return min(last, max(end, first) + max(0, room - returned) - 1)

    def _lock(self, run: Run, size: int, claim: Claim) -> Acquired:
        last, count = run.first + size - 1, run.deliveries + 1
        locked = Run(run.first, last, State.ACQUIRED, count, claim.member_id, claim.deadline_ms)
        self._change((run.first, last), lambda _run: locked)
        return Acquired(run.first, last, count)

    def archive(self, span: Span) -> None:
        """There is nothing in this span for readers. What a member has acquired stays with it."""
        self._reach(span[1])
        self._change(span, lambda run: run if run.state is not State.AVAILABLE else _ended(run))
        self.settle()

    # -- taking back -----------------------------------------------------------------------------

    def acknowledge(
        self,
        span: Span,
        kind: Acknowledgement,
        member_id: str,
        *,
        delivery_count_max: int,
        deadline_ms: int,
    ) -> None:
        """``Refused`` if the member has not acquired all of it; what lies before the start is done with."""
        first, last = max(span[0], self.start_offset), span[1]
        if last < first:
            return
        if not self._runs:
            raise Refused(Fault.INVALID_RECORD_STATE, "Nothing is acquired.")
        if last >= self.end_offset:
            raise Refused(Fault.INVALID_REQUEST, f"Nobody has acquired offset {max(first, self.end_offset)}.")
        for run in self.within((first, last)):
            if run.state is not State.ACQUIRED:
                raise Refused(Fault.INVALID_RECORD_STATE, f"Offset {run.first} is not acquired.")
            if run.member_id != member_id:
                raise Refused(
                    Fault.INVALID_RECORD_STATE, f"Offset {run.first} is acquired by another member."
                )
        if kind is Acknowledgement.RENEW:
            self._change((first, last), lambda run: run._replace(deadline_ms=deadline_ms))
        elif kind is Acknowledgement.RELEASE:
            self._change((first, last), lambda run: _returned(run, delivery_count_max))
        elif kind is Acknowledgement.REJECT:
            self._change((first, last), _ended)
        else:
            self._change(
                (first, last), lambda run: Run(run.first, run.last, State.ACKNOWLEDGED, run.deliveries)
            )

    def release(self, is_over: Callable[[Run], bool], delivery_count_max: int) -> list[Span]:
        """Take acquired runs back; where they lie."""
        over = [(run.first, run.last) for run in self._runs if run.state is State.ACQUIRED and is_over(run)]
        for span in over:
            self._change(span, lambda run: _returned(run, delivery_count_max))
        return over

    def settle(self) -> None:
        """Move the start past everything that is done with."""
        done = 0
        while done < len(self._runs) and self._runs[done].is_done:
            self.start_offset = self._runs[done].last + 1
            done += 1
        del self._runs[:done]

    def advance(self, offset: int) -> None:
        """Nothing before this offset is there any more."""
        if offset > self.start_offset:
            self._runs = [
                run if run.first >= offset else run._replace(first=offset)
                for run in self._runs
                if run.last >= offset
            ]
            self.start_offset = offset
            self.settle()

    def retreat(self, offset_end: int) -> None:
        """Nothing from this offset on is there any more: a crash has taken it, and others take its place."""
        self._runs = [
            run if run.last < offset_end else run._replace(last=offset_end - 1)
            for run in self._runs
            if run.first < offset_end
        ]
        self.start_offset = min(self.start_offset, offset_end)

    # -- remembering -----------------------------------------------------------------------------

    def put(self, run: Run) -> None:
        """A run as it was stored, instead of what is known of its records."""
        if run.last >= self.start_offset:
            self._reach(run.last)
            self._change(
                (max(run.first, self.start_offset), run.last),
                lambda each: run._replace(first=each.first, last=each.last),
            )

    def stored(self, span: Span | None = None) -> list[Run]:
        """What is worth remembering of a span, or of everything. Locks do not survive: what somebody has
        acquired is available, as often given out as before.
        """
        runs = self._runs if span is None else self.within(span)
        plain = [
            run
            if run.state is not State.ACQUIRED
            else Run(run.first, run.last, State.AVAILABLE, run.deliveries - 1)
            for run in runs
        ]
        return [run for run in _joined(plain) if run.deliveries or run.state is not State.AVAILABLE]

    # -- runs ------------------------------------------------------------------------------------

    def _reach(self, offset_last: int) -> None:
        """Know of all records up to this one: the new ones are available."""
        end = self.end_offset
        if offset_last >= end:
            self._runs = _joined([*self._runs, Run(end, offset_last, State.AVAILABLE)])

    def _change(self, span: Span, change: Callable[[Run], Run]) -> None:
        first, last = max(span[0], self.start_offset), span[1]
        if last < first:
            return
        begin, end = self._cut(first), self._cut(last + 1)
        self._runs[begin:end] = [change(run) for run in self._runs[begin:end]]
        # The neighbours on both sides may be alike now.
        begin, end = max(begin - 1, 0), end + 1
        self._runs[begin:end] = _joined(self._runs[begin:end])

    def _cut(self, offset: int) -> int:
        """The place of the run that begins with this offset, cut off from the one before if need be."""
        at = bisect_right(self._runs, offset, key=_first_of)
        if at and self._runs[at - 1].first == offset:
            return at - 1
        if at and self._runs[at - 1].last >= offset:
            run = self._runs[at - 1]
            self._runs[at - 1 : at] = [run._replace(last=offset - 1), run._replace(first=offset)]
        return at


def _portion(run: Run, delivery_count_max: int) -> int | None:
    """How many of these records may go out together; None: all of them."""
    suspect_from = (delivery_count_max + 1) // 2
    if run.deliveries < suspect_from:
        return None
    if run.deliveries + 1 >= delivery_count_max:
        return 1
    return max(1, run.length >> (run.deliveries - suspect_from + 1))


def _ended(run: Run) -> Run:
    return Run(run.first, run.last, State.ARCHIVED, run.deliveries)


def _returned(run: Run, delivery_count_max: int) -> Run:
    state = State.ARCHIVED if run.deliveries >= delivery_count_max else State.AVAILABLE
    return Run(run.first, run.last, state, run.deliveries)


def _joined(runs: Sequence[Run]) -> list[Run]:
    """Neighbours that share everything become one."""
    joined: list[Run] = []
    for run in runs:
        if joined and joined[-1].last + 1 == run.first and joined[-1][2:] == run[2:]:
            joined[-1] = joined[-1]._replace(last=run.last)
        else:
            joined.append(run)
    return joined
