"""Streams and their topics: made, changed, emptied and removed, whoever made them (002.10-002.13, X.2)."""

import pytest

from tests.core.inhabited import InhabitedWorld
from trivium.core.access import Operation, Resource
from trivium.core.caller import Caller
from trivium.core.commands.clients import MeasureNode
from trivium.core.commands.offsets import CommitOffsets, FetchOffsets, GroupOffsetsWanted, OffsetToCommit
from trivium.core.commands.stream_groups import CreateStreamGroup, DescribeStreamGroup
from trivium.core.commands.streams import (
    UNLIMITED,
    AddPartitions,
    CreateStream,
    CreateStreamTopic,
    DeleteSegments,
    DeleteStream,
    DeleteStreamTopic,
    DescribedStreamTopic,
    DescribeStream,
    DescribeStreamTopic,
    DropPartitions,
    FlushPartition,
    ListStreams,
    ListStreamTopics,
    LocatedTopic,
    LocateTopic,
    PurgeStream,
    PurgeStreamTopic,
    StreamTopicFacts,
    TopicOptions,
    UpdateStream,
    UpdateStreamTopic,
)
from trivium.core.commands.topics import CreateTopics, DeleteTopics, NewTopic
from trivium.core.commands.users import CreateUser
from trivium.core.faults import Fault, Refused
from trivium.core.streams.registry import CHOSEN_ID_MAX, ID_MAX, new_id
from trivium.core.users.permissions import Permissions, StreamPermissions, TopicPermissions

KAFKA = Caller()
GIB = 1 << 30


@pytest.fixture
def world() -> InhabitedWorld:
    return InhabitedWorld()


@pytest.fixture
def root(world: InhabitedWorld) -> Caller:
    return world.found()


def topic_of(world: InhabitedWorld, caller: Caller, stream: str, topic: str) -> StreamTopicFacts:
    facts = world.ask(DescribeStreamTopic(stream, topic), caller).topic
    assert facts is not None
    return facts


def shape(world: InhabitedWorld, caller: Caller) -> dict[str, list[tuple[int, str, str]]]:
    """Everything there is: by stream, number, name and Kafka name of its topics."""
    return {
        f"{stream.stream_id} {stream.name}": [
            (topic.topic_id, topic.name, topic.topic)
            for topic in world.ask(ListStreamTopics(stream.stream_id), caller).topics
        ]
        for stream in world.ask(ListStreams(), caller).streams
    }


# -- streams ---------------------------------------------------------------------------------------


def test_default_stream_is_always_there_and_stays(world: InhabitedWorld, root: Caller) -> None:
    assert shape(world, root) == {"0 default": []}
    assert world.ask(DeleteStream("default"), root) is Fault.STREAM_IS_PERMANENT
    assert world.ask(UpdateStream(0, "other"), root) is Fault.STREAM_IS_PERMANENT
    assert world.ask(UpdateStream(0, "default"), root) is None


def test_streams_and_topics_keep_their_numbers_over_a_restart(world: InhabitedWorld, root: Caller) -> None:
    world.ask(CreateStream("shop"), root)
    world.ask(CreateStreamTopic("shop", "orders", 2), root)
    world.ask(CreateStreamTopic(1, "bills", 1), root)
    world.ask(CreateTopics([NewTopic("shop.items", 1), NewTopic("plain", 1)]), KAFKA)
    before = shape(world, root)
    assert before == {
        "0 default": [(0, "plain", "plain")],
        "1 shop": [
            (0, "orders", "shop.orders"),
            (1, "bills", "shop.bills"),
            (2, "items", "shop.items"),
        ],
    }
    world.restart()
    assert shape(world, root) == before


def test_numbers_of_what_is_gone_are_never_given_again(world: InhabitedWorld, root: Caller) -> None:
    world.ask(CreateStream("one"), root)
    world.ask(CreateStreamTopic("default", "t", 1), root)
    world.ask(DeleteStream("one"), root)
    world.ask(DeleteStreamTopic("default", "t"), root)
    world.restart()
    stream = world.ask(CreateStream("two"), root).stream
    assert stream is not None
    assert stream.stream_id == 2
    topic = world.ask(CreateStreamTopic("default", "t", 1), root).topic
    assert topic is not None
    assert topic.topic_id == 1


