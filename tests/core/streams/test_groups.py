"""Groups of a stream's topic, and reading with them (002.9, 002.14, X.3, R15)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.core.inhabited import InhabitedWorld
from trivium.core.caller import Caller
from trivium.core.commands.clients import ClientGroup, DescribeClient, DescribeMe, GreetClient, ListClients
from trivium.core.commands.groups import JoinGroup, Protocol
from trivium.core.commands.offsets import CommitOffsets, FetchOffsets, GroupOffsetsWanted, OffsetToCommit
from trivium.core.commands.stream_groups import (
    BeginPoll,
    Consumer,
    CreateStreamGroup,
    DeleteConsumerOffset,
    DeleteStreamGroup,
    DescribeStreamGroup,
    EndPoll,
    FindConsumerOffset,
    FoundConsumerOffset,
    JoinStreamGroup,
    LeaveStreamGroup,
    ListStreamGroups,
    PollPlace,
    StoreConsumerOffset,
)
from trivium.core.commands.streams import AddPartitions, CreateStreamTopic, DeleteStreamTopic
from trivium.core.commands.users import LogIn
from trivium.core.faults import Fault
from trivium.core.streams.membership import HANDOVER_MS, Membership

KAFKA = Caller()
GROUP = Consumer("g", is_group=True)


@pytest.fixture
def world() -> InhabitedWorld:
    world = InhabitedWorld()
    root = world.found()
    world.ask(CreateStreamTopic("default", "t", 3), root)
    world.ask(CreateStreamGroup("default", "t", "g"), root)
    return world


def connect(world: InhabitedWorld) -> Caller:
    return world.log_in("iggy", "iggy")


def join(world: InhabitedWorld, caller: Caller) -> None:
    assert world.ask(JoinStreamGroup("default", "t", "g"), caller) is None


def shares(world: InhabitedWorld) -> list[tuple[int, ...]]:
    group = world.ask(DescribeStreamGroup("default", "t", "g"), connect(world)).group
    assert group is not None
    return [tuple(member.partitions) for member in group.members]


def poll(world: InhabitedWorld, caller: Caller, partition: int | None = None) -> PollPlace:
    return world.ask(BeginPoll("default", "t", GROUP, partition), caller)


# -- groups ----------------------------------------------------------------------------------------


def test_groups_keep_their_numbers_over_a_restart_and_lose_their_members(world: InhabitedWorld) -> None:
    root = connect(world)
    join(world, root)
    made = world.ask(CreateStreamGroup("default", "t", "h"), root).group
    assert made is not None
    assert made.group_id == 1
    world.ask(DeleteStreamGroup("default", "t", "h"), root)
    world.ask(CreateStreamGroup("default", "t", "i"), root)
    world.restart()
    groups = world.ask(ListStreamGroups("default", "t"), root).groups
    assert [(group.group_id, group.name, len(group.members)) for group in groups] == [
        (0, "g", 0),
        (2, "i", 0),
    ]


def test_group_that_cannot_be_is_refused(world: InhabitedWorld) -> None:
    root = connect(world)
    for name, fault in (
        ("g", Fault.STREAM_GROUP_EXISTS),
        ("", Fault.INVALID_STREAM_GROUP_NAME),
        ("x" * 256, Fault.INVALID_STREAM_GROUP_NAME),
        ("iggy.consumer.1", Fault.INVALID_STREAM_GROUP_NAME),
    ):
        assert world.ask(CreateStreamGroup("default", "t", name), root).fault is fault
    assert world.ask(CreateStreamGroup("default", "t", "h", 0), root).fault is Fault.STREAM_GROUP_ID_EXISTS
    assert world.ask(DescribeStreamGroup("default", "t", "x"), root).fault is Fault.UNKNOWN_STREAM_GROUP
    assert world.ask(JoinStreamGroup("default", "t", 9), root) is Fault.UNKNOWN_STREAM_GROUP


def test_partitions_are_dealt_anew_when_members_come_and_go(world: InhabitedWorld) -> None:
    first, second = connect(world), connect(world)
    join(world, first)
    join(world, first)
    assert shares(world) == [(0, 1, 2)]
    join(world, second)
    assert shares(world) == [(0, 2), (1,)]
    world.ask(AddPartitions("default", "t", 1), first)
    assert shares(world) == [(0, 2), (1, 3)]
    first.presence.leave()
    assert shares(world) == [(0, 1, 2, 3)]
    assert world.ask(LeaveStreamGroup("default", "t", "g"), second) is None
    assert world.ask(LeaveStreamGroup("default", "t", "g"), second) is Fault.UNKNOWN_MEMBER_ID
    assert shares(world) == []


@given(st.lists(st.tuples(st.integers(0, 5), st.booleans()), max_size=30), st.integers(0, 7))
def test_every_partition_has_one_member_and_shares_differ_by_one(
    steps: list[tuple[int, bool]], partitions: int
) -> None:
    """R15."""
    membership = Membership(lambda: 0)
    for client, joins in steps:
        if joins:
            membership.join((0, 0, 0), client, partitions)
        else:
            membership.leave((0, 0, 0), client)
        members = membership.members((0, 0, 0), partitions)
        if members:
            dealt = sorted(index for member in members for index in member.partitions)
            assert dealt == list(range(partitions))
            sizes = [len(member.partitions) for member in members]
            assert max(sizes) - min(sizes) <= 1
            assert len({member.member_id for member in members}) == len(members)


ACTIONS = st.sampled_from(["join", "leave", "read", "read", "store", "wait"])


@given(st.lists(st.tuples(st.integers(0, 3), ACTIONS, st.integers(0, 4)), max_size=40))
def test_every_partition_has_one_member_while_some_are_handed_over(steps: list[tuple[int, str, int]]) -> None:
    """R15."""
    group, partitions, now = (0, 0, 0), 5, [0]
    membership = Membership(lambda: now[0])
    for client, action, partition in steps:
        if action == "join":
            membership.join(group, client, partitions)
        elif action == "leave":
            membership.leave(group, client)
        elif action == "read":
            membership.has_polled(group, client, partition, 7, 0)
        elif action == "store":
            membership.has_stored(group, client, partition, 7)
        else:
            now[0] += HANDOVER_MS // 2
        members = membership.members(group, partitions)
        had = sorted(index for member in members for index in member.partitions)
        assert had == (list(range(partitions)) if members else [])
    now[0] += HANDOVER_MS
    sizes = [len(member.partitions) for member in membership.members(group, partitions)]
    assert max(sizes, default=0) - min(sizes, default=0) <= 1


# -- handing partitions over -------------------------------------------------------------------------


def read_up_to(world: InhabitedWorld, caller: Caller, partition: int, offset: int) -> None:
    """It polls up to the one before ``offset``, and has not stored it."""
    assert poll(world, caller, partition).partition == partition
    assert world.ask(EndPoll("default", "t", "g", partition, offset), caller) is None


def test_member_that_lost_its_partition_while_the_disk_was_read_is_given_nothing(
    world: InhabitedWorld,
) -> None:
    """R15: what it would have been given, the newcomer reads."""
    world.write("t", b"a", b"b", partition=1)
    first, second = connect(world), connect(world)
    join(world, first)
    assert poll(world, first, 1).partition == 1
    join(world, second)
    assert poll(world, second, 1).fault is None
    assert world.ask(EndPoll("default", "t", "g", 1, 2), first) is Fault.PARTITION_NOT_OWNED
    read_up_to(world, second, 1, 2)


def store(world: InhabitedWorld, caller: Caller, partition: int, offset: int) -> Fault | None:
    return world.ask(StoreConsumerOffset("default", "t", GROUP, partition, offset), caller)


def handing_over(world: InhabitedWorld) -> tuple[Caller, Caller]:
    """Somebody has read two records of partition 1, which is to be another's."""
    world.write("t", b"a", b"b", b"c", partition=1)
    first, second = connect(world), connect(world)
    join(world, first)
    read_up_to(world, first, 1, 2)
    join(world, second)
    return first, second


