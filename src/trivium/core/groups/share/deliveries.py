"""Giving records to members and taking them back: every change of a share partition that readers make.

Locks are in memory only. What members say, and what a time-out takes back, is stored before it counts; a
restart gives out again what was locked (promise R10: locks run by the monotonic clock).
"""

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Final

from trivium.core.cluster import Cluster
from trivium.core.commands.share_groups_reading import Acknowledged, Acknowledgement, Acquired
from trivium.core.faults import Fault, Refused
from trivium.core.groups.share.flight import Claim, Flight, Run, Span
from trivium.core.groups.share.readable import Readable, readable
from trivium.core.groups.share.rules import ShareRules
from trivium.core.groups.share.share_partition import ShareKey, SharePartition
from trivium.core.groups.share.states import ShareStates
from trivium.core.partition import LivePartition
from trivium.core.ports import Done
from trivium.core.timers import Timers

ROUNDS_MAX: Final = 16
"""So many pieces of a log in which nothing is for readers are passed over at a time."""
RETRY_MS: Final = 1000
"""After so long records are taken back again whose return could not be stored."""

Mark = tuple[Span, Acknowledgement]


class Deliveries:
    def __init__(self, states: ShareStates, rules: ShareRules, cluster: Cluster, timers: Timers) -> None:
        self._states = states
        self.rules = rules
        self._cluster = cluster
        self._timers = timers

    def find(self, key: ShareKey) -> SharePartition:
        partition = self._states.find(key)
        if partition is None:
            raise Refused(
                Fault.GROUP_ID_NOT_FOUND, f"Share group {key.group_id} has no member that reads this topic."
            )
        return partition

    def find_read(self, key: ShareKey) -> SharePartition:
        """One of which records may have been acquired."""
        partition = self._states.find(key)
        if partition is None or partition.flight is None:
            raise Refused(Fault.UNKNOWN_TOPIC, "Nobody has acquired records of this partition.")
        return partition

    # -- giving out ------------------------------------------------------------------------------

    def flight(self, partition: SharePartition, live: LivePartition) -> Flight:
        """Where the group stands now, which the first reader decides."""
        log, group_id = live.log, partition.key.group_id
        if partition.flight is None:
            first = self.rules.first_offset(group_id, log, self._cluster.clock.wall_ms())
            # Stored at once: what comes in from now on is for the group, whatever happens to this node.
            self._states.store(partition, Flight(first), [], _nobody_waits)
        else:
            self._states.retreat(partition, log.log_end_offset, _nobody_waits)
        flight = partition.flight
        assert flight is not None
        flight.advance(log.log_start_offset)
        return flight

    def look(
        self, partition: SharePartition, live: LivePartition, room_bytes: int, near: Callable[[], None] | None
    ) -> Readable | None:
        """What could be given out, without doing so. With ``near``: None if that has to come from the disk
        first; it is called then, once.
        """
        flight, group_id, log = self.flight(partition, live), partition.key.group_id, live.log
        is_committed = self.rules.reads_committed(group_id)
        locks_max = self.rules.locks_max(group_id)
        for _ in range(ROUNDS_MAX):
            offset = flight.next_offset
            end = log.last_stable_offset if is_committed else log.high_watermark
            is_full = offset >= flight.end_offset and flight.unfinished_count >= locks_max
            if is_full or offset >= end:
                break
            if near is not None and log.summon(offset, room_bytes, near):
                return None
            piece = log.read(offset, room_bytes, committed=is_committed)
            found = _still_open(flight, readable(piece, offset))
            if found.batches or not piece.runs:
                return found
        return Readable()

    def take(
        self,
        partition: SharePartition,
        found: Readable,
        member_id: str,
        records_max: int,
        *,
        is_strict: bool,
    ) -> tuple[list[Acquired], list[memoryview]]:
        """Lock what was found for a member; and the batches that it needs for that."""
        flight, group_id = partition.flight, partition.key.group_id
        assert flight is not None
        claim = Claim(
            member_id,
            self._cluster.clock.monotonic_ms() + self.rules.lock_duration_ms(group_id),
            records_max,
            is_strict,
            self.rules.delivery_count_max(group_id),
            self.rules.locks_max(group_id),
        )
        acquired = flight.acquire([batch.span for batch in found.batches], claim)
        if not acquired:
            return [], []
        self._watch_locks(partition)
        first, last = acquired[0].offset_first, acquired[-1].offset_last
        return acquired, [
            batch.data for batch in found.batches if batch.span[1] >= first and batch.span[0] <= last
        ]

    # -- taking back -----------------------------------------------------------------------------

    def marks(self, group_id: str, ranges: Sequence[Acknowledged], *, may_renew: bool) -> list[Mark]:
        """What is said of which records; ``Refused`` if nobody could say that of any."""
        may_renew = may_renew and self.rules.may_renew(group_id)
        _check_order(ranges)
        return [mark for each in ranges for mark in _marks(each, may_renew=may_renew)]

    def acknowledge(
        self, partition: SharePartition, member_id: str, marks: Sequence[Mark], done: Done
    ) -> None:
        """All of it or nothing; ``Refused`` if it does not fit to what the member has acquired."""
        group_id = partition.key.group_id
        flight = partition.flight
        assert flight is not None, "it was found by ``find_read``"
        draft = flight.copy()
        deadline_ms = self._cluster.clock.monotonic_ms() + self.rules.lock_duration_ms(group_id)
        for span, kind in marks:
            draft.acknowledge(
                span,
                kind,
                member_id,
                delivery_count_max=self.rules.delivery_count_max(group_id),
                deadline_ms=deadline_ms,
            )
        self._store(
            partition, draft, [span for span, kind in marks if kind is not Acknowledgement.RENEW], done
        )

    def release(self, partition: SharePartition, member_id: str, done: Done) -> None:
        """The member reads no more: what it has acquired is for others."""
        self._take_back(partition, lambda run: run.member_id == member_id, done)

    def _take_back(self, partition: SharePartition, is_over: Callable[[Run], bool], done: Done) -> None:
        if partition.flight is None:
            done(None)
            return
        draft = partition.flight.copy()
        spans = draft.release(is_over, self.rules.delivery_count_max(partition.key.group_id))
        self._store(partition, draft, spans, done)

    def _store(self, partition: SharePartition, draft: Flight, spans: Sequence[Span], done: Done) -> None:
        draft.settle()
        if spans:
            self._states.store(partition, draft, spans, done)
        else:
            partition.flight = draft
            done(None)
        self._watch_locks(partition)
        partition.wake()

    # -- time-outs -------------------------------------------------------------------------------

    def _watch_locks(self, partition: SharePartition) -> None:
        """Be there when the next lock is over."""
        due_ms = None if partition.flight is None else partition.flight.next_deadline_ms
        timer = partition.lock_timer
        if timer is not None and timer.is_pending:
            if timer.due_ms == due_ms:
                return
            timer.cancel()
        partition.lock_timer = None
        if due_ms is not None and not partition.is_dead:
            delay_ms = due_ms - self._cluster.clock.monotonic_ms()
            partition.lock_timer = self._timers.after(delay_ms, lambda: self._expire(partition))

    def _expire(self, partition: SharePartition) -> None:
        now_ms = self._cluster.clock.monotonic_ms()
        try:
            self._take_back(partition, lambda run: run.deadline_ms <= now_ms, _nobody_waits)
        except Refused:
            partition.lock_timer = self._timers.after(RETRY_MS, lambda: self._expire(partition))


