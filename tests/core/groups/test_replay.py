"""What a restart finds, and what happens when the log of the groups fails (R1, R11)."""

import pytest

from tests.core.groups.coordinated import INITIAL_DELAY_MS, SESSION_MS, Coordinated, subscription
from trivium.core.commands.groups import DeletedGroup, DeleteGroups, Joined, ListGroups, Synced
from trivium.core.commands.offsets import CommittedPart, DeleteOffsets, FetchOffsets, GroupOffsetsWanted
from trivium.core.faults import Fault
from trivium.messages.schema import Message
from trivium.messages.stored.classic_groups import GroupMetadataKey, GroupMetadataValue, MemberMetadata
from trivium.messages.stored.consumer_groups import ConsumerGroupMetadataKey, ConsumerGroupMetadataValue
from trivium.messages.stored.group_log import GROUP_LOG
from trivium.messages.stored.offsets import (
    LegacyOffsetCommitKey,
    LegacyOffsetCommitValue,
    OffsetCommitKey,
    OffsetCommitValue,
)
from trivium.records.batch import build_batch, iter_batches
from trivium.records.control import EndTxnMarker, build_end_txn
from trivium.records.record import Record


@pytest.fixture
def groups() -> Coordinated:
    return Coordinated()


def write(
    groups: Coordinated, key: Message, value: Message | None, version: int = 0, producer_id: int = -1
) -> None:
    """A record that another broker has left in the log."""
    data = None if value is None else GROUP_LOG.encode_value(value, version)
    batch = build_batch(
        [Record(0, 1, GROUP_LOG.encode_key(key), data)],
        producer_id=producer_id,
        producer_epoch=0 if producer_id >= 0 else -1,
        base_sequence=0 if producer_id >= 0 else -1,
        transactional=producer_id >= 0,
    )
    append(groups, batch)


def append(groups: Coordinated, batch: bytes) -> None:
    data = bytearray(batch)
    groups.log.append(data, list(iter_batches(data)), 0)


def entries(groups: Coordinated) -> list[tuple[Message, Message | None]]:
    found = []
    for _, key_bytes, value_bytes in groups.log.records():
        assert key_bytes is not None
        key = GROUP_LOG.decode_key(key_bytes)
        found.append((key, GROUP_LOG.decode_value(key, value_bytes)))
    return found


def pending_offset(offset: int) -> tuple[OffsetCommitKey, OffsetCommitValue]:
    return (
        OffsetCommitKey(group="g", topic="t", partition=0),
        OffsetCommitValue(offset=offset, metadata="", commit_timestamp=1_750_000_000_000),
    )


# -- restarts --------------------------------------------------------------------------------------


def test_stable_group_goes_on_after_a_restart(groups: Coordinated) -> None:
    leader, follower = groups.stable(2)
    groups.commit(42, follower)
    before = groups.describe()
    groups.restart()
    assert groups.describe() == before
    assert groups.beat(leader) is None
    assert groups.sync(follower)[0].assignment == follower.member_id.encode()
    assert groups.offsets() == {("t", 0): 42}


def test_sessions_begin_anew_after_a_restart(groups: Coordinated) -> None:
    first, _second = groups.stable(2)
    groups.pass_time(SESSION_MS - 200)
    groups.restart()
    groups.pass_time(SESSION_MS - 200)
    assert groups.beat(first) is None
    groups.pass_time(SESSION_MS - 200)
    assert groups.beat(first) is Fault.REBALANCE_IN_PROGRESS


def test_rebalance_that_a_restart_broke_off_is_begun_anew_by_its_members(groups: Coordinated) -> None:
    [first] = groups.stable()
    groups.join()
    groups.restart()
    assert groups.beat(first) is None
    newcomer = groups.join()
    again = groups.join(first.member_id)
    assert again[0].generation == newcomer[0].generation == 2


def test_generation_never_goes_back(groups: Coordinated) -> None:
    [member] = groups.stable()
    groups.leave(member)
    groups.restart()
    [member] = groups.stable()
    assert member.generation == 3


def test_records_are_those_that_kafka_writes(groups: Coordinated) -> None:
    """R11: the same kinds, versions and fields as in a log of Kafka 4.3."""
    [member] = groups.stable()
    groups.commit(42, member, metadata="note")
    groups.leave(member)
    kinds = [(type(key).__name__, value) for key, value in entries(groups)]
    values = [value for _, value in kinds]
    assert [name for name, _ in kinds] == [
        "GroupMetadataKey",
        "GroupMetadataKey",
        "OffsetCommitKey",
        "GroupMetadataKey",
    ]
    made, assigned, committed, emptied = values
    assert isinstance(made, GroupMetadataValue)
    assert (made.protocol_type, made.generation, made.protocol, made.leader) == ("", 0, None, None)
    assert isinstance(assigned, GroupMetadataValue)
    assert (assigned.generation, assigned.leader, len(assigned.members)) == (1, member.member_id, 1)
    assert assigned.members[0].client_host == "/10.0.0.7"
    assert isinstance(committed, OffsetCommitValue)
    assert committed.topic_id == groups.world.image.topics.by_name["t"].topic_id
    assert isinstance(emptied, GroupMetadataValue)
    assert (emptied.protocol_type, emptied.generation, emptied.members) == ("consumer", 2, [])
    versions = [int.from_bytes((value or b"")[:2], "big") for _, _, value in groups.log.records()]
    assert versions == [3, 3, 4, 3]