def test_partition_is_handed_over_when_what_was_read_is_stored(world: InhabitedWorld) -> None:
    """R15: as Iggy 0.8 has it, so that nothing is read twice because somebody has joined."""
    first, second = handing_over(world)
    assert shares(world) == [(0, 1, 2), ()]
    assert poll(world, second).partition is None
    assert poll(world, first, 1).fault is Fault.PARTITION_NOT_OWNED
    assert {poll(world, first).partition for _ in range(4)} == {0, 2}
    assert store(world, second, 1, 2) is Fault.PARTITION_NOT_OWNED
    assert store(world, first, 1, 1) is None  # Not all of it.
    assert shares(world) == [(0, 1, 2), ()]
    assert store(world, first, 1, 2) is None
    assert shares(world) == [(0, 2), (1,)]
    assert poll(world, second).committed == 2
    assert store(world, first, 1, 3) is Fault.PARTITION_NOT_OWNED


def test_partition_is_not_waited_for_when_what_was_read_had_been_stored_before(world: InhabitedWorld) -> None:
    """As Iggy 0.8 has it: who reads again what is behind its group keeps nobody waiting."""
    world.write("t", b"a", b"b", b"c", partition=1)
    first, second = connect(world), connect(world)
    join(world, first)
    assert store(world, first, 1, 2) is None
    read_up_to(world, first, 1, 3)
    read_up_to(world, first, 1, 2)
    join(world, second)
    assert shares(world) == [(0, 2), (1,)]