def _still_open(flight: Flight, found: Readable) -> Readable:
    """The batches of which something may be given out. Holes on the way to them, and among what is on its way
    already, are done with; those further on are met when their turn comes.
    """
    first = min((batch.span[0] for batch in found.batches if flight.is_open(batch.span)), default=None)
    for hole in found.holes:
        if first is None or hole[0] < first or hole[1] < flight.end_offset:
            flight.archive(hole)
    return Readable([batch for batch in found.batches if flight.is_open(batch.span)])


def _check_order(ranges: Sequence[Acknowledged]) -> None:
    for (_, last, _), (first, _, _) in pairwise(ranges):
        if first < last:
            raise Refused(
                Fault.INVALID_REQUEST,
                f"Acknowledgements go from offset to offset: {first} cannot come after {last}.",
            )


def _marks(acknowledged: Acknowledged, *, may_renew: bool) -> list[Mark]:
    """What is said of which records, checked as far as that is possible without knowing them."""
    first, last, kinds = acknowledged
    if first > last or not kinds or len(kinds) not in (1, last - first + 1):
        raise Refused(
            Fault.INVALID_REQUEST,
            f"{len(kinds)} acknowledgements cannot be for the offsets from {first} to {last}.",
        )
    known = {kind.value: kind for kind in Acknowledgement if may_renew or kind is not Acknowledgement.RENEW}
    for kind in kinds:
        if kind not in known:
            raise Refused(Fault.INVALID_REQUEST, f"Acknowledgements of type {kind} are not taken here.")
    if len(kinds) == 1:
        return [((first, last), known[kinds[0]])]
    marks: list[Mark] = []
    for offset, kind in enumerate(kinds, first):
        if marks and marks[-1][1] == kind:
            marks[-1] = ((marks[-1][0][0], offset), known[kind])
        else:
            marks.append(((offset, offset), known[kind]))
    return marks


def _nobody_waits(_fault: Fault | None) -> None:
    """If it was never stored, the state is read anew as it was."""
