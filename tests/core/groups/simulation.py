"""R15, simulated: members of a group join, leave, pause and die; the broker restarts, crashes, loses a disk.

One seed is one history. Clients are little state machines that follow the classic protocol; their answers
wait for them until they look. Held against the coordinator:

    assigned    within a generation no partition is given to two members
    fenced      nobody commits under a generation that a newer one has replaced
    kept        a committed offset is there until somebody commits another; a crash may only keep more of what
                was not acknowledged yet
    alive       once the trouble is over, the group shares all partitions among all that live

``python -m tests.core.groups.simulation SEED STEPS`` runs one history and says what it was made of.
"""

import json
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from tests.core.groups.coordinated import CALLER
from tests.core.groups.troubled_group import TroubledGroup, main
from trivium.core.commands.groups import (
    Heartbeat,
    Joined,
    JoinGroup,
    LeaveGroup,
    Leaver,
    Protocol,
    Synced,
    SyncGroup,
)
from trivium.core.commands.offsets import CommitOffsets, CommittedPart, OffsetToCommit
from trivium.core.faults import Fault

MEMBERS_MAX = 50
PARTITIONS = 64
SESSION_MS = 10_000
STATIC_SESSION_MS = 30_000
"""Longer than a rebalance may take: a static member that sleeps through one is still a member after it."""
REBALANCE_MS = 8000
TICK_MS = 2000
LOSES_PLACE = (Fault.UNKNOWN_MEMBER_ID, Fault.FENCED_INSTANCE_ID)


@dataclass(eq=False)
class Client:
    """A consumer: what it knows of itself, and the answer it waits for."""

    name: str
    instance_id: str | None
    member_id: str = ""
    generation: int = -1
    owned: tuple[int, ...] = ()
    step: str = "join"
    """What it does next: join, sync or run."""
    joined: Joined | None = None
    waiting: list[Any] | None = None
    is_paused: bool = False
    patience: int = 0
    """Looks without an answer: a client gives up waiting and asks again."""

    def begin_anew(self, fault: Fault | None) -> None:
        if fault in LOSES_PLACE:
            self.member_id = ""
        self.step, self.waiting, self.owned, self.joined = "join", None, (), None


@dataclass
class Commits:
    """What may be found for one partition: acknowledged, or sent later and not refused."""

    possible: list[int] = field(default_factory=lambda: [-1])

    def sent(self, offset: int) -> None:
        self.possible.append(offset)

    def acknowledged(self, offset: int) -> None:
        if offset in self.possible:
            del self.possible[: self.possible.index(offset)]