def test_partition_is_handed_over_at_last_if_nothing_is_stored(world: InhabitedWorld) -> None:
    first, _ = handing_over(world)
    world.clock.advance(HANDOVER_MS - 1)
    assert shares(world) == [(0, 1, 2), ()]
    world.clock.advance(1)
    assert shares(world) == [(0, 2), (1,)]
    assert store(world, first, 1, 2) is Fault.PARTITION_NOT_OWNED


def test_partition_is_not_waited_for_when_its_member_goes(world: InhabitedWorld) -> None:
    first, _ = handing_over(world)
    third = connect(world)
    join(world, third)
    assert shares(world) == [(0, 1), (), (2,)]
    first.presence.leave()
    assert shares(world) == [(0, 2), (1,)]


def test_partition_that_comes_back_to_its_member_is_not_handed_over(world: InhabitedWorld) -> None:
    first, second = handing_over(world)
    assert world.ask(LeaveStreamGroup("default", "t", "g"), second) is None
    assert shares(world) == [(0, 1, 2)]
    assert poll(world, first, 1).partition == 1
    assert store(world, first, 1, 2) is None
    join(world, second)
    assert shares(world) == [(0, 2), (1,)]


def test_members_of_a_deleted_topic_or_group_are_members_no_more(world: InhabitedWorld) -> None:
    member = connect(world)
    join(world, member)
    me = world.ask(DescribeMe(), member).client
    assert me is not None
    assert me.groups == [ClientGroup(0, 0, 0)]
    world.ask(DeleteStreamTopic("default", "t"), member)
    me = world.ask(DescribeMe(), member).client
    assert me is not None
    assert me.groups == []


# -- polling ---------------------------------------------------------------------------------------


def test_member_is_led_through_its_partitions(world: InhabitedWorld) -> None:
    first, second = connect(world), connect(world)
    join(world, first)
    join(world, second)
    assert [poll(world, first).partition for _ in range(3)] == [0, 2, 0]
    assert [poll(world, second).partition for _ in range(2)] == [1, 1]


def test_member_without_a_partition_has_nothing_to_read(world: InhabitedWorld) -> None:
    members = [connect(world) for _ in range(4)]
    for member in members:
        join(world, member)
    assert poll(world, members[3]) == PollPlace(None, "t")


def test_poll_of_another_members_partition_is_refused_unless_nobody_minds(world: InhabitedWorld) -> None:
    first, second, stranger = connect(world), connect(world), connect(world)
    join(world, first)
    join(world, second)
    assert poll(world, first, 2).partition == 2
    assert poll(world, first, 1).fault is Fault.PARTITION_NOT_OWNED
    assert poll(world, stranger).fault is Fault.UNKNOWN_MEMBER_ID
    assert poll(world, stranger, 1).fault is Fault.UNKNOWN_MEMBER_ID
    assert world.ask(BeginPoll("default", "t", GROUP, 1, must_own=False), stranger).partition == 1


def test_poll_says_where_the_log_begins_and_ends_and_what_was_committed(world: InhabitedWorld) -> None:
    caller = connect(world)
    world.write("t", b"one", b"two", b"three")
    consumer = Consumer(7)
    place = world.ask(BeginPoll("default", "t", consumer), caller)
    assert place == PollPlace(None, "t", 0, None, 0, 3, life=place.life, topic_id=place.topic_id)
    assert world.ask(StoreConsumerOffset("default", "t", consumer, None, 2), caller) is None
    assert world.ask(BeginPoll("default", "t", consumer), caller).committed == 2
    assert world.ask(BeginPoll("default", "t", consumer, goes_on=False), caller).committed is None
    assert world.ask(BeginPoll("default", "t", consumer, 9), caller).fault is Fault.UNKNOWN_PARTITION


