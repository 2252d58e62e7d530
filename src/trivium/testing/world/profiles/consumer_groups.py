"""R15 for consumer groups (KIP-848): the broker deals partitions out, members only give up and take.

A member says what it holds with every heartbeat. What its answer takes away it gives up at once, and says so
with the next one; only then may somebody else have it. When an answer is lost it says everything about itself
again, and is told everything in return. Members reach an epoch of the group one by one, so to the checker
each epoch is a group of its own, in which a partition has one owner.
"""

from typing import Any, Final

from trivium.messages.api.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
    TopicPartitions,
)
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

SETTINGS: Final = {
    "group.consumer.min.session.timeout.ms": "100",
    "group.consumer.session.timeout.ms": str(SESSION_MS),
    "group.consumer.min.heartbeat.interval.ms": "10",
    "group.consumer.heartbeat.interval.ms": str(HEARTBEAT_MS),
}
JOINS: Final = 0
LEFT: Final = -1
_VERSION: Final = 1
_FENCED: Final = frozenset((ErrorCode.FENCED_MEMBER_EPOCH, ErrorCode.UNKNOWN_MEMBER_ID))


class Member:
    def __init__(
        self, world: World, name: str, holdings: Holdings, progress: Progress, alive: dict[str, bool]
    ) -> None:
        self._world = world
        self._lives = 0
        self._base = self._name = name
        self._holdings = holdings
        self._progress = progress
        self._alive = alive
        self._epoch = JOINS
        self._says_all = True
        self._held: list[int] = []
        self._topic_id = world.machine.cluster.image.topics.by_name[TOPIC].topic_id
        alive[name] = True

    def live(self, walker: Walker) -> Life:
        random = self._world.random
        while True:
            yield from self._heartbeat()
            yield random.randint(HEARTBEAT_MS // 2, HEARTBEAT_MS)
            if not self._world.goes_on:
                continue
            fate = random.random()
            if fate < DIES:
                yield from self._die()
            elif fate < DIES + LEAVES:
                yield from self._leave()
            elif fate < DIES + LEAVES + PAUSES:
                yield random.randint(0, 2 * SESSION_MS)
            elif self._held and self._epoch > 0:
                yield from self._use(random.choice(self._held))

    def _heartbeat(self) -> Step:
        says_all = self._says_all or self._epoch == JOINS
        asked_ms = self._world.clock.now_ms
        held = [TopicPartitions(topic_id=self._topic_id, partitions=sorted(self._held))] if self._held else []
        answer = yield (
            ConsumerGroupHeartbeatRequest(
                group_id=GROUP,
                member_id=self._name,
                member_epoch=self._epoch,
                rebalance_timeout_ms=REBALANCE_MS if says_all else -1,
                subscribed_topic_names=[TOPIC] if says_all else None,
                topic_partitions=held,
            ),
            _VERSION,
        )
        self._says_all = answer is None
        if answer is None:
            return
        if answer.error_code in _FENCED:
            self._give_up()
        elif not answer.error_code:
            self._holdings.heard(self._name, asked_ms)
            self._take(answer)

    def _take(self, answer: ConsumerGroupHeartbeatResponse) -> None:
        self._epoch = answer.member_epoch
        if answer.assignment is None:
            return
        given = [partition for each in answer.assignment.topic_partitions for partition in each.partitions]
        places: Any = tuple((TOPIC, partition) for partition in given)
        group = f"{GROUP} in epoch {self._epoch}"
        self._world.story.begin(self._name, Assign(group, self._epoch, places)).ok()
        self._held = given
        self._holdings.take(self._name, given)

    def _use(self, partition: int) -> Step:
        if self._world.random.random() < 0.3:
            yield from self._progress.look(self._name, partition)
            return
        code = yield from self._progress.commit(self._name, self._name, self._epoch, partition, told=None)
        if code in _FENCED:
            self._give_up()

    def _leave(self) -> Step:
        self._holdings.release(self._name)
        self._held = []
        yield (
            ConsumerGroupHeartbeatRequest(group_id=GROUP, member_id=self._name, member_epoch=LEFT),
            _VERSION,
        )
        yield self._world.random.randint(0, SESSION_MS)
        self._epoch = JOINS

    def _die(self) -> Step:
        """Another process takes its place, and knows nothing of it."""
        self._alive[self._name] = False
        yield self._world.random.randint(0, 2 * SESSION_MS)
        self._lives += 1
        self._name = f"{self._base}.{self._lives}"
        self._alive[self._name] = True
        self._epoch, self._held = JOINS, []

    def _give_up(self) -> None:
        """It is a member no more, and joins again."""
        self._epoch, self._held = JOINS, []
        self._holdings.release(self._name)


def play(seed: int, operations: int, new_disk: NewDisk = SimulatedStorage) -> Played:
    # A broker cannot tell a request to join that comes late from another one, and what it answers to it is
    # news to nobody: the protocol has no remedy, so here a network that gets stuck loses what it has.
    world, count = world_of_members(seed, operations, SETTINGS, new_disk, late=0.0)
    holdings, progress, alive = Holdings(world), Progress(world), dict[str, bool]()
    for number in range(count):
        name = f"m{number}"
        Walker(world, name, Member(world, name, holdings, progress, alive).live)
    return Played(world, let_settle(world, holdings, alive))
