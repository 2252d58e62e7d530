"""Share groups through seeded histories: members that come, stall, hang up and fail, time that passes, nodes
that start again. One seed is one history.

Held against a ledger that knows for every record who has it: no record is with two members at a time, none is
passed over before it was accepted, rejected or given out for the last time, and none is given out after that.
"""

import random
from collections.abc import Callable

import pytest

from tests.core.groups.share.sharing import LOCK_MS, Mark, Sharing, offsets
from trivium.core.commands.share_groups_reading import Acknowledgement

ACCEPT, RELEASE, REJECT = Acknowledgement.ACCEPT, Acknowledgement.RELEASE, Acknowledgement.REJECT
HISTORIES = 60
STEPS = 60
MEMBERS = ("a", "b", "c")
DELIVERIES_MAX = 5


class Ledger:
    def __init__(self) -> None:
        self.written = 0
        self.holder: dict[int, tuple[str, int]] = {}
        """By offset: who has it, and until when."""
        self.deliveries: dict[int, int] = {}
        self.ended: set[int] = set()

    def give(self, member_id: str, offset: int, count: int, until_ms: int) -> None:
        assert offset not in self.ended, f"{offset} was given out after its end"
        assert offset not in self.holder, f"{offset} is with {self.holder.get(offset)} and {member_id}"
        # A restart forgets deliveries that nobody has spoken of, and never makes more of them.
        assert 1 <= count <= self.deliveries.get(offset, 0) + 1
        self.deliveries[offset] = count
        self.holder[offset] = (member_id, until_ms)

    def take_back(self, offset: int) -> None:
        del self.holder[offset]
        if self.deliveries[offset] >= DELIVERIES_MAX:
            self.ended.add(offset)

    def take_back_where(self, is_over: Callable[[str, int], bool]) -> None:
        for offset in [offset for offset, held in self.holder.items() if is_over(*held)]:
            self.take_back(offset)


class History:
    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self.sharing = Sharing()
        self.sharing.beat()
        self.ledger = Ledger()
        self.epochs: dict[str, int] = {}

    def run(self) -> None:
        steps = (self.write, self.read, self.read, self.read, self.say, self.say, self.wait, self.hang_up)
        for _ in range(STEPS):
            self.chance.choice((*steps, self.restart) if self.chance.random() < 0.1 else steps)()
            self._expire()
        self._finish()

    def write(self) -> None:
        count = self.chance.randint(1, 6)
        self.sharing.write(count)
        self.ledger.written += count

    def read(self) -> None:
        member_id = self.chance.choice(MEMBERS)
        answer = self.sharing.fetch(
            member_id,
            self._epoch(member_id),
            max_records=self.chance.randint(1, 10),
            is_strict=self.chance.random() < 0.5,
        )
        until_ms = self.sharing.world.clock.monotonic_ms() + LOCK_MS
        for offset, count in offsets(answer):
            self.ledger.give(member_id, offset, count, until_ms)

    def say(self) -> None:
        """A member speaks of some of what it has, and once in a while of what it has not."""
        member_id = self.chance.choice(MEMBERS)
        if not self.epochs.get(member_id):
            return
        mine = [offset for offset, (who, _) in self.ledger.holder.items() if who == member_id]
        spoken = {
            each: self.chance.choice((ACCEPT, RELEASE, REJECT)) for each in mine if self.chance.random() < 0.6
        }
        foreign = [offset for offset in self.ledger.holder if offset not in mine]
        lies = bool(foreign) and self.chance.random() < 0.2
        marks: list[Mark] = [(offset, offset, kind) for offset, kind in spoken.items()]
        if lies:
            marks.append((foreign[0], foreign[0], ACCEPT))
        if not marks:
            return
        answer = self.sharing.acknowledge(member_id, self._epoch(member_id), *sorted(marks))
        assert (answer.parts[0].fault is None) == (not lies)
        if lies:
            return
        for offset, kind in spoken.items():
            self.ledger.take_back(offset)
            if kind is not RELEASE:
                self.ledger.ended.add(offset)

    def wait(self) -> None:
        self.sharing.pass_time(self.chance.choice((1, LOCK_MS // 3, LOCK_MS)))

    def hang_up(self) -> None:
        member_id = self.chance.choice(MEMBERS)
        if self.epochs.pop(member_id, 0):
            self.sharing.callers.pop(member_id).presence.leave()
            self.ledger.take_back_where(lambda who, _until: who == member_id)

    def restart(self) -> None:
        self.sharing.restart()
        self.epochs.clear()
        # Locks do not survive, and neither do deliveries of which nothing was stored.
        for offset in list(self.ledger.holder):
            del self.ledger.holder[offset]
            self.ledger.deliveries[offset] -= 1

    def _expire(self) -> None:
        now_ms = self.sharing.world.clock.monotonic_ms()
        self.ledger.take_back_where(lambda _who, until_ms: until_ms <= now_ms)

    def _epoch(self, member_id: str) -> int:
        epoch = self.epochs.get(member_id, 0)
        self.epochs[member_id] = epoch + 1
        return epoch

    def _finish(self) -> None:
        """In the end one member accepts everything that is left: after that nothing is."""
        self.sharing.pass_time(LOCK_MS)
        self._expire()
        epoch = 0
        while found := offsets(self.sharing.fetch("last", epoch)):
            for offset, count in found:
                self.ledger.give("last", offset, count, 0)
            marks: list[Mark] = [(offset, offset, ACCEPT) for offset, _ in found]
            assert self.sharing.acknowledge("last", epoch + 1, *marks).parts[0].fault is None
            self.ledger.holder.clear()
            self.ledger.ended.update(offset for offset, _ in found)
            epoch += 2
        assert self.ledger.ended == set(range(self.ledger.written)), "a record was lost"


@pytest.mark.parametrize("seed", range(HISTORIES))
def test_record_is_with_one_member_at_a_time_until_its_end(seed: int) -> None:
    History(seed).run()
