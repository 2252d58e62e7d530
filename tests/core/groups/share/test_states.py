"""Where share groups stand survives: restarts, crashes between any two records, cut-off logs (R1, R11)."""

import random
from collections.abc import Iterator

import pytest

from tests.core.groups.share.sharing import LOCK_MS, Sharing, offsets
from trivium.core.cluster import SHARE_STATE_TOPIC
from trivium.core.commands.share_groups import (
    AlterShareOffsets,
    DeleteShareOffsets,
    DescribeShareOffsets,
    ShareGroupOffsetsWanted,
)
from trivium.core.commands.share_groups_reading import Acknowledgement
from trivium.core.faults import Fault
from trivium.core.groups.share.state_shard import STALE_RECORDS
from trivium.messages.schema import Message
from trivium.messages.stored.share_state import SHARE_STATE, ShareSnapshotValue, ShareUpdateValue

ACCEPT, RELEASE, REJECT = Acknowledgement.ACCEPT, Acknowledgement.RELEASE, Acknowledgement.REJECT
RECORDS = 24


@pytest.fixture
def sharing() -> Sharing:
    sharing = Sharing()
    sharing.beat()
    return sharing


def stored(sharing: Sharing) -> list[Message | None]:
    return [
        SHARE_STATE.decode_value(SHARE_STATE.decode_key(key or b""), value)
        for _, key, value in sharing.state_log.records()
    ]


def read_on(sharing: Sharing, member_id: str, epoch: int = 0) -> Iterator[tuple[int, int]]:
    """Everything that a member gets who accepts all of it."""
    while found := offsets(sharing.fetch(member_id, epoch)):
        yield from found
        marks = [(offset, offset, ACCEPT) for offset, _ in found]
        assert sharing.acknowledge(member_id, epoch + 1, *marks).parts[0].fault is None
        epoch += 2


def test_what_was_said_of_records_is_remembered_and_locks_are_not(sharing: Sharing) -> None:
    sharing.write(8)
    sharing.fetch("m")
    sharing.acknowledge("m", 1, (0, 1, ACCEPT), (3, 3, REJECT), (4, 5, RELEASE))
    assert sharing.start_and_lag() == (2, 5)
    sharing.restart()
    assert sharing.start_and_lag() == (2, 5)
    assert list(read_on(sharing, "n")) == [(2, 1), (4, 2), (5, 2), (6, 1), (7, 1)]
    assert sharing.start_and_lag() == (8, 0)


def test_delivery_that_timed_out_counts_over_a_restart(sharing: Sharing) -> None:
    sharing.write(1)
    sharing.fetch("m")
    sharing.pass_time(LOCK_MS)
    sharing.restart()
    assert offsets(sharing.fetch("m")) == [(0, 2)]


def test_first_records_are_those_of_kafka(sharing: Sharing) -> None:
    """A snapshot without a start for each partition; then updates with what has changed."""
    sharing.write(3)
    sharing.fetch("m")
    sharing.acknowledge("m", 1, (1, 1, RELEASE))
    *snapshots, begun, update = stored(sharing)
    for snapshot in snapshots:
        assert isinstance(snapshot, ShareSnapshotValue)
        assert (snapshot.snapshot_epoch, snapshot.state_epoch, snapshot.start_offset) == (0, 2, -1)
    assert isinstance(begun, ShareUpdateValue)
    assert (begun.start_offset, begun.state_batches) == (0, [])
    assert isinstance(update, ShareUpdateValue)
    [batch] = update.state_batches
    assert (update.start_offset, update.delivery_complete_count) == (0, 0)
    assert (batch.first_offset, batch.last_offset, batch.delivery_state, batch.delivery_count) == (1, 1, 0, 1)