def test_group_over_its_size_rebalances_after_a_restart() -> None:
    groups = Coordinated()
    first, second = groups.stable(2)
    groups.world.settings.static = {**groups.world.settings.static, "group.max.size": "1"}
    groups.restart()
    assert groups.beat(first) is Fault.REBALANCE_IN_PROGRESS
    again = groups.join(first.member_id)
    assert groups.join(second.member_id) == [Joined("", Fault.GROUP_MAX_SIZE_REACHED)]
    assert len(again[0].members) == 1
    groups.sync(again[0])
    groups.pass_time(SESSION_MS - 1)
    assert groups.beat(again[0]) is None
    groups.pass_time(SESSION_MS - 1)
    assert groups.beat(again[0]) is None


def test_leader_is_the_same_after_a_restart(groups: Coordinated) -> None:
    replies = [groups.join(instance_id="one"), groups.join()]
    groups.pass_time(INITIAL_DELAY_MS * 2)
    leader, follower = replies[0][0], replies[1][0]
    groups.sync(leader, instance_id="one")
    groups.sync(follower)
    [back] = groups.join(instance_id="one")
    groups.restart()
    assert groups.join(follower.member_id)[0].leader == back.member_id


def test_all_partitions_are_read_soon_after_a_start() -> None:
    groups = Coordinated({"offsets.topic.num.partitions": "50"})
    for number in range(40):
        groups.commit(number, group_id=f"group-{number}")
    groups.restart()
    logs = [groups.world.log("__consumer_offsets", partition) for partition in range(50)]
    assert sum(log.reads for log in logs) > 10
    assert len(groups.world.execute(ListGroups()).groups) == 40


# -- what other brokers have written ---------------------------------------------------------------