def test_number_may_be_chosen_where_it_is_free(world: InhabitedWorld, root: Caller) -> None:
    """002.23: clients of release 0.5 may."""
    assert world.ask(CreateStream("a", 7), root).fault is None
    assert world.ask(CreateStream("b", 7), root).fault is Fault.STREAM_ID_EXISTS
    assert world.ask(CreateStreamTopic(7, "t", 1, topic_id=4), root).fault is None
    assert world.ask(CreateStreamTopic(7, "u", 1, topic_id=4), root).fault is Fault.TOPIC_ID_EXISTS
    world.ask(CreateStreamTopic(7, "u", 1), root)
    stream = world.ask(CreateStream("b"), root).stream
    assert stream is not None
    assert stream.stream_id == 8
    assert shape(world, root)["7 a"] == [(4, "t", "a.t"), (5, "u", "a.u")]


def test_number_behind_the_last_is_refused() -> None:
    assert new_id(None, ID_MAX, {}, Fault.STREAM_ID_EXISTS) == ID_MAX
    with pytest.raises(Refused) as refused:
        new_id(None, ID_MAX + 1, {}, Fault.STREAM_ID_EXISTS)
    assert refused.value.fault is Fault.STREAM_ID_EXISTS


def test_chosen_number_leaves_room_for_those_that_come_after_it(world: InhabitedWorld, root: Caller) -> None:
    """With the last number taken nobody could make anything any more, through any door."""
    world.ask(CreateStream("a"), root)
    world.ask(CreateStreamTopic("a", "t", 1), root)

    def make(name: str, number: int | None) -> list[Fault | None]:
        return [
            world.ask(CreateStream(name, number), root).fault,
            world.ask(CreateStreamTopic("a", name, 1, topic_id=number), root).fault,
            world.ask(CreateStreamGroup("a", "t", name, number), root).fault,
        ]

    taken = [Fault.STREAM_ID_EXISTS, Fault.TOPIC_ID_EXISTS, Fault.STREAM_GROUP_ID_EXISTS]
    assert make("b", (1 << 32) - 2) == make("b", CHOSEN_ID_MAX + 1) == taken
    assert make("b", CHOSEN_ID_MAX) == make("c", None) == [None] * 3
    stream = world.ask(DescribeStream("c"), root).stream
    topic = world.ask(DescribeStreamTopic("a", "c"), root).topic
    group = world.ask(DescribeStreamGroup("a", "t", "c"), root).group
    assert stream is not None
    assert topic is not None
    assert group is not None
    assert {stream.stream_id, topic.topic_id, group.group_id} == {CHOSEN_ID_MAX + 1}


def test_stream_that_cannot_be_is_refused(world: InhabitedWorld, root: Caller) -> None:
    assert world.ask(CreateStream(""), root).fault is Fault.INVALID_STREAM_NAME
    assert world.ask(CreateStream("x" * 256), root).fault is Fault.INVALID_STREAM_NAME
    assert world.ask(CreateStream("default"), root).fault is Fault.STREAM_EXISTS
    assert world.ask(DescribeStream("nowhere"), root).fault is Fault.UNKNOWN_STREAM
    assert world.ask(DescribeStream(99), root).fault is Fault.UNKNOWN_STREAM


def test_renamed_stream_keeps_its_topics_under_their_kafka_names(world: InhabitedWorld, root: Caller) -> None:
    world.ask(CreateStream("shop"), root)
    world.ask(CreateStreamTopic("shop", "orders", 1), root)
    assert world.ask(UpdateStream("shop", "store"), root) is None
    world.ask(CreateStreamTopic("store", "bills", 1), root)
    world.restart()
    expected = [(0, "orders", "shop.orders"), (1, "bills", "store.bills")]
    assert shape(world, root)["1 store"] == expected