class Simulation(TroubledGroup[Client]):
    tick_ms = TICK_MS
    syncs = 0.5

    def __init__(self, seed: int) -> None:
        super().__init__(seed, {"offsets.topic.num.partitions": "1"}, "shared", PARTITIONS)
        self.commits = [Commits() for _ in range(PARTITIONS)]
        self.unsettled: list[tuple[list[Any], int, int]] = []
        """Commits that have no answer yet: where it will be, partition and offset."""
        self.given: dict[tuple[int, int], str] = {}
        """Who was given a partition in a generation."""
        self.newest_generation = 0
        """Of those in which anybody was given anything. Others may be lost with what was not synced."""
        self.next_offset = 0

    # -- the history -----------------------------------------------------------------------------

    def _something_happens(self) -> None:
        lot = self.random.random()
        if lot < 0.12 and len(self.clients) < MEMBERS_MAX:
            self._start_client()
        elif lot < 0.16 and self.clients:
            self._leave(self.random.choice(self.clients))
        elif lot < 0.19 and self.clients:
            self._die()
        elif lot < 0.26 and self.clients:
            self._pause_or_go_on()
        elif lot < 0.275:
            self._return_static()
        elif lot < 0.285:
            self._sync()
            self._restart("restarts")
        elif lot < 0.305:
            self._lose_unsynced()
            self._restart("crashes")
        elif lot < 0.32:
            self._lose_unsynced()
            self.world.storage.sync(Fault.STORAGE)
            self._settle_commits()
            self.seen["failed syncs"] += 1

    def _calm_down(self) -> None:
        """Everybody wakes up, nothing fails: the group finds together."""
        for client in self.clients:
            client.is_paused = False
        if not self.clients:
            self._start_client()
        for _ in range(120):
            for client in self.clients:
                self._look(client)
            self._sync()
            self.groups.pass_time(TICK_MS // 2)
            if self._is_shared():
                break
        assert self._is_shared(), f"{self.groups.describe()} {self.clients}"
        self._check()

    def _is_shared(self) -> bool:
        owned = Counter(partition for client in self.clients for partition in client.owned)
        return len({client.generation for client in self.clients}) == 1 and all(
            owned[partition] == 1 for partition in range(PARTITIONS)
        )

    # -- clients ---------------------------------------------------------------------------------

    def _start_client(self) -> None:
        self.started += 1
        instance_id = f"static-{self.started}" if self.random.random() < 0.3 else None
        self.clients.append(Client(f"client-{self.started}", instance_id))

    def _return_static(self) -> None:
        """A static member starts again while its former self is still there, or no longer."""
        static = [client for client in self.clients if client.instance_id is not None]
        if static:
            before = self.random.choice(static)
            self.clients.remove(before)
            self.clients.append(Client(before.name, before.instance_id))
            self.seen["static returns"] += 1

    def _leave(self, client: Client) -> None:
        self.clients.remove(client)
        self.world.submit(LeaveGroup("g", [Leaver(client.member_id, client.instance_id)]), CALLER)
        self.seen["leaves"] += 1

    def _look(self, client: Client) -> None:
        if client.waiting is not None and not client.waiting:
            client.patience += 1
            if client.patience > 30:
                client.begin_anew(None)
            return
        client.patience = 0
        if client.step == "join":
            self._join(client)
        elif client.step == "sync":
            self._take_assignment(client)
        else:
            self._work(client)

    def _join(self, client: Client) -> None:
        if client.waiting:
            [joined] = client.waiting
            client.waiting = None
            if joined.fault is Fault.MEMBER_ID_REQUIRED:
                client.member_id = joined.member_id
            elif joined.fault is not None:
                client.begin_anew(joined.fault)
                return
            else:
                self._send_sync(client, joined)
                return
        client.waiting = self.world.submit(
            JoinGroup(
                "g",
                client.member_id,
                client.instance_id,
                SESSION_MS if client.instance_id is None else STATIC_SESSION_MS,
                REBALANCE_MS,
                "consumer",
                [Protocol("range", b"")],
            ),
            CALLER,
        )

    def _send_sync(self, client: Client, joined: Joined) -> None:
        client.member_id, client.generation, client.joined = joined.member_id, joined.generation, joined
        assignments = []
        if joined.leader == joined.member_id and not joined.skip_assignment:
            ids = sorted(member.member_id for member in joined.members)
            for at, each in enumerate(ids):
                assignments.append((each, json.dumps(list(range(at, PARTITIONS, len(ids)))).encode()))
            self.seen["rebalances"] += 1
        client.step = "sync"
        client.waiting = self.world.submit(
            SyncGroup(
                "g", client.member_id, client.instance_id, client.generation, "consumer", "range", assignments
            ),
            CALLER,
        )

    def _take_assignment(self, client: Client) -> None:
        assert client.waiting
        synced: Synced = client.waiting[0]
        client.waiting = None
        if synced.fault is not None:
            client.begin_anew(synced.fault)
            return
        self.newest_generation = max(self.newest_generation, client.generation)
        client.owned = tuple(json.loads(synced.assignment or b"[]"))
        for partition in client.owned:
            owner = self.given.setdefault((client.generation, partition), client.name)
            assert owner == client.name, f"{partition} is given to {owner} and to {client}"
        client.step = "run"

    def _work(self, client: Client) -> None:
        fault = self.world.execute(
            Heartbeat("g", client.member_id, client.instance_id, client.generation), CALLER
        )
        if client.owned and self.random.random() < 0.5:
            self._commit(client, self.random.choice(client.owned))
        if fault is not None:
            client.begin_anew(fault)

    def _commit(self, client: Client, partition: int) -> None:
        self.next_offset += 1
        offset = self.next_offset
        replies = self.world.submit(
            CommitOffsets(
                "g",
                [OffsetToCommit("shared", partition, offset)],
                client.member_id,
                client.instance_id,
                client.generation,
            ),
            CALLER,
        )
        if replies:
            assert replies[0][0].fault is not None, "acknowledged before it was durable"
            self.seen["refused commits"] += 1
        else:
            assert client.generation >= self.newest_generation, "committed under a replaced generation"
            self.commits[partition].sent(offset)
            self.unsettled.append((replies, partition, offset))
            self.seen["commits"] += 1

    # -- the disk --------------------------------------------------------------------------------

    def _sync(self) -> None:
        super()._sync()
        self._settle_commits()

    def _settle_commits(self) -> None:
        left = []
        for replies, partition, offset in self.unsettled:
            if not replies:
                left.append((replies, partition, offset))
                continue
            part: CommittedPart = replies[0][0]
            if part.fault is None:
                self.commits[partition].acknowledged(offset)
        self.unsettled = left

    def _forget_what_was_asked(self) -> None:
        self.unsettled.clear()
        for client in self.clients:
            if client.waiting is not None:
                client.begin_anew(None)

    # -- offsets ---------------------------------------------------------------------------------

    def _check(self) -> None:
        found = self.groups.offsets()
        for partition, commits in enumerate(self.commits):
            offset = found.get(("shared", partition), -1)
            assert offset in commits.possible, f"{partition}: {offset}, possible are {commits.possible}"
            if self.groups.log.batches_count == self.synced_batches:
                # All of it is durable, whether its committers have heard of it or not.
                commits.possible = [offset]


if __name__ == "__main__":
    main(Simulation)