def test_member_of_the_oldest_form_may_take_its_session_to_join_again(groups: Coordinated) -> None:
    groups.commit(0, group_id="other")
    member = MemberMetadata(
        member_id="old",
        client_id="client",
        client_host="/10.0.0.7",
        session_timeout=SESSION_MS,
        subscription=subscription("t"),
        assignment=b"",
    )
    value = GroupMetadataValue(
        protocol_type="consumer", generation=1, protocol="range", leader="old", members=[member]
    )
    write(groups, GroupMetadataKey(group="g"), value)
    groups.restart()
    newcomer = groups.join(rebalance_timeout_ms=1)
    groups.pass_time(SESSION_MS // 2)
    assert newcomer == []
    assert groups.join("old")[0].generation == newcomer[0].generation == 2


def test_offset_in_the_oldest_form_is_read(groups: Coordinated) -> None:
    groups.commit(0, group_id="other")
    write(
        groups,
        LegacyOffsetCommitKey(group="g", topic="t", partition=1),
        LegacyOffsetCommitValue(offset=7, metadata="", commit_timestamp=1_750_000_000_000),
    )
    groups.restart()
    assert groups.offsets() == {("t", 1): 7}


@pytest.mark.parametrize(("committed", "expected"), [(True, 20), (False, 10)])
def test_offset_of_a_transaction_counts_once_it_is_committed(
    groups: Coordinated, committed: bool, expected: int
) -> None:
    groups.commit(10)
    write(groups, *pending_offset(20), producer_id=5)
    append(
        groups,
        build_end_txn(EndTxnMarker(committed, 0), producer_id=5, producer_epoch=0, timestamp=1),
    )
    groups.restart()
    assert groups.offsets() == {("t", 0): expected}


def test_offset_of_an_open_transaction_is_not_stable(groups: Coordinated) -> None:
    groups.commit(10)
    write(groups, *pending_offset(20), producer_id=5)
    groups.restart()
    assert groups.offsets() == {("t", 0): 10}
    for wanted in (GroupOffsetsWanted("g", [("t", 0)]), GroupOffsetsWanted("g", None)):
        [result] = groups.world.execute(FetchOffsets([wanted], require_stable=True))
        assert result.offsets[0].fault is Fault.UNSTABLE_OFFSET_COMMIT


def test_offset_of_an_open_transaction_keeps_its_group(groups: Coordinated) -> None:
    groups = Coordinated({"offsets.retention.minutes": "1", "offsets.retention.check.interval.ms": "1000"})
    groups.commit(10)
    write(groups, *pending_offset(20), producer_id=5)
    groups.restart()
    groups.pass_time(120_000)
    assert groups.offsets() == {("t", 0): 10}
    write(groups, OffsetCommitKey(group="h", topic="t", partition=1), pending_offset(5)[1], producer_id=5)
    groups.restart()
    groups.pass_time(120_000)
    assert groups.describe("h").state == "Empty"


def test_offset_of_an_open_transaction_is_forgotten_with_its_group(groups: Coordinated) -> None:
    groups.commit(0, group_id="other")
    write(groups, *pending_offset(20), producer_id=5)
    write(groups, OffsetCommitKey(group="h", topic="t", partition=0), pending_offset(5)[1], producer_id=5)
    groups.restart()
    assert groups.world.execute(DeleteGroups(["g"])) == [DeletedGroup("g")]
    assert groups.world.execute(DeleteOffsets("h", [("t", 0)])).parts == [CommittedPart("t", 0)]
    append(groups, build_end_txn(EndTxnMarker(True, 0), producer_id=5, producer_epoch=0, timestamp=1))
    groups.restart()
    assert groups.offsets("g") == groups.offsets("h") == {}


def test_later_commit_wins_over_an_open_transaction(groups: Coordinated) -> None:
    groups.commit(10)
    write(groups, *pending_offset(20), producer_id=5)
    groups.restart()
    groups.commit(30)
    append(groups, build_end_txn(EndTxnMarker(True, 0), producer_id=5, producer_epoch=0, timestamp=1))
    groups.restart()
    assert groups.offsets() == {("t", 0): 30}


def test_group_of_another_protocol_gives_way_and_keeps_its_offsets(groups: Coordinated) -> None:
    groups.commit(10)
    key = ConsumerGroupMetadataKey(group_id="g")
    write(groups, key, ConsumerGroupMetadataValue(epoch=3))
    groups.restart()
    groups.leave(*groups.stable())
    assert entries(groups).count((key, None)) == 1
    assert groups.offsets() == {("t", 0): 10}


def test_record_of_an_unknown_kind_is_passed_over(groups: Coordinated) -> None:
    groups.commit(10)
    append(groups, build_batch([Record(0, 1, b"\x00\x63what", b"ever")]))
    groups.restart()
    assert groups.offsets() == {("t", 0): 10}


def test_record_that_cannot_be_read_makes_its_groups_unavailable(groups: Coordinated) -> None:
    groups.commit(10)
    key = GROUP_LOG.encode_key(GroupMetadataKey(group="g"))
    append(groups, build_batch([Record(0, 1, key, b"\x00\x03\xff")]))
    groups.restart()
    assert groups.commit(11) == [[CommittedPart("t", 0, Fault.COORDINATOR_NOT_AVAILABLE)]]


# -- a log that fails ------------------------------------------------------------------------------


def test_failed_sync_takes_back_what_it_did_not_keep(groups: Coordinated) -> None:
    """The records are lost with the sync: what is read anew is what lies in the log then."""
    groups.commit(1)
    kept = list(groups.log._batches)
    end = groups.log.log_end_offset
    groups.world.storage.holds_syncs = True
    reply = groups.commit(2)
    groups.log._batches[:], groups.log.log_end_offset = kept, end
    groups.world.storage.sync(Fault.STORAGE)
    assert reply == [[CommittedPart("t", 0, Fault.NOT_COORDINATOR)]]
    assert groups.offsets() == {("t", 0): 1}


def test_failed_sync_answers_everybody_who_waits(groups: Coordinated) -> None:
    replies = [groups.join(), groups.join()]
    groups.pass_time(INITIAL_DELAY_MS * 2)
    leader, follower = replies[0][0], replies[1][0]
    groups.world.storage.holds_syncs = True
    newcomer = groups.join(group_id="other")
    waiting = [groups.sync(follower), groups.sync(leader)]
    groups.world.storage.sync(Fault.STORAGE)
    assert waiting == [[Synced(Fault.NOT_COORDINATOR)]] * 2
    assert newcomer[0].fault is Fault.NOT_COORDINATOR
    groups.pass_time(1_000_000)
    assert [len(reply) for reply in (*replies, newcomer)] == [1, 1, 1]
    assert [len(reply) for reply in waiting] == [1, 1]


def test_group_that_is_too_large_for_its_topic_is_refused() -> None:
    groups = Coordinated()
    reply = groups.join()
    groups.pass_time(INITIAL_DELAY_MS)
    [synced] = groups.sync(reply[0], {reply[0].member_id: bytes(1 << 20)})
    assert synced.fault is Fault.INTERNAL