def test_snapshot_follows_so_many_updates_and_says_everything() -> None:
    sharing = Sharing({"share.coordinator.snapshot.update.records.per.snapshot": "2"})
    sharing.beat()
    sharing.write(9)
    sharing.fetch("m")
    for epoch, offset in enumerate((2, 4, 6), 1):
        sharing.acknowledge("m", epoch, (offset, offset, ACCEPT))
    snapshot = [each for each in stored(sharing) if isinstance(each, ShareSnapshotValue)][-1]
    assert snapshot.snapshot_epoch == 1
    assert [(each.first_offset, each.delivery_state) for each in snapshot.state_batches] == [(2, 2), (4, 2)]
    sharing.restart()
    assert [offset for offset, _ in read_on(sharing, "n")] == [0, 1, 3, 5, 7, 8]


def test_log_is_cut_off_before_what_a_start_needs() -> None:
    interval_ms = 1000
    sharing = Sharing({"share.coordinator.state.topic.prune.interval.ms": str(interval_ms)})
    sharing.configure("h", "share.auto.offset.reset", "earliest")
    sharing.beat()
    sharing.beat(group_id="h")
    sharing.write(4)
    sharing.fetch("m")
    sharing.acknowledge("m", 1, (0, 0, ACCEPT), (2, 2, ACCEPT))
    sharing.pass_time(interval_ms)
    assert sharing.state_log.log_start_offset == 0
    sharing.state_log.log_end_offset += STALE_RECORDS + 1
    sharing.pass_time(interval_ms)
    assert sharing.state_log.log_start_offset > STALE_RECORDS
    sharing.restart()
    assert sharing.start_and_lag() == (1, 2)
    assert [offset for offset, _ in read_on(sharing, "n")] == [1, 3]


