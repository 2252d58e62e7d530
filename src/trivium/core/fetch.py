"""Reading: what is there goes out at once, what is not there yet is waited for (a long poll).

A fetch that has less than it wants leaves itself with each of its partitions. When records arrive, only the
partitions that got some are read again, once for all that came in together (``soon``), however many
appends that were; a fetch of a thousand partitions costs no more than one of one while it waits. A timer
ends the wait in any case, and so does the caller by leaving.

Records that are not in memory are not read at once: the disk is asked for them and everybody else is served
meanwhile (promise R9).
"""

from collections.abc import Callable
from functools import partial
from typing import Final

from trivium.core.access import Access
from trivium.core.behalf import act_for, now, on_behalf, tell_all
from trivium.core.caller import Caller
from trivium.core.cluster import CLOSED_TOPIC, Cluster
from trivium.core.commands.command import Reply, Routes
from trivium.core.commands.records import NO_REPLICA, Fetch, FetchedPart, FetchPart, Leader
from trivium.core.faults import Fault, Refused
from trivium.core.partition import LivePartition
from trivium.core.permission import permitted_partition
from trivium.core.ports import Aborted, Log
from trivium.core.timers import Timer, Timers

FETCH_BYTES_MAX: Final = 57_671_680
"""One answer: ``fetch.max.bytes`` of a broker, 55 MiB."""
TURN_BYTES_MAX: Final = 8 << 20
"""One answer, however much was asked for: reading must not keep everybody else waiting (promise R9). A reader
that wants more asks again and loses nothing, since a full answer makes no poll wait."""

_MISDIRECTED: Final = frozenset((Fault.NOT_LEADER, Fault.FENCED_LEADER_EPOCH))

Soon = Callable[[Callable[[], None]], object]
"""Calls back when everything that has come in together has been carried out."""


class Fetching:
    def __init__(
        self,
        cluster: Cluster,
        access: Access,
        timers: Timers,
        soon: Soon,
        fetch_bytes_max: int = FETCH_BYTES_MAX,
    ) -> None:
        self._cluster = cluster
        self._access = access
        self._timers = timers
        self._soon = soon
        self._bytes_max = min(fetch_bytes_max, TURN_BYTES_MAX)
        self._stirred: list[_LongPoll] = []
        self.routes: Routes = {Fetch: self.fetch}

    def fetch(self, command: Fetch, caller: Caller, reply: Reply[list[FetchedPart]]) -> None:
        reading = _Reading(command, min(command.max_bytes, self._bytes_max))
        for part in command.parts:
            self.read(reading, part, caller)
        if reading.far:
            reading.when_near = lambda: self._read_far(reading, caller, reply)
        else:
            self._conclude(reading, caller, reply)

    def _read_far(self, reading: "_Reading", caller: Caller, reply: Reply[list[FetchedPart]]) -> None:
        """What had to come from the disk is in memory now."""
        for number in reading.far:
            self.read(reading, reading.command.parts[number], caller, number)
        self._conclude(reading, caller, reply)

    def _conclude(self, reading: "_Reading", caller: Caller, reply: Reply[list[FetchedPart]]) -> None:
        command = reading.command
        if reading.is_complete or command.max_wait_ms <= 0 or not command.parts:
            reply(reading.results)
        else:
            _LongPoll(self, reading, caller, reply).wait(self._timers)

    def read(self, reading: "_Reading", part: FetchPart, caller: Caller, number: int | None = None) -> None:
        """Read one part, or read it again: then ``number`` is its place among the results."""
        command = reading.command
        row = command.ROW
        partition: LivePartition | None = None
        if number is not None:
            reading.put_back(number)
        try:
            partition = permitted_partition(
                self._cluster, self._access, caller, row, part.topic, part.partition
            )
            if partition.topic == CLOSED_TOPIC:
                raise Refused(Fault.NOT_AUTHORIZED_TOPIC)
            if command.replica_id > NO_REPLICA:
                # Nobody follows a broker that is alone; what it says makes a stray follower ask around.
                known = part.current_leader_epoch >= 0
                raise Refused(Fault.UNKNOWN_LEADER_EPOCH if known else Fault.NOT_LEADER)
            result, size_bytes = _read_part(partition, part, reading, may_be_far=number is None)
        except Refused as refused:
            result, size_bytes = self._refused(part, partition, refused.fault), 0
        reading.put(result, size_bytes, partition, number)

    def _refused(self, part: FetchPart, partition: LivePartition | None, fault: Fault) -> FetchedPart:
        leader = None
        if partition is not None and fault in _MISDIRECTED:
            leader = Leader(self._cluster.node_id, partition.leader_epoch)
        return FetchedPart(part.topic, part.partition, fault, leader=leader)

    def stir(self, poll: "_LongPoll") -> None:
        """A waiting fetch may have what it wants."""
        if not self._stirred:
            self._soon(self._answer_stirred)
        self._stirred.append(poll)

    def _answer_stirred(self) -> None:
        stirred, self._stirred = self._stirred, []
        tell_all(partial(act_for, poll.asked, poll.look) for poll in stirred)