# -- offsets ---------------------------------------------------------------------------------------


def test_offsets_are_those_of_the_kafka_group_of_the_same_name(world: InhabitedWorld) -> None:
    """X.3: what one door commits, the others read."""
    member = connect(world)
    join(world, member)
    world.write("t", b"one", b"two")
    world.ask(StoreConsumerOffset("default", "t", GROUP, 0, 1), member)
    (group,) = world.ask(FetchOffsets([GroupOffsetsWanted("g", [("t", 0)])]), KAFKA)
    assert group.offsets[0].offset == 1
    world.ask(CommitOffsets("g", [OffsetToCommit("t", 0, 2)]), KAFKA)
    assert poll(world, member, 0).committed == 2
    world.ask(StoreConsumerOffset("default", "t", Consumer("c"), 0, 1), member)
    (group,) = world.ask(FetchOffsets([GroupOffsetsWanted("iggy.consumer.c", [("t", 0)])]), KAFKA)
    assert group.offsets[0].offset == 1


def test_offsets_are_shared_with_a_kafka_group_that_has_members(world: InhabitedWorld) -> None:
    """They share offsets, not membership."""
    member = connect(world)
    join(world, member)
    world.write("t", b"one")
    joining = JoinGroup("g", "", None, 10_000, 10_000, "consumer", [Protocol("range", b"")], False)
    world.ask_later(joining, KAFKA)
    refused = world.ask(CommitOffsets("g", [OffsetToCommit("t", 0, 1)]), KAFKA)
    assert refused[0].fault is Fault.UNKNOWN_MEMBER_ID
    assert world.ask(StoreConsumerOffset("default", "t", GROUP, 0, 1), member) is None
    assert len(shares(world)) == 1


def test_stored_offset_without_a_partition_is_of_the_one_polled_last(world: InhabitedWorld) -> None:
    member = connect(world)
    join(world, member)
    world.write("t", b"one", partition=1)
    poll(world, member)
    assert poll(world, member).partition == 1
    assert world.ask(StoreConsumerOffset("default", "t", GROUP, None, 1), member) is None
    found = world.ask(FindConsumerOffset("default", "t", GROUP, 1), member)
    assert found == FoundConsumerOffset(None, 1, 1, 1)


def test_offset_that_cannot_be_stored_is_refused(world: InhabitedWorld) -> None:
    first, second = connect(world), connect(world)
    join(world, first)
    world.write("t", b"one")
    store = StoreConsumerOffset("default", "t", GROUP, 0, 2)
    assert world.ask(store, first) is Fault.OFFSET_OUT_OF_RANGE
    assert world.ask(StoreConsumerOffset("default", "t", GROUP, 0, 1), second) is Fault.UNKNOWN_MEMBER_ID
    join(world, second)
    assert world.ask(StoreConsumerOffset("default", "t", GROUP, 0, 1), second) is Fault.PARTITION_NOT_OWNED
    assert world.ask(StoreConsumerOffset("default", "t", GROUP, 0, 1, False), second) is None


def test_offset_may_go_back_and_be_deleted_once(world: InhabitedWorld) -> None:
    caller, consumer = connect(world), Consumer("c")
    world.write("t", b"one", b"two")
    for offset in (2, 1):
        assert world.ask(StoreConsumerOffset("default", "t", consumer, 0, offset), caller) is None
    assert world.ask(FindConsumerOffset("default", "t", consumer), caller).committed == 1
    assert world.ask(DeleteConsumerOffset("default", "t", consumer, 0), caller) is None
    assert world.ask(DeleteConsumerOffset("default", "t", consumer, 0), caller) is Fault.NO_COMMITTED_OFFSET
    assert world.ask(FindConsumerOffset("default", "t", consumer), caller).committed is None


