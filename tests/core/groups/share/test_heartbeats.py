"""Members of share groups: joining, living, leaving, and what survives (KIP-932, R10)."""

import pytest

from tests.core.groups.share.sharing import Sharing
from tests.core.rights import Denying
from trivium.core.access import Operation, Resource
from trivium.core.commands.consumer_groups import ConsumerHeartbeat
from trivium.core.commands.groups import DeleteGroups, JoinGroup, ListGroups, Protocol
from trivium.core.commands.offsets import CommitOffsets, DeleteOffsets, OffsetToCommit
from trivium.core.faults import Fault
from trivium.core.features import SHARE_VERSION

SESSION_MS = 45_000


@pytest.fixture
def sharing() -> Sharing:
    return Sharing()


def test_first_member_reads_all_partitions_at_once(sharing: Sharing) -> None:
    joined = sharing.beat()
    assert (joined.fault, joined.member_epoch) == (None, 2)
    assert joined.assignment == {sharing.topic_id: [0, 1]}
    assert sharing.beat(epoch=2).assignment is None
    assert sharing.describe().state == "Stable"


def test_members_share_partitions_and_all_of_them_have_some(sharing: Sharing) -> None:
    epochs = {member_id: sharing.beat(member_id).member_epoch for member_id in "abc"}
    for member_id, epoch in epochs.items():
        sharing.beat(member_id, epoch)
    assigned = [
        [number for topic in member.assignment for number in topic.partitions]
        for member in sharing.describe().members
    ]
    assert all(len(numbers) == 1 for numbers in assigned)
    assert {number for numbers in assigned for number in numbers} == {0, 1}


def test_member_that_is_silent_is_one_no_longer(sharing: Sharing) -> None:
    sharing.beat("a")
    sharing.world.clock.jump(10 * SESSION_MS)
    sharing.pass_time(SESSION_MS - 1)
    epoch = sharing.beat("b").member_epoch
    assert {member.member_id for member in sharing.describe().members} == {"a", "b"}
    sharing.pass_time(1)
    assert [member.member_id for member in sharing.describe().members] == ["b"]
    assert sharing.beat("b", epoch).assignment == {sharing.topic_id: [0, 1]}


def test_member_that_leaves_is_forgotten_and_the_group_stays(sharing: Sharing) -> None:
    sharing.beat("a")
    assert sharing.beat("a", -1).member_epoch == -1
    assert sharing.describe().state == "Empty"
    sharing.pass_time(8 * 24 * 3_600_000)
    assert sharing.describe().state == "Empty"
    assert sharing.beat("a", 2).fault is Fault.UNKNOWN_MEMBER_ID


def test_epoch_before_is_taken_once_more_and_older_ones_are_fenced(sharing: Sharing) -> None:
    first = sharing.beat("a").member_epoch
    sharing.beat("b")
    second = sharing.beat("a", first).member_epoch
    assert second > first
    assert sharing.beat("a", first).fault is None
    assert sharing.beat("a", second + 1).fault is Fault.FENCED_MEMBER_EPOCH
    sharing.beat("c")
    sharing.beat("a", second)
    assert sharing.beat("a", first).fault is Fault.FENCED_MEMBER_EPOCH


def test_assignment_of_a_late_joining_heartbeat_is_told_to_the_next_one(sharing: Sharing) -> None:
    """The answer to a request on a connection that was given up is heard by nobody."""
    epoch = sharing.beat(topics=["t", "later"]).member_epoch
    later = sharing.world.create_topic("later", 1)
    assert sharing.beat(topics=["t", "later"]).member_epoch > epoch
    assert sharing.beat(epoch=epoch).assignment == {sharing.topic_id: [0, 1], later: [0]}


def test_new_partitions_are_read_by_the_next_heartbeat(sharing: Sharing) -> None:
    epoch = sharing.beat(topics=["t", "later"]).member_epoch
    later = sharing.world.create_topic("later", 1)
    assert sharing.beat(epoch=epoch).assignment == {sharing.topic_id: [0, 1], later: [0]}


def test_member_that_subscribes_to_something_else_reads_that(sharing: Sharing) -> None:
    epoch = sharing.beat().member_epoch
    changed = sharing.beat(epoch=epoch, topics=["u"])
    assert (changed.member_epoch, changed.assignment) == (epoch + 1, {sharing.other_id: [0]})


def test_group_may_set_no_more_than_the_broker_allows(sharing: Sharing) -> None:
    for value, expected in (("1", 5000), ("7000", 7000), ("99000", 15_000)):
        sharing.configure("g", "share.heartbeat.interval.ms", value)
        assert sharing.beat().heartbeat_interval_ms == expected


