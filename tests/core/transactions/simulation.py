"""One seed, one history of transactions: producers that write, end, go away and come back as zombies; a disk
that loses what was not synced; and what must be true of all of them in the end (R14).

Every record carries the name of its transaction. When everything has come to rest, each transaction is in all
of its partitions and its group's offset, or nowhere; those whose commit was acknowledged are there; those
whose abort was acknowledged, or that nobody ended, are not; and readers can read to the end of every log.
"""

from dataclasses import dataclass, field
from random import Random
from typing import Any

from tests.core.transactions.coordinated import OFFSETS_TOPIC, TX, Client, Coordinated
from trivium.core.commands.command import Command
from trivium.core.commands.records import ProducedPart
from trivium.core.commands.transactions import Ended
from trivium.core.faults import Fault

PARTITIONS = 3
SETTLED = 4
"""After so many turns of the disk nothing is left to do: added, written, decided, marked."""
LEDGER = "__transaction_state"


@dataclass
class Attempt:
    """One transaction as its producer knows it."""

    name: bytes
    written: set[int] = field(default_factory=set)
    """Partitions whose write was acknowledged."""
    offset: int | None = None
    wants: bool | None = None
    """Commit or abort, once it has been asked for."""
    acknowledged: bool = False


class History:
    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.world = Coordinated(level=self.random.choice((2, 2, 1, 0)))
        self.storage = self.world.world.storage
        self.attempts: list[Attempt] = []
        self.offset = 0
        self.synced: dict[tuple[str, int], int] = {}
        self.late: list[Command[Any]] = []
        """Requests that a network has kept, to deliver them at a bad time. Of producers whose epochs are
        renewed: what is late from others cannot be told from what is new (KIP-890)."""
        self.client: Client = self.come()

    # -- the world -------------------------------------------------------------------------------

    def take_note(self) -> None:
        """Everything that has been written is durable."""
        self.synced = {key: log.log_end_offset for key, log in self.storage.logs.items()}

    def sync(self, turns: int = 1) -> None:
        """The disk has caught up; and again, with what that has made others write."""
        for _ in range(turns):
            self.take_note()
            self.storage.sync()

    def hold(self, holds: bool) -> None:
        """From now on syncs take their time, or take none."""
        if not self.storage.holds_syncs:
            self.take_note()
        elif not holds:
            self.sync(SETTLED)
        self.storage.holds_syncs = holds

    def crash(self) -> None:
        """The machine is gone; of what was not synced, each log keeps as much as it likes."""
        if not self.storage.holds_syncs:
            self.take_note()
        for key, log in list(self.storage.logs.items()):
            if key[0] != "__cluster_metadata":
                kept = self.random.randint(self.synced.get(key, 0), log.log_end_offset)
                self.storage.logs[key] = log.left_after(kept)
                self.world.world.cluster.forget_live(*key)
        self.storage.holds_syncs = False
        self.storage.sync(Fault.STORAGE)
        self.world.restart()
        self.client = self.come()

    def come(self) -> Client:
        """A producer begins to use the transactional id."""
        self.hold(False)
        client = self.world.init()
        assert client.answer.fault is None, client.answer
        client.renews = self.world.world.image.features.levels.get("transaction.version") == 2
        return client

    # -- steps -----------------------------------------------------------------------------------

    def step(self) -> None:
        self.hold(self.random.random() < 0.7)
        act = self.random.choices(
            (self.transact, self.replace, self.crash_at_rest, self.replay_late, self.wait),
            (10, 1, 1, 2, 1),
        )[0]
        act()

    def transact(self) -> None:
        attempt = Attempt(b"%d" % len(self.attempts))
        self.attempts.append(attempt)
        client, random = self.client, self.random
        for partition in random.sample(range(PARTITIONS), random.randint(1, PARTITIONS)):
            if not client.renews:
                self.submit(client.adding(partition))
            command = client.sending(attempt.name, partition)
            replies = self.submit(command)
            if replies and replies[0][0].fault is None:
                attempt.written.add(partition)
            if client.renews and random.random() < 0.1:
                self.late.append(command)
            if random.random() < 0.04:
                self.crash()
                return
        if random.random() < 0.5:
            self.offset += 1
            if not client.renews:
                self.submit(client.adding_offsets())
            if [part.fault for reply in self.submit(client.committing(self.offset)) for part in reply] == [
                None
            ]:
                attempt.offset = self.offset
        if random.random() < 0.1:
            # It goes away in the middle, and another one comes.
            self.client = self.come()
        else:
            self.end(attempt)

    def end(self, attempt: Attempt) -> None:
        client, random = self.client, self.random
        command = client.ending(commits=random.random() < 0.7)
        attempt.wants = command.commits
        replies = self.world.submit(command)
        if client.renews and random.random() < 0.1:
            self.late.append(command)
        for _ in range(random.randint(0, 4)):
            if random.random() < 0.15:
                self.acknowledge(attempt, replies)
                self.crash()
                return
            self.sync()
        self.sync(SETTLED)
        self.acknowledge(attempt, replies)
        if replies and replies[0].fault is None:
            client.take(replies[0])
        else:
            self.client = self.come()

    def acknowledge(self, attempt: Attempt, replies: list[Ended]) -> None:
        attempt.acknowledged = attempt.acknowledged or any(reply.fault is None for reply in replies)

    def submit(self, command: Command[Any]) -> list[Any]:
        """The answer, after the disk has taken a few turns."""
        replies = self.world.submit(command)
        for _ in range(3):
            if not replies:
                self.sync()
        return replies

    def replace(self) -> None:
        """Another process comes with the same transactional id; the old one still has something to say."""
        zombie, self.client = self.client, self.come()
        replies: list[list[ProducedPart]] = self.world.submit(zombie.sending(b"zombie", 0))
        assert all(reply[0].fault is not None for reply in replies)
        assert all(reply.fault is not None for reply in self.world.submit(zombie.ending(commits=True)))

    def crash_at_rest(self) -> None:
        self.crash()

    def replay_late(self) -> None:
        """Something arrives that everybody has forgotten."""
        if self.late:
            self.world.submit(self.late.pop(self.random.randrange(len(self.late))))

    def wait(self) -> None:
        self.hold(False)
        self.world.world.pass_time(self.random.choice((10, 1_000, 70_000)))

    # -- the verdict -----------------------------------------------------------------------------

    def check(self) -> None:
        self.hold(False)
        self.world.world.pass_time(120_000)
        assert self.world.described(TX).state not in ("Ongoing", "PrepareCommit", "PrepareAbort")
        seen: dict[bytes, set[int]] = {}
        for partition in range(PARTITIONS):
            log = self.world.log(partition)
            assert log.last_stable_offset == log.log_end_offset, f"t-{partition} hangs"
            values = [value for value in self.world.committed(partition) if value is not None]
            assert len(values) == len(set(values)), f"t-{partition} has a record twice"
            for value in values:
                seen.setdefault(value, set()).add(partition)
        assert b"zombie" not in seen
        offsets = self.world.log(0, OFFSETS_TOPIC)
        assert offsets.last_stable_offset == offsets.log_end_offset
        for attempt in self.attempts:
            found = seen.get(attempt.name, set())
            if found:
                assert attempt.wants is True, f"{attempt} was not committed, and is seen in {found}"
                assert found >= attempt.written, f"{attempt} is torn: only {found}"
            elif attempt.wants and attempt.acknowledged:
                assert not attempt.written, f"{attempt} is lost"
        committed = [each.offset for each in self.attempts if each.name in seen and each.offset is not None]
        stored = self.world.offset(require_stable=True)
        assert stored.fault is None
        if committed:
            assert stored.offset >= max(committed)
        assert stored.offset in (-1, *(each.offset for each in self.attempts if each.wants is not False))


def run(seed: int, steps: int) -> None:
    history = History(seed)
    for _ in range(steps):
        history.step()
    history.check()