def test_deleted_stream_takes_its_topics_along(world: InhabitedWorld, root: Caller) -> None:
    world.ask(CreateStream("shop"), root)
    world.ask(CreateStreamTopic("shop", "orders", 1), root)
    assert world.ask(DeleteStream("shop"), root) is None
    assert "shop.orders" not in world.image.topics.by_name
    world.restart()
    assert shape(world, root) == {"0 default": []}


# -- topics of other doors -------------------------------------------------------------------------


def test_topics_that_are_there_before_streams_are_used_are_entered_then() -> None:
    """The Kafka directory that is opened: nothing is written before anybody asks for streams."""
    world = InhabitedWorld()
    world.ask(CreateTopics([NewTopic("b", 1), NewTopic("a", 1)]), KAFKA)
    assert "__trivium" not in world.image.topics.by_name
    root = world.found()
    assert shape(world, root) == {"0 default": [(0, "b", "b"), (1, "a", "a")]}


def test_topic_that_kafka_deletes_is_struck_out(world: InhabitedWorld, root: Caller) -> None:
    world.ask(CreateStreamTopic("default", "t", 1), root)
    world.ask(DeleteTopics(["t"]), KAFKA)
    assert world.ask(DescribeStreamTopic("default", "t"), root).fault is Fault.UNKNOWN_STREAM_TOPIC
    world.restart()
    assert shape(world, root) == {"0 default": []}


def test_start_makes_good_what_a_crash_left_between_two_logs(world: InhabitedWorld, root: Caller) -> None:
    world.ask(CreateStream("shop"), root)
    world.ask(CreateStreamTopic("default", "gone", 1), root)
    log = world.log("__trivium")
    log.fault = Fault.STORAGE
    world.ask(CreateTopics([NewTopic("shop.new", 1)]), KAFKA)
    world.ask(DeleteTopics(["gone"]), KAFKA)
    log.fault = None
    world.restart()
    assert shape(world, root) == {"0 default": [], "1 shop": [(0, "new", "shop.new")]}


def may_read(world: InhabitedWorld, caller: Caller, topic: str) -> bool:
    return world.access.allows(caller, Operation.READ, Resource.TOPIC, topic)


def reader_of(world: InhabitedWorld, root: Caller, topic_id: int) -> Caller:
    """A user who may poll this topic of the stream ``default``, and nothing else."""
    on_topic = TopicPermissions(poll_messages=True)
    rights = Permissions(streams={0: StreamPermissions(topics={topic_id: on_topic})})
    world.ask(CreateUser("ann", "secret", permissions=rights), root)
    return world.log_in("ann", "secret")


def test_topic_made_again_by_kafka_inherits_neither_number_nor_rights(
    world: InhabitedWorld, root: Caller
) -> None:
    world.create_topic("t")
    ann = reader_of(world, root, 0)
    assert may_read(world, ann, "t")
    world.ask(DeleteTopics(["t"]), root)
    world.create_topic("t")
    assert not may_read(world, ann, "t")
    world.restart()
    assert not may_read(world, ann, "t")
    assert shape(world, root) == {"0 default": [(1, "t", "t")]}


def test_topic_made_again_while_the_registry_could_not_be_written_is_another_one(
    world: InhabitedWorld, root: Caller
) -> None:
    world.create_topic("t")
    ann = reader_of(world, root, 0)
    log = world.log("__trivium")
    log.fault = Fault.STORAGE
    world.ask(DeleteTopics(["t"]), root)
    world.create_topic("t")
    assert not may_read(world, ann, "t")
    log.fault = None
    world.restart()
    assert not may_read(world, ann, "t")
    assert shape(world, root) == {"0 default": [(1, "t", "t")]}