def test_group_after_a_restart_is_what_it_was(sharing: Sharing) -> None:
    epoch = sharing.beat("a").member_epoch
    sharing.beat("b")
    before = sharing.describe()
    sharing.restart()
    assert sharing.describe() == before
    assert sharing.beat("a", epoch).fault is None
    sharing.pass_time(SESSION_MS)
    assert sharing.describe().state == "Empty"


def test_group_has_room_for_so_many_members() -> None:
    sharing = Sharing({"group.share.max.size": "2"})
    for member_id in "ab":
        sharing.beat(member_id)
    assert sharing.beat("c").fault is Fault.GROUP_MAX_SIZE_REACHED
    assert sharing.beat("a").fault is None


def test_name_of_a_share_group_is_taken_for_other_protocols(sharing: Sharing) -> None:
    sharing.beat()
    world = sharing.world
    join = JoinGroup("g", "", None, 10_000, 10_000, "consumer", [Protocol("range", b"")])
    assert world.execute(join).fault is Fault.INCONSISTENT_GROUP_PROTOCOL
    consumer = ConsumerHeartbeat("g", "c", 0, rebalance_timeout_ms=1, topic_names=["t"], owned={})
    assert world.execute(consumer).fault is Fault.GROUP_ID_NOT_FOUND
    world.execute(ConsumerHeartbeat("h", "c", 0, rebalance_timeout_ms=1, topic_names=["t"], owned={}))
    assert sharing.beat(group_id="h").fault is Fault.GROUP_ID_NOT_FOUND
    listed = world.execute(ListGroups([], ["share"])).groups
    assert [(group.group_id, group.protocol_type, group.type) for group in listed] == [
        ("g", "share", "share")
    ]


def test_share_group_commits_no_offsets_and_has_none_to_delete(sharing: Sharing) -> None:
    for epoch in (0, -1):
        sharing.beat(epoch=epoch)
        [part] = sharing.world.execute(CommitOffsets("g", [OffsetToCommit("t", 0, 1)]))
        assert part.fault is Fault.GROUP_ID_NOT_FOUND
        deleted = sharing.world.execute(DeleteOffsets("g", [("t", 0)]))
        assert deleted.fault is Fault.GROUP_ID_NOT_FOUND


def test_cluster_that_has_not_agreed_to_share_groups_has_none(sharing: Sharing) -> None:
    del sharing.world.image.features.levels[SHARE_VERSION]
    assert sharing.beat().fault is Fault.UNSUPPORTED
    assert sharing.describe().fault is Fault.UNSUPPORTED
    assert sharing.fetch().fault is Fault.UNSUPPORTED
    assert sharing.acknowledge("m", 1).fault is Fault.UNSUPPORTED


def test_deleted_group_is_gone_with_where_it_stood(sharing: Sharing) -> None:
    sharing.beat()
    sharing.write(3)
    sharing.fetch()
    sharing.acknowledge("m", 1, (0, 2, 1))
    assert sharing.world.execute(DeleteGroups(["g"]))[0].fault is Fault.NON_EMPTY_GROUP
    sharing.beat(epoch=-1)
    assert sharing.world.execute(DeleteGroups(["g"]))[0].fault is None
    assert sharing.describe().fault is Fault.GROUP_ID_NOT_FOUND
    for _ in range(2):
        assert sharing.start_and_lag() == (-1, -1)
        sharing.restart()
    sharing.beat()
    sharing.fetch()
    assert sharing.start_and_lag() == (0, 3)


def test_deleted_topic_takes_along_where_groups_stood_in_it(sharing: Sharing) -> None:
    sharing.beat(topics=["t", "u"])
    sharing.fetch()
    sharing.delete_topic("t")
    assert sharing.state_log.records()[-1][2] is None
    sharing.restart()
    assert sharing.beat(epoch=2).assignment == {sharing.other_id: [0]}


@pytest.mark.parametrize(
    ("right", "fault"),
    [
        ((Operation.DESCRIBE, Resource.TOPIC), Fault.NOT_AUTHORIZED_TOPIC),
        ((Operation.DESCRIBE, Resource.GROUP), None),
    ],
)
def test_heartbeat_needs_the_right_to_know_its_topics(
    sharing: Sharing,
    monkeypatch: pytest.MonkeyPatch,
    right: tuple[Operation, Resource],
    fault: Fault | None,
) -> None:
    monkeypatch.setattr(sharing.world.access, "allows", Denying(right).allows)
    assert sharing.beat().fault is fault


def test_write_that_is_refused_makes_no_group(sharing: Sharing) -> None:
    sharing.beat("other", group_id="h")
    sharing.world.log("__consumer_offsets").fault = Fault.STORAGE
    assert sharing.beat().fault is Fault.NOT_COORDINATOR
    sharing.world.log("__consumer_offsets").fault = None
    assert sharing.describe().fault is Fault.GROUP_ID_NOT_FOUND
    assert sharing.beat().assignment == {sharing.topic_id: [0, 1]}