class _Reading:
    """What one fetch has read so far."""

    __slots__ = (
        "_coming",
        "bytes_max",
        "command",
        "far",
        "is_urgent",
        "partitions",
        "results",
        "size_bytes",
        "sizes",
        "when_near",
    )

    def __init__(self, command: Fetch, bytes_max: int) -> None:
        self.command = command
        self.bytes_max = bytes_max
        self.results: list[FetchedPart] = []
        self.partitions: list[LivePartition | None] = []
        self.sizes: list[int] = []
        self.size_bytes = 0
        self.is_urgent = False
        """There is a fault, or something else that waiting does not make better."""
        self.far: list[int] = []
        """Parts whose records the disk has yet to give; they are read again when all are there."""
        self._coming = 0
        self.when_near: Callable[[], None]

    @property
    def is_complete(self) -> bool:
        return self.is_urgent or self.size_bytes >= self.command.min_bytes

    def summons(self, log: Log, offset: int, room_bytes: int) -> bool:
        """Whether the part that is read now has to wait for the disk."""
        is_far = log.summon(offset, room_bytes, self._came)
        if is_far:
            self.far.append(len(self.results))
            self._coming += 1
        return is_far

    def _came(self) -> None:
        self._coming -= 1
        if not self._coming:
            self.when_near()

    def put_back(self, number: int) -> None:
        self.size_bytes -= self.sizes[number]
        self.sizes[number] = 0

    def put(
        self, result: FetchedPart, size_bytes: int, partition: LivePartition | None, number: int | None
    ) -> None:
        if result.fault is not None or result.diverging is not None:
            self.is_urgent = True
        self.size_bytes += size_bytes
        if number is None:
            self.results.append(result)
            self.partitions.append(partition)
            self.sizes.append(size_bytes)
        else:
            self.results[number] = result
            self.sizes[number] = size_bytes


def _read_part(
    partition: LivePartition, part: FetchPart, reading: _Reading, *, may_be_far: bool
) -> tuple[FetchedPart, int]:
    log, offset, committed = partition.log, part.offset, reading.command.committed
    if 0 <= part.current_leader_epoch != partition.leader_epoch:
        partition.check_epoch(part.current_leader_epoch)
    diverging = None if part.last_fetched_epoch < 0 else _divergence(partition, part)
    high_watermark, stable_offset = log.high_watermark, log.last_stable_offset
    runs: tuple[memoryview, ...] = ()
    aborted: tuple[Aborted, ...] | None = () if committed and diverging is None else None
    size_bytes = 0
    # At the end there is nothing to read, and most partitions of most fetches are at their end.
    if diverging is None and offset != (stable_offset if committed else high_watermark):
        taken = reading.size_bytes
        room_bytes = min(part.max_bytes, reading.bytes_max - taken)
        if room_bytes > 0 or not taken or not log.log_start_offset <= offset <= high_watermark:
            room_bytes = max(room_bytes, 0)
            if not (may_be_far and reading.summons(log, offset, room_bytes)):
                piece = log.read(offset, room_bytes, committed=committed)
                # Only the first records of an answer may exceed what was asked for: one must get past them.
                if not taken or piece.size_bytes <= room_bytes:
                    runs, size_bytes = tuple(piece.runs), piece.size_bytes
                    aborted = tuple(piece.aborted) if committed else None
    return (
        FetchedPart(
            part.topic,
            part.partition,
            None,
            high_watermark,
            stable_offset,
            log.log_start_offset,
            runs,
            aborted,
            diverging,
            None,
            partition.rules.compression,
        ),
        size_bytes,
    )


def _divergence(partition: LivePartition, part: FetchPart) -> tuple[int, int] | None:
    """Where the history that a client has followed leaves ours (KIP-595)."""
    epoch, offset_end = partition.epoch_end(part.last_fetched_epoch)
    if epoch < 0 or part.offset < partition.log.log_start_offset:
        raise Refused(Fault.OFFSET_OUT_OF_RANGE)
    if epoch < part.last_fetched_epoch or offset_end < part.offset:
        return epoch, offset_end
    return None


class _LongPoll:
    """One fetch that waits. Ends once: by enough records, a fault, its time, or its caller's leaving."""

    __slots__ = (
        "_caller",
        "_fetching",
        "_is_stirred",
        "_new",
        "_new_bytes",
        "_reading",
        "_reply",
        "_timer",
        "asked",
    )

    def __init__(
        self, fetching: Fetching, reading: _Reading, caller: Caller, reply: Reply[list[FetchedPart]]
    ) -> None:
        self._fetching = fetching
        self._reading = reading
        self._caller = caller
        self._reply = reply
        self._new: dict[LivePartition, None] = {}
        """Partitions with something that has not been read yet."""
        self._new_bytes = 0
        self._is_stirred = False
        self._timer: Timer | None = None
        self.asked = now.asked

    def wait(self, timers: Timers) -> None:
        self._timer = timers.after(self._reading.command.max_wait_ms, on_behalf(self._finish))
        for partition in self._reading.partitions:
            if partition is not None:
                partition.waiting[self] = None
        self._caller.presence.watch(self._finish)

    def arrived(self, partition: LivePartition, size_bytes: int) -> None:
        self._new[partition] = None
        self._new_bytes += size_bytes
        reading = self._reading
        # Nothing arrived: the partition has gone, or something else about it has changed.
        if not self._is_stirred and (
            not size_bytes or reading.size_bytes + self._new_bytes >= reading.command.min_bytes
        ):
            self._is_stirred = True
            self._fetching.stir(self)

    def look(self) -> None:
        """Read what is new, and answer if that is enough."""
        self._is_stirred = False
        if self._timer is not None:
            self._read_new()
            if self._reading.is_complete:
                self._end()

    def _finish(self) -> None:
        self._read_new()
        self._end()

    def _read_new(self) -> None:
        reading, new = self._reading, self._new
        if new:
            self._new, self._new_bytes = {}, 0
            for number, partition in enumerate(reading.partitions):
                if partition in new:
                    self._fetching.read(reading, reading.command.parts[number], self._caller, number)

    def _end(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
            self._caller.presence.unwatch(self._finish)
            for partition in self._reading.partitions:
                if partition is not None:
                    partition.waiting.pop(self, None)
            self._reply(self._reading.results)