def test_topic_whose_purge_the_registry_did_not_hear_of_is_the_same_one(
    world: InhabitedWorld, root: Caller
) -> None:
    """The crash comes between the metadata, which has the new id, and the registry."""
    world.create_topic("t")
    ann = reader_of(world, root, 0)
    log = world.log("__trivium")
    world.cluster.removed.append(lambda _topic: setattr(log, "fault", Fault.STORAGE))
    assert world.ask(PurgeStreamTopic("default", "t"), root) is Fault.STORAGE
    assert may_read(world, ann, "t")
    log.fault = None
    world.restart()
    assert may_read(world, ann, "t")
    assert shape(world, root) == {"0 default": [(0, "t", "t")]}


def test_topic_whose_purge_came_to_nothing_is_the_same_one(world: InhabitedWorld, root: Caller) -> None:
    """The crash comes before the metadata is written."""
    world.create_topic("t")
    ann = reader_of(world, root, 0)
    metadata = world.log("__cluster_metadata")
    metadata.fault = Fault.STORAGE
    assert world.ask(PurgeStreamTopic("default", "t"), root) is Fault.STORAGE
    metadata.fault = None
    world.restart()
    assert may_read(world, ann, "t")
    assert shape(world, root) == {"0 default": [(0, "t", "t")]}


def test_streams_are_shown_to_those_only_who_may_see_them(world: InhabitedWorld, root: Caller) -> None:
    """S11: what is missing and what is forbidden look alike."""
    world.ask(CreateStream("hers"), root)
    world.ask(CreateStreamTopic("hers", "t", 1), root)
    hers = Permissions(streams={1: StreamPermissions(manage_stream=True, manage_topics=True)})
    world.ask(CreateUser("ann", "secret", permissions=hers), root)
    ann = world.log_in("ann", "secret")
    assert world.ask(DescribeStream("hers"), ann).fault is None
    assert world.ask(DescribeStreamTopic("hers", "missing"), ann).fault is Fault.UNKNOWN_STREAM_TOPIC
    assert world.ask(CreateStreamTopic("hers", "own", 1), ann).fault is None
    assert world.ask(ListStreams(), ann).fault is Fault.NOT_AUTHORIZED_STREAM
    assert world.ask(CreateStream("new"), ann).fault is Fault.NOT_AUTHORIZED_STREAM
    assert world.ask(DescribeStream("default"), ann) == world.ask(DescribeStream("missing"), ann)
    for topic in ("t", "missing"):
        for stream in ("default", "missing"):
            refused = world.ask(DescribeStreamTopic(stream, topic), ann)
            assert refused.fault is Fault.NOT_AUTHORIZED_TOPIC


def test_rights_of_a_user_hold_at_kafkas_door_too(world: InhabitedWorld, root: Caller) -> None:
    """S10: the same user, the same answer."""
    world.ask(CreateStream("hers"), root)
    hers = Permissions(streams={1: StreamPermissions(manage_topics=True)})
    world.ask(CreateUser("ann", "secret", permissions=hers), root)
    ann = Caller(principal="User:ann", protocol="kafka", user_id=1)
    made = world.ask(CreateTopics([NewTopic("hers.t", 1), NewTopic("t", 1)]), ann)
    assert [each.fault for each in made] == [None, Fault.NOT_AUTHORIZED_TOPIC]
    assert world.ask(DeleteTopics(["hers.t"]), ann)[0].fault is None


# -- making topics ---------------------------------------------------------------------------------


def test_topic_is_described_as_it_was_made(world: InhabitedWorld, root: Caller) -> None:
    world.ask(CreateStream("shop"), root)
    options = TopicOptions(2, 1_500_500, 4 * GIB, 3)
    made = world.ask(CreateStreamTopic("shop", "orders", 2, options), root)
    assert made.topic == StreamTopicFacts(
        0,
        "orders",
        "shop.orders",
        world.clock.wall_ms() * 1000,
        2,
        1_500_500,
        2,
        4 * GIB,
        3,
        0,
        0,
    )
    assert [part.partition for part in made.partitions] == [0, 1]
    configs = world.image.configs.of_topic("shop.orders")
    assert configs == {"retention.ms": "1501", "retention.bytes": str(2 * GIB)}
    world.restart()
    assert topic_of(world, root, "shop", "orders") == made.topic


