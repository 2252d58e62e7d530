"""Share groups in a world of memory, with short words for what their tests say often."""

from collections.abc import Mapping, Sequence
from itertools import count

from tests.core.batches import batch
from tests.core.fakes import FakeLog, World
from trivium.core.caller import Caller
from trivium.core.cluster import SHARE_STATE_TOPIC
from trivium.core.commands.share_groups import (
    DescribedShareGroup,
    DescribeShareGroups,
    DescribeShareOffsets,
    ShareBeat,
    ShareGroupOffsetsWanted,
    ShareHeartbeat,
)
from trivium.core.commands.share_groups_reading import (
    Acknowledged,
    AcknowledgedPart,
    Acknowledgement,
    ShareAcknowledge,
    ShareAcknowledged,
    SharedRecords,
    ShareFetch,
    SharePart,
)
from trivium.core.features import SHARE_LEVEL, SHARE_VERSION
from trivium.core.groups.coordinator import GroupCoordinator
from trivium.core.groups.share.reading import ShareReading
from trivium.core.metadata_configs import ConfigType
from trivium.core.timers import Timers
from trivium.messages.stored.metadata_topics import ConfigRecord, RemoveTopicRecord
from trivium.records.batch import iter_batches

LOCK_MS = 30_000
STATIC = {
    "offsets.topic.num.partitions": "1",
    "share.coordinator.state.topic.num.partitions": "1",
    "group.share.assignment.interval.ms": "0",
}

Mark = tuple[int, int, Acknowledgement | int]


class Sharing:
    """Topic ``t`` has two partitions, ``u`` one. Groups begin at the beginning unless a test says else."""

    def __init__(self, static: Mapping[str, str] | None = None, *groups: str) -> None:
        self.world = World({**STATIC, **(static or {})})
        self.world.image.features.levels[SHARE_VERSION] = SHARE_LEVEL
        self._uuids = count(1)
        self.topic_id = self.world.create_topic("t", 2)
        self.other_id = self.world.create_topic("u", 1)
        for group_id in groups or ("g",):
            self.configure(group_id, "share.auto.offset.reset", "earliest")
        self._begin()

    def _begin(self) -> None:
        world = self.world
        self.callers: dict[str, Caller] = {}
        self.coordinator = GroupCoordinator(
            world.cluster,
            world.settings,
            world.access,
            world.timers,
            world.topics.new_topic_records,
            lambda: str(next(self._uuids)),
        )
        world.add(self.coordinator.routes)
        reading = ShareReading(
            world.cluster,
            world.access,
            world.timers,
            world.soon,
            self.coordinator.share_states,
            self.coordinator.share_rules,
        )
        world.add(reading.routes)
        self.coordinator.start()

    def restart(self) -> None:
        """What is in the logs survives; whoever was waiting is never answered."""
        self.world.timers = Timers(self.world.clock)
        self.world.cluster.removed.clear()
        self.world.cluster.dropped.clear()
        self._begin()
        self.pass_time(100)

    def pass_time(self, milliseconds: int) -> None:
        self.world.pass_time(milliseconds)
        self.world.turn()

    def configure(self, group_id: str, name: str, value: str) -> None:
        record = ConfigRecord(resource_type=ConfigType.GROUP, resource_name=group_id, name=name, value=value)
        self.world.cluster.commit([(record, 0)], lambda _fault: None)

    def delete_topic(self, name: str) -> None:
        topic_id = self.world.image.topics.by_name[name].topic_id
        self.world.cluster.commit([(RemoveTopicRecord(topic_id=topic_id), 0)], lambda _fault: None)

    @property
    def state_log(self) -> FakeLog:
        return self.world.log(SHARE_STATE_TOPIC)

    def write(self, count_: int, partition: int = 0, data: bytes | None = None) -> None:
        """One batch of so many records."""
        data = batch(*[b"v"] * count_) if data is None else data
        live = self.world.cluster.partition("t", partition)
        buffer = bytearray(data)
        live.log.append(buffer, list(iter_batches(buffer)), live.leader_epoch)
        live.announce(len(buffer))
        self.world.turn()

    # -- members ---------------------------------------------------------------------------------

    def beat(
        self,
        member_id: str = "m",
        epoch: int = 0,
        topics: Sequence[str] | None = None,
        *,
        group_id: str = "g",
    ) -> ShareBeat:
        names = ["t"] if topics is None and epoch == 0 else topics
        return self.world.execute(ShareHeartbeat(group_id, member_id, epoch, None, names), self.of(member_id))

    def of(self, member_id: str) -> Caller:
        """The connection of a member."""
        return self.callers.setdefault(member_id, Caller(client_id="client", host="10.0.0.7"))

    def describe(self, group_id: str = "g") -> DescribedShareGroup:
        return self.world.execute(DescribeShareGroups([group_id]))[0]

    def start_and_lag(self, partition: int = 0, group_id: str = "g") -> tuple[int, int]:
        [group] = self.world.execute(
            DescribeShareOffsets([ShareGroupOffsetsWanted(group_id, {"t": [partition]})])
        )
        [start] = group.topics[0].partitions
        return start.start_offset, start.lag

    # -- reading ---------------------------------------------------------------------------------

    def part(self, partition: int = 0) -> SharePart:
        return self.topic_id, partition

    def submit(
        self,
        member_id: str = "m",
        epoch: int = 0,
        *marks: Mark,
        partitions: Sequence[int] = (0,),
        forgotten: Sequence[int] = (),
        max_wait_ms: int = 0,
        min_bytes: int = 1,
        max_records: int = 500,
        is_strict: bool = False,
        group_id: str = "g",
    ) -> list[SharedRecords]:
        parts = [AcknowledgedPart(self.part(each)) for each in partitions]
        if marks:
            parts = [AcknowledgedPart(self.part(partitions[0]), _ranges(marks)), *parts[1:]]
        command = ShareFetch(
            group_id,
            member_id,
            epoch,
            parts,
            [self.part(each) for each in forgotten],
            max_wait_ms,
            min_bytes,
            1 << 20,
            max_records,
            is_strict,
        )
        return self.world.submit(command, self.of(member_id))

    def fetch(self, member_id: str = "m", epoch: int = 0, *marks: Mark, **wishes: object) -> SharedRecords:
        """A fetch that does not wait."""
        [answer] = self.submit(member_id, epoch, *marks, **wishes)  # type: ignore[arg-type]
        return answer

    def acknowledge(
        self,
        member_id: str,
        epoch: int,
        *marks: Mark,
        partition: int = 0,
        renews: bool = False,
        group_id: str = "g",
    ) -> ShareAcknowledged:
        parts = [AcknowledgedPart(self.part(partition), _ranges(marks))] if marks else []
        return self.world.execute(
            ShareAcknowledge(group_id, member_id, epoch, parts, renews), self.of(member_id)
        )


def _ranges(marks: Sequence[Mark]) -> list[Acknowledged]:
    return [Acknowledged(first, last, [kind]) for first, last, kind in marks]


def offsets(answer: SharedRecords, partition: int = 0) -> list[tuple[int, int]]:
    """Offset and delivery count of everything that was acquired in a partition."""
    assert answer.fault is None
    return [
        (offset, acquired.delivery_count)
        for part in answer.parts
        if part.part[1] == partition
        for acquired in part.acquired
        for offset in range(acquired.offset_first, acquired.offset_last + 1)
    ]
