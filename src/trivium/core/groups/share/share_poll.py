"""One share fetch on its way: it looks, and if there is too little it waits and looks again.

Looking changes nothing, so that a fetch that wants more than there is leaves everything to others. It ends
once: with records, with a fault, when its time is over, or with its caller's leaving.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

from trivium.core.behalf import act_for, now, on_behalf
from trivium.core.caller import Caller
from trivium.core.commands.share_groups_reading import SharedPart, ShareFetch, SharePart
from trivium.core.faults import Refused
from trivium.core.fetch import Soon
from trivium.core.groups.share.deliveries import Deliveries
from trivium.core.groups.share.readable import Readable
from trivium.core.groups.share.share_partition import SharePartition
from trivium.core.partition import LivePartition
from trivium.core.timers import Timer, Timers


class Place(NamedTuple):
    """A partition, and how far the group has come in it."""

    live: LivePartition
    partition: SharePartition


class _Find(NamedTuple):
    part: SharePart
    place: Place
    found: Readable


class SharePoll:
    def __init__(
        self,
        command: ShareFetch,
        parts: Sequence[SharePart],
        place_of: Callable[[SharePart], Place],
        deliveries: Deliveries,
        done: Callable[[Sequence[SharedPart]], None],
    ) -> None:
        self._command = command
        self._parts = parts
        self._place_of = place_of
        self._deliveries = deliveries
        self._done = done
        self._places: list[Place] = []
        """Where it waits."""
        self._is_far = False
        """What it has found must come from the disk first."""
        self._is_stirred = False
        self._is_over = False
        self._timer: Timer | None = None

    def begin(self, timers: Timers, soon: Soon, caller: Caller) -> None:
        self._soon = soon
        self._asked = now.asked
        self._caller = caller
        caller.presence.watch(self._leave)
        if self._look(may_wait=self._command.max_wait_ms > 0 and bool(self._parts)):
            return
        self._timer = timers.after(self._command.max_wait_ms, on_behalf(self._finish))

    # -- looking ---------------------------------------------------------------------------------

    def _look(self, *, may_wait: bool) -> bool:
        """Look at all partitions, and answer if that is enough; whether it was."""
        if self._is_over:
            return True
        self._unwatch()
        faults: list[SharedPart] = []
        finds: list[_Find] = []
        room_bytes, size_bytes = self._command.max_bytes, 0
        for part in self._parts:
            try:
                place = self._place_of(part)
                found = self._look_at(place, room_bytes - size_bytes, may_be_far=may_wait)
            except Refused as refused:
                faults.append(SharedPart(part, refused.fault, refused.message))
                continue
            self._places.append(place)
            if found is not None and found.batches:
                finds.append(_Find(part, place, found))
                size_bytes += found.size_bytes
        is_enough = bool(finds) and size_bytes >= self._command.min_bytes
        if may_wait and not faults and not is_enough:
            self._watch()
            return False
        self._end(faults + self._take(finds))
        return True

    def _look_at(self, place: Place, room_bytes: int, *, may_be_far: bool) -> Readable | None:
        if room_bytes <= 0:
            return None
        # What was far once has been brought near; whatever has become of that, it is read now.
        near = self._stir if may_be_far and not self._is_far else None
        found = self._deliveries.look(place.partition, place.live, room_bytes, near)
        self._is_far = self._is_far or found is None
        return found

    def _take(self, finds: Sequence[_Find]) -> list[SharedPart]:
        command, taken = self._command, []
        room = command.max_records
        for part, place, found in finds:
            if room <= 0:
                break
            acquired, runs = self._deliveries.take(
                place.partition, found, command.member_id, room, is_strict=command.is_strict
            )
            if acquired:
                taken.append(SharedPart(part, runs=runs, acquired=acquired))
                room -= sum(each.offset_last - each.offset_first + 1 for each in acquired)
        return taken

    # -- waiting ---------------------------------------------------------------------------------

    def arrived(self, partition: LivePartition, size_bytes: int) -> None:
        """Records have come in, or something else about a partition has changed."""
        self._stir()

    def _stir(self) -> None:
        if not self._is_stirred and not self._is_over:
            self._is_stirred = True
            self._soon(partial(act_for, self._asked, self._look_again))

    def _look_again(self) -> None:
        self._is_stirred = False
        self._look(may_wait=True)

    def _watch(self) -> None:
        for live, partition in self._places:
            live.waiting[self] = None
            partition.waiting[self._stir] = None

    def _unwatch(self) -> None:
        for live, partition in self._places:
            live.waiting.pop(self, None)
            partition.waiting.pop(self._stir, None)
        self._places = []

    # -- ending ----------------------------------------------------------------------------------

    def _finish(self) -> None:
        """Its time is over: whatever there is has to do."""
        self._look(may_wait=False)

    def _leave(self) -> None:
        """Nobody listens any more: nothing is taken that nobody would get."""
        self._end([])

    def _end(self, parts: Sequence[SharedPart]) -> None:
        if not self._is_over:
            self._is_over = True
            self._unwatch()
            self._caller.presence.unwatch(self._leave)
            if self._timer is not None:
                self._timer.cancel()
            self._done(parts)