def test_options_say_what_is_in_force_whoever_has_set_it(world: InhabitedWorld, root: Caller) -> None:
    world.ask(CreateStreamTopic("default", "t", 2, TopicOptions(1, 2_000_000, 2 * GIB)), root)
    topic = topic_of(world, root, "default", "t")
    assert (topic.message_expiry_us, topic.size_bytes_max, topic.replication_factor) == (
        2_000_000,
        2 * GIB,
        1,
    )
    world.ask(UpdateStreamTopic("default", "t", "t", TopicOptions(1, UNLIMITED, 4 * GIB)), root)
    topic = topic_of(world, root, "default", "t")
    assert (topic.message_expiry_us, topic.size_bytes_max) == (UNLIMITED, 4 * GIB)
    world.create_topic("u", 2, retention_ms="1000", retention_bytes="500")
    topic = topic_of(world, root, "default", "u")
    assert (topic.message_expiry_us, topic.size_bytes_max) == (1_000_000, 1000)


def test_default_expiry_is_never_and_the_size_unlimited(world: InhabitedWorld, root: Caller) -> None:
    """As with Iggy's own servers; a topic that Kafka's clients make has the week that they expect."""
    world.ask(CreateStreamTopic("default", "t", 1), root)
    world.ask(CreateStreamTopic("default", "u", 1, TopicOptions(1, 2_000_000)), root)
    world.ask(UpdateStreamTopic("default", "u", "u"), root)
    world.create_topic("k")
    found = {name: topic_of(world, root, "default", name) for name in ("t", "u", "k")}
    assert {name: topic.message_expiry_us for name, topic in found.items()} == {
        "t": UNLIMITED,
        "u": UNLIMITED,
        "k": 7 * 24 * 3600 * 1_000_000,
    }
    assert {topic.size_bytes_max for topic in found.values()} == {UNLIMITED}
    assert world.image.configs.of_topic("t")["retention.ms"] == "-1"


@pytest.mark.parametrize(
    ("world", "expiry_us"),
    [
        (InhabitedWorld(log_retention_ms="5"), 5_000),
        (InhabitedWorld(log_retention_minutes="5"), 300_000_000),
        (InhabitedWorld(log_retention_hours="5"), 18_000_000_000),
    ],
)
def test_default_expiry_is_the_retention_that_the_operator_has_set(
    world: InhabitedWorld, expiry_us: int
) -> None:
    root = world.found()
    world.ask(CreateStreamTopic("default", "t", 1), root)
    assert topic_of(world, root, "default", "t").message_expiry_us == expiry_us
    assert "retention.ms" not in world.image.configs.of_topic("t")


def test_topic_that_cannot_be_is_refused_and_not_made(world: InhabitedWorld, root: Caller) -> None:
    world.create_topic("a_b")
    for command, fault in (
        (CreateStreamTopic("nowhere", "t", 1), Fault.UNKNOWN_STREAM),
        (CreateStreamTopic("default", "", 1), Fault.INVALID_TOPIC_NAME),
        (CreateStreamTopic("default", "x" * 250, 1), Fault.INVALID_TOPIC_NAME),
        (CreateStreamTopic("default", "__trivium", 1), Fault.INVALID_TOPIC_NAME),
        (CreateStreamTopic("default", "t", 1001), Fault.TOO_MANY_PARTITIONS),
        (CreateStreamTopic("default", "a_b", 1), Fault.TOPIC_EXISTS),
        (CreateStreamTopic("default", "a.b", 1), Fault.TOPIC_EXISTS),
        (
            CreateStreamTopic("default", "t", 1, TopicOptions(size_bytes_max=GIB - 1)),
            Fault.INVALID_TOPIC_SIZE,
        ),
    ):
        assert world.ask(command, root).fault is fault
    assert shape(world, root) == {"0 default": [(0, "a_b", "a_b")]}