@pytest.mark.parametrize("seed", range(5))
def test_crash_between_any_two_records_undoes_nothing_that_was_confirmed(seed: int) -> None:
    """Every record is delivered until it was accepted, and none after that (R11)."""
    chance = random.Random(seed)
    sharing = Sharing({"share.coordinator.snapshot.update.records.per.snapshot": "3"})
    sharing.configure("g", "share.delivery.count.limit", "10")
    sharing.beat()
    for _ in range(RECORDS // 4):
        sharing.write(4)
    confirmed: list[tuple[int, set[int]]] = [(0, set())]
    held: list[int] = []
    epoch = 0
    for _ in range(20):
        held += [offset for offset, _ in offsets(sharing.fetch("m", epoch, max_records=chance.randint(1, 8)))]
        epoch += 1
        chance.shuffle(held)
        said, held = held[: len(held) // 2], held[len(held) // 2 :]
        kinds = {offset: chance.choice((ACCEPT, REJECT, RELEASE)) for offset in said}
        if kinds:
            sharing.acknowledge("m", epoch, *[(each, each, kind) for each, kind in sorted(kinds.items())])
            epoch += 1
        done = {offset for offset, kind in kinds.items() if kind is not RELEASE}
        confirmed.append((sharing.state_log.log_end_offset, confirmed[-1][1] | done))
    whole = sharing.state_log
    for offset_end in range(whole.log_end_offset + 1):
        sharing.world.storage.logs[SHARE_STATE_TOPIC, 0] = whole.left_after(offset_end)
        sharing.world.cluster.forget_live(SHARE_STATE_TOPIC, 0)
        sharing.restart()
        done = max((each for each in confirmed if each[0] <= offset_end), key=lambda each: each[0])[1]
        assert sorted({offset for offset, _ in read_on(sharing, "n")}) == sorted(set(range(RECORDS)) - done)


def test_state_that_never_became_durable_is_read_anew(sharing: Sharing) -> None:
    sharing.write(2)
    sharing.fetch("m")
    sharing.world.storage.holds_syncs = True
    waiting = sharing.submit("m", 1, (0, 0, ACCEPT))
    sharing.world.storage.sync(Fault.STORAGE)
    assert waiting[0].parts[0].acknowledge_fault is Fault.NOT_COORDINATOR
    sharing.world.storage.holds_syncs = False
    assert sharing.fetch("m", 2).parts[0].fault is None


def test_records_that_a_crash_took_from_the_topic_are_not_waited_for(sharing: Sharing) -> None:
    """Offsets are given again to others, and those are for the group like all."""
    sharing.write(4)
    assert len(list(read_on(sharing, "m"))) == 4
    sharing.world.storage.logs["t", 0] = sharing.world.log("t").left_after(0)
    sharing.world.cluster.forget_live("t", 0)
    sharing.restart()
    sharing.write(2)
    sharing.restart()
    assert [offset for offset, _ in read_on(sharing, "n")] == [0, 1]


# -- administrators --------------------------------------------------------------------------------


def alter(
    sharing: Sharing, offset: int, partition: int = 0, topic: str = "t", group_id: str = "g"
) -> Fault | None:
    answer = sharing.world.execute(AlterShareOffsets(group_id, [(topic, [(partition, offset)])]))
    return answer.fault or answer.topics[0].partitions[0].fault


def test_altered_group_begins_where_it_was_told(sharing: Sharing) -> None:
    for _ in range(2):
        sharing.write(4)
    list(read_on(sharing, "m"))
    assert alter(sharing, 5) is Fault.NON_EMPTY_GROUP
    sharing.beat(epoch=-1)
    epoch = sharing.describe().epoch
    assert alter(sharing, 5) is None
    assert sharing.start_and_lag() == (5, 3)
    snapshot = stored(sharing)[-1]
    assert isinstance(snapshot, ShareSnapshotValue)
    # Whoever knows an older one knows another beginning.
    assert snapshot.state_epoch == sharing.describe().epoch == epoch + 1
    sharing.restart()
    assert sharing.start_and_lag() == (5, 3)
    sharing.beat()
    assert list(read_on(sharing, "m")) == [(5, 1), (6, 1), (7, 1)]


def test_altering_takes_records_from_whoever_has_them(sharing: Sharing) -> None:
    sharing.write(4)
    sharing.fetch("m")
    sharing.beat(epoch=-1)
    waiting = sharing.submit("n", max_wait_ms=500)
    assert alter(sharing, 2) is None
    sharing.world.turn()
    assert offsets(waiting[0]) == [(2, 1), (3, 1)]
    assert sharing.acknowledge("m", 1, (3, 3, ACCEPT)).parts[0].fault is Fault.INVALID_RECORD_STATE


def test_altering_a_group_that_is_not_there_makes_it(sharing: Sharing) -> None:
    sharing.write(4)
    assert alter(sharing, 3, group_id="new") is None
    sharing.restart()
    assert sharing.describe("new").state == "Empty"
    assert sharing.start_and_lag(group_id="new") == (3, 1)


@pytest.mark.parametrize(
    ("partition", "topic", "offset", "group_id", "fault"),
    [
        (9, "t", 0, "g", Fault.UNKNOWN_TOPIC),
        (0, "nowhere", 0, "g", Fault.UNKNOWN_TOPIC),
        (0, "t", -1, "g", Fault.INVALID_REQUEST),
        (0, "t", 0, "", Fault.INVALID_GROUP_ID),
    ],
)
def test_altering_what_cannot_be_is_refused(
    sharing: Sharing, partition: int, topic: str, offset: int, group_id: str, fault: Fault
) -> None:
    sharing.beat(epoch=-1)
    before = len(sharing.state_log.records())
    assert alter(sharing, offset, partition, topic, group_id) is fault
    assert len(sharing.state_log.records()) == before


def test_deleted_offsets_are_forgotten(sharing: Sharing) -> None:
    sharing.write(4)
    list(read_on(sharing, "m"))
    delete = DeleteShareOffsets("g", ["t", "nowhere"])
    assert sharing.world.execute(delete).fault is Fault.NON_EMPTY_GROUP
    sharing.beat(epoch=-1)
    known, unknown = sharing.world.execute(delete).topics
    assert (known.fault, unknown.fault) == (None, Fault.UNKNOWN_TOPIC)
    # What has been forgotten cannot be forgotten once more.
    assert {topic.fault for topic in sharing.world.execute(delete).topics} == {Fault.UNKNOWN_TOPIC}
    for _ in range(2):
        [group] = sharing.world.execute(DescribeShareOffsets([ShareGroupOffsetsWanted("g", None)]))
        assert (group.fault, list(group.topics)) == (None, [])
        sharing.restart()
    sharing.beat()
    assert len(list(read_on(sharing, "m"))) == 4
