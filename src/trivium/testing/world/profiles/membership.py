"""What members of classic groups and of consumer groups have in common: partitions held, offsets committed.

Who holds what is the members' own view. A broker may give a partition to somebody else only when its holder
has given it up, or has not been heard of for as long as it may be silent: one that was answered well within
that time is a holder still.
"""

from collections.abc import Generator, Iterable, Mapping
from itertools import count
from typing import Any, Final

from trivium.messages.api.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from trivium.messages.api.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
)
from trivium.testing.history.operation import Commit, Committed
from trivium.testing.world.machine import NewDisk
from trivium.testing.world.network import Weather
from trivium.testing.world.peer import Wanted
from trivium.testing.world.reading import Ends
from trivium.testing.world.world import Hangs, World

TOPIC: Final = "t"
GROUP: Final = "g"
PARTITIONS: Final = 12
MEMBERS_MAX: Final = 8
CROWD: Final = 50
"""As many members has one history in sixteen."""
SESSION_MS: Final = 1_000
REBALANCE_MS: Final = 800
HEARTBEAT_MS: Final = 150
PAUSE_MS: Final = 20
LEAVES, PAUSES, DIES = 0.03, 0.03, 0.02
"""Of all steps of a member."""

_COMMIT_VERSION: Final = 9
_FETCH_VERSION: Final = 9

Step = Generator[Wanted, Any, Any]


class Holdings:
    """Who holds which partition, as the members see it."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._holders: dict[int, str] = {}
        self._heard: dict[str, int] = {}
        """When each member began to ask what it was last answered well."""
        self.wrong: list[str] = []

    def heard(self, member: str, asked_ms: int) -> None:
        self._heard[member] = asked_ms

    def take(self, member: str, partitions: Iterable[int]) -> None:
        """From now on the member holds these, and no others."""
        self.release(member)
        for partition in partitions:
            holder = self._holders.get(partition)
            silent_ms = self._world.clock.now_ms - self._heard.get(holder or "", 0)
            if holder is not None and silent_ms < min(SESSION_MS, REBALANCE_MS):
                self.wrong.append(
                    f"{partition} is given to {member}, and {holder}, heard {silent_ms} ms ago, has it"
                )
            self._holders[partition] = member

    def release(self, member: str) -> None:
        self._holders = {key: holder for key, holder in self._holders.items() if holder != member}

    def are_shared(self, members: Mapping[str, bool]) -> bool:
        """Whether all partitions have holders, and all of them live."""
        return len(self._holders) == PARTITIONS and all(
            members.get(holder, False) for holder in self._holders.values()
        )


class Progress:
    """Offsets of the group: each commit names a higher one than all before it."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._offsets = count(1)

    def commit(self, name: str, member_id: str, epoch: int, partition: int, *, told: int | None) -> Step:
        """The error code, None without an answer. ``told``: the generation that the checker hears of."""
        offset = next(self._offsets)
        act = Commit(GROUP, TOPIC, partition, offset, told)
        begun = self._world.story.begin(name, act)
        place = OffsetCommitRequestPartition(
            partition_index=partition, committed_offset=offset, committed_metadata=None
        )
        answer = yield (
            OffsetCommitRequest(
                group_id=GROUP,
                generation_id_or_member_epoch=epoch,
                member_id=member_id,
                topics=[OffsetCommitRequestTopic(name=TOPIC, partitions=[place])],
            ),
            _COMMIT_VERSION,
        )
        if answer is None:
            begun.unknown()
            return None
        code = answer.topics[0].partitions[0].error_code
        if code:
            begun.fail()
        else:
            begun.ok()
        return code

    def look(self, name: str, partition: int) -> Step:
        """What the group has committed, by whomever."""
        begun = self._world.story.begin(name, Committed(GROUP, TOPIC, partition))
        wanted = OffsetFetchRequestTopics(name=TOPIC, partition_indexes=[partition])
        answer = yield (
            OffsetFetchRequest(groups=[OffsetFetchRequestGroup(group_id=GROUP, topics=[wanted])]),
            _FETCH_VERSION,
        )
        if answer is None or answer.groups[0].error_code:
            begun.unknown()
            return
        offset = answer.groups[0].topics[0].partitions[0].committed_offset
        begun.ok(Committed(GROUP, TOPIC, partition, None if offset < 0 else offset))


def world_of_members(
    seed: int,
    operations: int,
    settings: Mapping[str, str],
    new_disk: NewDisk,
    *,
    late: float = Weather().late,
) -> tuple[World, int]:
    """A world, and how many members a group has in it."""
    world = World(
        seed,
        {TOPIC: PARTITIONS},
        operations=operations,
        weather=Weather(cut=0.01, stall=0.01, late=late),
        power_losses=2,
        settings=settings,
        new_disk=new_disk,
    )
    members = CROWD if seed % 16 == 15 else world.random.randint(1, MEMBERS_MAX)
    return world, members


def let_settle(world: World, holdings: Holdings, members: Mapping[str, bool]) -> list[str]:
    """Play to the end; what is wrong. ``members`` says of each whether it lives."""
    wrong = []
    try:
        world.run_until(lambda: not world.goes_on)
        world.clear_up()
        world.run_until(lambda: not any(members.values()) or holdings.are_shared(members))
        Ends(world)
    except Hangs:
        wrong.append("the group never comes to rest: members live, and partitions have no owner")
    return [*wrong, *holdings.wrong]