def test_topic_whose_records_cannot_be_written_is_not_expected_for_ever(
    world: InhabitedWorld, root: Caller
) -> None:
    world.ask(CreateStream("shop"), root)
    world.log("__cluster_metadata").fault = Fault.STORAGE
    assert world.ask(CreateStreamTopic("shop", "t", 1), root).fault is Fault.STORAGE
    world.log("__cluster_metadata").fault = None
    assert world.ask(CreateStreamTopic("shop", "t", 1), root).fault is None


def test_answer_to_a_new_topic_waits_for_both_logs(world: InhabitedWorld, root: Caller) -> None:
    """R2."""
    world.storage.holds_syncs = True
    replies: list[DescribedStreamTopic] = world.ask_later(CreateStreamTopic("default", "t", 1), root)
    assert replies == []
    world.storage.sync()
    assert replies[0].fault is None


def test_renamed_topic_is_the_same_topic(world: InhabitedWorld, root: Caller) -> None:
    world.ask(CreateStreamTopic("default", "t", 1), root)
    world.ask(CreateStreamTopic("default", "u", 1), root)
    assert world.ask(UpdateStreamTopic("default", "t", "u"), root) is Fault.TOPIC_EXISTS
    assert world.ask(UpdateStreamTopic("default", "t", "new name"), root) is None
    world.create_topic("t.2")
    world.restart()
    assert shape(world, root)["0 default"] == [(0, "new name", "t"), (1, "u", "u"), (2, "t.2", "t.2")]


# -- emptying --------------------------------------------------------------------------------------


def test_purged_topic_begins_anew_at_offset_0_with_nothing_committed(
    world: InhabitedWorld, root: Caller
) -> None:
    world.ask(CreateStreamTopic("default", "t", 2, TopicOptions(size_bytes_max=2 * GIB)), root)
    world.write("t", b"one", b"two")
    world.ask(CommitOffsets("g", [OffsetToCommit("t", 0, 2)]), KAFKA)
    before = world.image.topics.by_name["t"].topic_id
    assert world.ask(PurgeStreamTopic("default", "t"), root) is None
    assert world.image.topics.by_name["t"].topic_id != before
    topic = topic_of(world, root, "default", "t")
    assert (topic.topic_id, topic.messages_count, topic.partitions_count) == (0, 0, 2)
    assert topic.size_bytes_max == 2 * GIB
    assert world.log("t").log_end_offset == 0
    (group,) = world.ask(FetchOffsets([GroupOffsetsWanted("g", [("t", 0)])]), KAFKA)
    assert group.offsets[0].offset == -1
    world.restart()
    assert shape(world, root) == {"0 default": [(0, "t", "t")]}


def test_purged_stream_keeps_its_topics_empty(world: InhabitedWorld, root: Caller) -> None:
    world.ask(CreateStreamTopic("default", "t", 1), root)
    world.ask(CreateStreamTopic("default", "u", 1), root)
    world.write("t", b"one")
    world.write("u", b"one")
    assert world.ask(PurgeStream("default"), root) is None
    stream = world.ask(DescribeStream("default"), root).stream
    assert stream is not None
    assert (stream.topics_count, stream.messages_count, stream.size_bytes) == (2, 0, 0)


def test_segments_go_oldest_first_and_the_last_one_stays(world: InhabitedWorld, root: Caller) -> None:
    """002.13: in these logs every batch is a segment."""
    world.ask(CreateStreamTopic("default", "t", 1), root)
    world.write("t", b"one", b"two", b"three")
    assert world.ask(DeleteSegments("default", "t", 0, 2), root) is None
    assert world.log("t").log_start_offset == 2
    assert world.ask(DeleteSegments("default", "t", 0, 99), root) is None
    assert (world.log("t").log_start_offset, world.log("t").log_end_offset) == (3, 3)
    assert world.ask(DeleteSegments("default", "t", 1, 1), root) is Fault.UNKNOWN_PARTITION


# -- partitions ------------------------------------------------------------------------------------