def test_offset_of_a_group_is_deleted_by_a_member_that_has_the_partition(world: InhabitedWorld) -> None:
    """002.9: as it is stored. Clients of 0.5, which need not own a partition, need not be members, either."""
    first, second = connect(world), connect(world)
    join(world, first)
    world.write("t", b"one")
    assert world.ask(StoreConsumerOffset("default", "t", GROUP, 0, 1), first) is None
    delete = DeleteConsumerOffset("default", "t", GROUP, 0)
    assert world.ask(delete, second) is Fault.UNKNOWN_MEMBER_ID
    join(world, second)
    assert world.ask(delete, second) is Fault.PARTITION_NOT_OWNED
    assert world.ask(FindConsumerOffset("default", "t", GROUP, 0), second).committed == 1
    assert world.ask(DeleteConsumerOffset("default", "t", GROUP, 0, False), second) is None
    assert world.ask(delete, first) is Fault.NO_COMMITTED_OFFSET


def test_deleted_offset_without_a_partition_is_of_the_one_polled_last(world: InhabitedWorld) -> None:
    member = connect(world)
    join(world, member)
    for partition in (0, 1):
        world.write("t", b"one", partition=partition)
        world.ask(StoreConsumerOffset("default", "t", GROUP, partition, 1), member)
    poll(world, member)
    assert poll(world, member).partition == 1
    assert world.ask(DeleteConsumerOffset("default", "t", GROUP, None), member) is None
    found = [world.ask(FindConsumerOffset("default", "t", GROUP, each), member).committed for each in (0, 1)]
    assert found == [1, None]


def test_deleted_group_takes_its_offsets_of_this_topic_along(world: InhabitedWorld) -> None:
    member = connect(world)
    join(world, member)
    world.create_topic("other")
    world.write("t", b"one")
    world.ask(StoreConsumerOffset("default", "t", GROUP, 0, 1), member)
    world.ask(CommitOffsets("g", [OffsetToCommit("other", 0, 0)]), KAFKA)
    assert world.ask(DeleteStreamGroup("default", "t", "g"), member) is None
    (group,) = world.ask(FetchOffsets([GroupOffsetsWanted("g", [("t", 0), ("other", 0)])]), KAFKA)
    assert [each.offset for each in group.offsets] == [-1, 0]


def test_offsets_of_streams_do_not_expire(world: InhabitedWorld) -> None:
    """Those of Kafka do, a week after anybody used them."""
    caller = connect(world)
    join(world, caller)
    world.write("t", b"one")
    world.coordinator.start()
    world.ask(StoreConsumerOffset("default", "t", GROUP, 0, 1), caller)
    world.ask(StoreConsumerOffset("default", "t", Consumer(1), 0, 1), caller)
    world.ask(CommitOffsets("kafka", [OffsetToCommit("t", 0, 1)]), KAFKA)
    world.pass_time(8 * 24 * 3600 * 1000)
    offsets = {
        group_id: world.ask(FetchOffsets([GroupOffsetsWanted(group_id, [("t", 0)])]), KAFKA)[0]
        .offsets[0]
        .offset
        for group_id in ("g", "iggy.consumer.1", "kafka")
    }
    assert offsets == {"g": 1, "iggy.consumer.1": 1, "kafka": -1}


# -- clients ---------------------------------------------------------------------------------------


def test_clients_have_numbers_of_their_own_until_they_go(world: InhabitedWorld) -> None:
    """002.5."""
    root, guest = connect(world), Caller(protocol="iggy")
    number = world.ask(GreetClient("10.0.0.1:5000"), guest)
    assert number > 0
    client = world.ask(DescribeClient(number), root).client
    assert client is not None
    assert (client.address, client.user_id) == ("10.0.0.1:5000", None)
    assert number in [each.client_id for each in world.ask(ListClients(), root).clients]
    guest.presence.leave()
    assert world.ask(DescribeClient(number), root).client is None
    assert world.ask(GreetClient("10.0.0.1:5000"), Caller(protocol="iggy")) != number


def test_client_that_goes_while_its_password_is_checked_leaves_nothing_behind(world: InhabitedWorld) -> None:
    root, guest = connect(world), Caller(protocol="iggy")
    world.ask(GreetClient("10.0.0.1:5000"), guest)
    before = len(world.ask(ListClients(), root).clients)
    world.passwords.holds = True
    replies = world.ask_later(LogIn("iggy", "iggy"), guest)
    guest.presence.forget()
    guest.presence.leave()
    world.passwords.release()
    assert len(replies) == 1
    assert len(world.ask(ListClients(), root).clients) == before - 1
