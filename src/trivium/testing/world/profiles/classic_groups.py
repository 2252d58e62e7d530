"""R15 for classic groups: JoinGroup, SyncGroup, Heartbeat, LeaveGroup, and offsets under a generation.

The leader deals the partitions out in the order of the members' ids. A member gives up what it holds when it
joins again, as clients with eager rebalancing do.
"""

from typing import Final

from trivium.messages.api.heartbeat import HeartbeatRequest
from trivium.messages.api.join_group import JoinGroupRequest, JoinGroupRequestProtocol, JoinGroupResponse
from trivium.messages.api.leave_group import LeaveGroupRequest, MemberIdentity
from trivium.messages.api.sync_group import SyncGroupRequest, SyncGroupRequestAssignment
from trivium.messages.errors import ErrorCode
from trivium.testing.history.operation import Assign
from trivium.testing.world.machine import NewDisk
from trivium.testing.world.peer import Life, Walker
from trivium.testing.world.profiles import Played
from trivium.testing.world.profiles.membership import (
    DIES,
    GROUP,
    HEARTBEAT_MS,
    LEAVES,
    PARTITIONS,
    PAUSE_MS,
    PAUSES,
    REBALANCE_MS,
    SESSION_MS,
    TOPIC,
    Holdings,
    Progress,
    Step,
    let_settle,
    world_of_members,
)
from trivium.testing.world.storage import SimulatedStorage
from trivium.testing.world.world import World

PROTOCOL: Final = "dealt out"
JOIN_TIMEOUT_MS: Final = 3 * REBALANCE_MS
"""Joining waits for all others to join."""
SETTINGS: Final = {"group.min.session.timeout.ms": "100"}

_JOIN_VERSION: Final = 7
_SYNC_VERSION: Final = 5
_HEARTBEAT_VERSION: Final = 4
_LEAVE_VERSION: Final = 4
NOBODY: Final = ""


class Member:
    def __init__(
        self, world: World, name: str, holdings: Holdings, progress: Progress, alive: dict[str, bool]
    ) -> None:
        self._world = world
        self._lives = 0
        self._base = name
        self._name = name
        self._holdings = holdings
        self._progress = progress
        self._alive = alive
        self._member_id = NOBODY
        self._generation = -1
        self._held: list[int] = []
        alive[name] = True

    def live(self, walker: Walker) -> Life:
        while True:
            if not self._alive[self._name]:
                yield from self._be_reborn()
            joined = yield from self._join()
            if joined is not None and (yield from self._sync(joined)):
                yield from self._work()
            else:
                yield PAUSE_MS

    def _be_reborn(self) -> Step:
        """Another process takes the place of one that has died, and knows nothing of it."""
        yield self._world.random.randint(0, 2 * SESSION_MS)
        self._lives += 1
        self._name = f"{self._base}.{self._lives}"
        self._member_id = NOBODY
        self._alive[self._name] = True

    def _join(self) -> Step:
        self._give_up()
        answer = yield (
            JoinGroupRequest(
                group_id=GROUP,
                session_timeout_ms=SESSION_MS,
                rebalance_timeout_ms=REBALANCE_MS,
                member_id=self._member_id,
                protocol_type="consumer",
                protocols=[JoinGroupRequestProtocol(name=PROTOCOL, metadata=b"")],
            ),
            _JOIN_VERSION,
            JOIN_TIMEOUT_MS,
        )
        if answer is None:
            return None
        if answer.error_code == ErrorCode.UNKNOWN_MEMBER_ID:
            self._member_id = NOBODY
        elif answer.error_code == ErrorCode.MEMBER_ID_REQUIRED or not answer.error_code:
            self._member_id = answer.member_id
        return None if answer.error_code else answer

    def _sync(self, joined: JoinGroupResponse) -> Step:
        """Whether the member knows what it has to do."""
        self._generation = joined.generation_id
        asked_ms = self._world.clock.now_ms
        begun = self._world.story.begin(self._name, Assign(GROUP, self._generation, ()))
        answer = yield (
            SyncGroupRequest(
                group_id=GROUP,
                generation_id=self._generation,
                member_id=self._member_id,
                protocol_type="consumer",
                protocol_name=PROTOCOL,
                assignments=_deal(joined),
            ),
            _SYNC_VERSION,
            JOIN_TIMEOUT_MS,
        )
        if answer is None or answer.error_code:
            begun.unknown()
            return False
        self._held = list(answer.assignment)
        begun.ok(Assign(GROUP, self._generation, tuple((TOPIC, partition) for partition in self._held)))
        self._holdings.heard(self._name, asked_ms)
        self._holdings.take(self._name, self._held)
        return True

    def _work(self) -> Step:
        """Until there is a reason to join again, or to go."""
        random = self._world.random
        while True:
            yield random.randint(HEARTBEAT_MS // 2, HEARTBEAT_MS)
            if self._world.goes_on:
                fate = random.random()
                if fate < DIES:
                    # Its holdings are its own still: nobody has told it that they are gone.
                    self._alive[self._name] = False
                    return
                if fate < DIES + LEAVES:
                    yield from self._leave()
                    return
                if fate < DIES + LEAVES + PAUSES:
                    yield random.randint(0, 2 * SESSION_MS)
            code = yield from self._step()
            if code == ErrorCode.UNKNOWN_MEMBER_ID:
                self._member_id = NOBODY
            if code:
                return

    def _step(self) -> Step:
        """An error code, if the member has to join again."""
        random = self._world.random
        if self._world.goes_on and self._held and random.random() < 0.6:
            partition = random.choice(self._held)
            if random.random() < 0.3:
                yield from self._progress.look(self._name, partition)
                return 0
            code = yield from self._progress.commit(
                self._name, self._member_id, self._generation, partition, told=self._generation
            )
            return 0 if code is None or code == ErrorCode.REBALANCE_IN_PROGRESS else code
        asked_ms = self._world.clock.now_ms
        answer = yield (
            HeartbeatRequest(group_id=GROUP, generation_id=self._generation, member_id=self._member_id),
            _HEARTBEAT_VERSION,
        )
        if answer is None or answer.error_code == ErrorCode.COORDINATOR_NOT_AVAILABLE:
            return 0
        if not answer.error_code:
            self._holdings.heard(self._name, asked_ms)
        return answer.error_code

    def _leave(self) -> Step:
        self._give_up()
        yield (
            LeaveGroupRequest(group_id=GROUP, members=[MemberIdentity(member_id=self._member_id)]),
            _LEAVE_VERSION,
        )
        self._member_id = NOBODY
        yield self._world.random.randint(0, SESSION_MS)

    def _give_up(self) -> None:
        self._held = []
        self._holdings.release(self._name)


def _deal(joined: JoinGroupResponse) -> list[SyncGroupRequestAssignment]:
    """What the leader hands out; everybody else hands out nothing."""
    ids = sorted(member.member_id for member in joined.members)
    return [
        SyncGroupRequestAssignment(member_id=member_id, assignment=bytes(range(number, PARTITIONS, len(ids))))
        for number, member_id in enumerate(ids)
    ]


def play(seed: int, operations: int, new_disk: NewDisk = SimulatedStorage) -> Played:
    world, count = world_of_members(seed, operations, SETTINGS, new_disk)
    holdings, progress, alive = Holdings(world), Progress(world), dict[str, bool]()
    for number in range(count):
        name = f"m{number}"
        Walker(world, name, Member(world, name, holdings, progress, alive).live)
    return Played(world, let_settle(world, holdings, alive))