def test_partitions_are_added_and_dropped_from_the_end(world: InhabitedWorld, root: Caller) -> None:
    """002.12."""
    world.ask(CreateStreamTopic("default", "t", 1, TopicOptions(size_bytes_max=6 * GIB)), root)
    assert world.ask(AddPartitions("default", "t", 2), root) is None
    assert sorted(world.image.topics.by_name["t"].partitions) == [0, 1, 2]
    assert world.image.configs.of_topic("t")["retention.bytes"] == str(2 * GIB)
    world.write("t", b"gone", partition=2)
    world.ask(CommitOffsets("g", [OffsetToCommit("t", 2, 1), OffsetToCommit("t", 0, 0)]), KAFKA)
    assert world.ask(DropPartitions("default", "t", 2), root) is None
    assert sorted(world.image.topics.by_name["t"].partitions) == [0]
    assert topic_of(world, root, "default", "t").size_bytes_max == 6 * GIB
    assert world.ask(AddPartitions("default", "t", 2), root) is None
    assert world.log("t", 2).log_end_offset == 0
    (group,) = world.ask(FetchOffsets([GroupOffsetsWanted("g", [("t", 2), ("t", 0)])]), KAFKA)
    assert [each.offset for each in group.offsets] == [-1, 0]


def test_partitions_that_are_not_there_cannot_be_dropped(world: InhabitedWorld, root: Caller) -> None:
    world.ask(CreateStreamTopic("default", "t", 2), root)
    for count in (3, 1001):
        assert world.ask(DropPartitions("default", "t", count), root) is Fault.INVALID_PARTITIONS
    assert world.ask(DropPartitions("default", "t", 0), root) is Fault.TOO_MANY_PARTITIONS
    for count in (0, 1001):
        assert world.ask(AddPartitions("default", "t", count), root) is Fault.TOO_MANY_PARTITIONS
    assert len(world.image.topics.by_name["t"].partitions) == 2


def test_setting_of_kafka_is_left_alone_when_partitions_change(world: InhabitedWorld, root: Caller) -> None:
    world.create_topic("t", 2, retention_ms="5000", retention_bytes="700")
    assert world.ask(AddPartitions("default", "t", 1), root) is None
    assert world.image.configs.of_topic("t") == {"retention.ms": "5000", "retention.bytes": "700"}


def test_topic_without_partitions_can_be_made_and_written_to_later(
    world: InhabitedWorld, root: Caller
) -> None:
    world.ask(CreateStreamTopic("default", "t", 0), root)
    assert world.ask(LocateTopic("default", "t"), root).fault is Fault.NO_PARTITIONS
    world.ask(AddPartitions("default", "t", 1), root)
    assert world.ask(LocateTopic("default", "t"), root) == LocatedTopic(None, "t", 1, 0)


def test_turns_of_a_topic_go_round_its_partitions(world: InhabitedWorld, root: Caller) -> None:
    world.ask(CreateStream("shop"), root)
    world.ask(CreateStreamTopic("shop", "t", 3), root)
    turns = [world.ask(LocateTopic("shop", "t", takes_turn=True), root).turn for _ in range(5)]
    assert turns == [0, 1, 2, 0, 1]
    assert world.ask(LocateTopic("shop", 0), root).topic == "shop.t"


def test_flush_is_answered_when_everything_is_on_disk(world: InhabitedWorld, root: Caller) -> None:
    world.ask(CreateStreamTopic("default", "t", 1), root)
    world.storage.holds_syncs = True
    replies = world.ask_later(FlushPartition("default", "t", 0), root)
    assert replies == []
    world.storage.sync()
    assert replies == [None]


def test_node_counts_what_is_in_its_log(world: InhabitedWorld, root: Caller) -> None:
    world.ask(CreateStreamTopic("default", "t", 2), root)
    world.write("t", b"one", b"two")
    figures = world.ask(MeasureNode(), root)
    assert figures.machine.process_id == 42
    assert figures.log[1:4] == (1, 1, 2)
    assert (figures.log.messages_count, figures.log.clients_count) == (2, 1)
