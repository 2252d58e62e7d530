"""Topics and partitions: made, looked up, extended, emptied, deleted."""

from tests.golden.admin_dialogues.wording import UNKNOWN_ID, create, new, ten_records
from tests.golden.admin_player import Ask

from trivium.messages.api.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    ReassignablePartition,
    ReassignableTopic,
)
from trivium.messages.api.create_partitions import (
    CreatePartitionsAssignment,
    CreatePartitionsRequest,
    CreatePartitionsTopic,
)
from trivium.messages.api.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsTopic,
)
from trivium.messages.api.delete_topics import DeleteTopicsRequest, DeleteTopicState
from trivium.messages.api.describe_topic_partitions import (
    Cursor,
    DescribeTopicPartitionsRequest,
    TopicRequest,
)
from trivium.messages.api.elect_leaders import ElectLeadersRequest, TopicPartitions
from trivium.messages.api.list_partition_reassignments import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsTopics,
)
from trivium.messages.api.metadata import MetadataRequest, MetadataRequestTopic
from trivium.wire.uuid_text import ZERO_UUID


def topics(ask: Ask) -> None:
    """Making topics and taking them away."""
    made = ask(
        "made", create(new("a", 2, configs={"retention.ms": "60000", "min.cleanable.dirty.ratio": ".50"})), 7
    )
    ask("made with defaults", create(new("b", -1, -1)), 7)
    ask("made, old version", create(new("c", 3)), 2)
    ask("made, version with configs", create(new("d")), 5)
    ask("made already", create(new("a")), 7)
    for partitions, replication in ((0, 1), (-2, 1), (1, 0), (1, -2), (1, 2), (20_000, 1), (0, 0)):
        ask(
            f"{partitions} partitions, replication {replication}",
            create(new("n", partitions, replication)),
            7,
        )
    for name in ("", ".", "..", "x" * 249, "x" * 250, "a b", "ü", "a/b", "__cluster_metadata"):
        ask(f"name {name!r}", create(new(name)), 7)
    ask("with a dot", create(new("x.y")), 7)
    ask("with an underscore instead", create(new("x_y")), 7)
    ask("twice in one request", create(new("twice"), new("twice"), new("once")), 7)
    ask("only to be checked", create(new("checked", 4, configs={"segment.ms": "5"}), validate_only=True), 7)
    ask("only to be checked, wrong", create(new("checked", 0), validate_only=True), 7)
    wrong: list[dict[str, str | None]] = [
        {"no.such": "1"},
        {"retention.ms": "soon"},
        {"retention.ms": "-5"},
        {"retention.ms": None},
        {"retention.ms": "1", "segment.ms": None, "flush.ms": None},
        {"cleanup.policy": "shred"},
        {"segment.bytes": "10"},
        {"remote.storage.enable": "true"},
        {"min.compaction.lag.ms": "10", "max.compaction.lag.ms": "5"},
        {"compression.type": "brotli"},
        {"message.timestamp.type": "logappendtime"},
        {"leader.replication.throttled.replicas": "0-1"},
        {"unclean.leader.election.enable": "yes"},
        {"flush.messages": "99999999999999999999"},
    ]
    for number, configs in enumerate(wrong):
        ask(f"with {configs}", create(new(f"configured-{number}", configs=configs)), 7)
    ask("without cleanup", create(new("configured", configs={"cleanup.policy": ""})), 7)
    for label, topic in {
        "partitions and an assignment": new("m", 1, -1, assignments=[(0, [1])]),
        "replication and an assignment": new("m", -1, 1, assignments=[(0, [1])]),
        "an assignment twice": new("m", -1, -1, assignments=[(0, [1]), (0, [1])]),
        "an assignment with a gap": new("m", -1, -1, assignments=[(0, [1]), (2, [1])]),
        "an assignment to nobody": new("m", -1, -1, assignments=[(0, [])]),
        "an assignment to a stranger": new("m", -1, -1, assignments=[(0, [7])]),
        "an assignment to one broker twice": new("m", -1, -1, assignments=[(0, [1, 1])]),
        "an assignment": new("m", -1, -1, assignments=[(1, [1]), (0, [1])]),
    }.items():
        ask(label, create(topic), 7)
    ask("no topics", create(), 7)
    topic_id = made.topics[0].topic_id
    deletions: dict[str, list[tuple[str | None, bytes]]] = {
        "delete neither name nor id": [(None, ZERO_UUID)],
        "delete name and id": [("b", topic_id)],
        "delete a name twice": [("b", ZERO_UUID), ("b", ZERO_UUID)],
        "delete an id twice": [(None, topic_id), (None, topic_id)],
        "delete an unknown name": [("unknown", ZERO_UUID)],
        "delete an unknown id": [(None, UNKNOWN_ID)],
        "delete a name and its id": [("a", ZERO_UUID), (None, topic_id)],
        "delete by id": [(None, topic_id)],
        "delete by name": [("b", ZERO_UUID)],
        "delete again": [("b", ZERO_UUID)],
    }
    for label, states in deletions.items():
        request = DeleteTopicsRequest(
            topics=[DeleteTopicState(name=name, topic_id=each) for name, each in states], timeout_ms=10_000
        )
        ask(label, request, 6)
    ask("delete, first version", DeleteTopicsRequest(topic_names=["c", "unknown"], timeout_ms=10_000), 1)
    ask(
        "delete, version with messages",
        DeleteTopicsRequest(topic_names=["d", "unknown"], timeout_ms=10_000),
        5,
    )


def more(name: str, count: int, assignments: list[list[int]] | None = None) -> CreatePartitionsTopic:
    return CreatePartitionsTopic(
        name=name,
        count=count,
        assignments=None
        if assignments is None
        else [CreatePartitionsAssignment(broker_ids=brokers) for brokers in assignments],
    )


def partitions(ask: Ask) -> None:
    """More partitions, their leaders and where they lie."""
    ask("made", create(new("a", 2), new("b", 1)), 7)
    for label, wanted in {
        "of an unknown topic": [more("unknown", 3)],
        "as many": [more("a", 2)],
        "fewer": [more("a", 1)],
        "none": [more("a", 0)],
        "a topic twice": [more("a", 3), more("a", 4)],
        "too few assignments": [more("a", 4, [[1]])],
        "too many assignments": [more("a", 3, [[1], [1]])],
        "no assignments": [more("a", 3, [])],
        "to a stranger": [more("a", 3, [[7]])],
        "to nobody": [more("a", 3, [[]])],
        "to one broker twice": [more("a", 3, [[1, 1]])],
        "one by hand": [more("a", 3, [[1]])],
        "one more": [more("a", 4), more("unknown", 3)],
    }.items():
        ask(label, CreatePartitionsRequest(topics=wanted, timeout_ms=10_000, validate_only=False), 3)
    ask("checked", CreatePartitionsRequest(topics=[more("a", 9)], timeout_ms=10_000, validate_only=True), 3)
    ask(
        "first version",
        CreatePartitionsRequest(topics=[more("a", 5)], timeout_ms=10_000, validate_only=False),
        0,
    )

    def elect(label: str, asked: list[tuple[str, list[int]]] | None, kind: int = 0, version: int = 2) -> None:
        parts = None if asked is None else [TopicPartitions(topic=t, partitions=p) for t, p in asked]
        ask(
            label, ElectLeadersRequest(election_type=kind, topic_partitions=parts, timeout_ms=10_000), version
        )

    elect("elect preferred", [("a", [0, 1])])
    elect("elect unclean", [("a", [0])], kind=1)
    elect("elect by no known way", [("a", [0])], kind=5)
    elect("elect all", None)
    elect("elect unknown", [("unknown", [0]), ("a", [99])])
    elect("elect, first version", [("a", [0])], version=0)

    def reassign(label: str, asked: list[tuple[str, int, list[int] | None]], version: int = 1) -> None:
        request = AlterPartitionReassignmentsRequest(
            timeout_ms=10_000,
            topics=[
                ReassignableTopic(
                    name=topic, partitions=[ReassignablePartition(partition_index=index, replicas=replicas)]
                )
                for topic, index, replicas in asked
            ],
        )
        ask(label, request, version)

    reassign("to where it is", [("a", 0, [1])])
    reassign("to where it is, first version", [("a", 0, [1])], version=0)
    reassign("to a strange broker", [("a", 0, [2])])
    reassign("to a strange broker also", [("a", 0, [1, 2])])
    reassign("to no broker", [("a", 0, [])])
    reassign("to a broker twice", [("a", 0, [1, 1])])
    reassign("cancelled", [("a", 0, None)])
    reassign("of unknown ones", [("unknown", 0, [1]), ("a", 99, [1]), ("unknown", 0, None)])
    ask("list reassignments", ListPartitionReassignmentsRequest(topics=None), 0)
    ask(
        "list reassignments of some",
        ListPartitionReassignmentsRequest(
            topics=[
                ListPartitionReassignmentsTopics(name="a", partition_indexes=[0]),
                ListPartitionReassignmentsTopics(name="unknown", partition_indexes=[0]),
            ]
        ),
        0,
    )


def records(ask: Ask) -> None:
    """Taking records away."""
    ask(
        "made",
        create(
            new("a", 2),
            new("compacted", configs={"cleanup.policy": "compact"}),
            new("both", configs={"cleanup.policy": "compact,delete"}),
            new("forever", configs={"cleanup.policy": ""}),
        ),
        2,
    )
    for topic in ("a", "compacted", "both"):
        ten_records(ask, topic)

    def delete(label: str, *asked: tuple[str, int, int], version: int = 2) -> None:
        request = DeleteRecordsRequest(
            topics=[
                DeleteRecordsTopic(
                    name=topic, partitions=[DeleteRecordsPartition(partition_index=index, offset=offset)]
                )
                for topic, index, offset in asked
            ],
            timeout_ms=10_000,
        )
        ask(label, request, version)

    delete("before the fourth", ("a", 0, 3))
    delete("what is gone", ("a", 0, 2))
    delete("behind the end", ("a", 0, 11))
    delete("before the beginning", ("a", 0, -2))
    delete("of unknown ones", ("unknown", 0, 1), ("a", 9, 1))
    delete("of a compacted topic", ("compacted", 0, 3))
    delete("of a compacted topic with retention", ("both", 0, 3))
    delete("of a topic without cleanup", ("forever", 0, 0))
    delete("of an empty partition", ("a", 1, 0))
    delete("all", ("a", 0, -1), version=0)


def lookups(ask: Ask) -> None:
    """Looking topics up, by name and by id, whole and in pages."""
    made = ask("made", create(new("b", 3), new("a", 2), new("c", 1)), 7)
    topic_id = made.topics[0].topic_id

    def metadata(
        label: str,
        asked: list[str | bytes] | None,
        version: int = 13,
        *,
        may_create: bool = False,
        operations: bool = False,
    ) -> None:
        request = MetadataRequest(
            topics=None
            if asked is None
            else [
                MetadataRequestTopic(name=each)
                if isinstance(each, str)
                else MetadataRequestTopic(name=None, topic_id=each)
                for each in asked
            ],
            allow_auto_topic_creation=may_create or version < 4,
            include_topic_authorized_operations=operations,
            include_cluster_authorized_operations=operations and version <= 10,
        )
        ask(label, request, version)

    metadata("all", None)
    metadata("all, first version", [], 0)
    metadata("none", [])
    metadata("none, version 1", [], 1)
    metadata("all with operations", None, operations=True)
    metadata("all with operations of the cluster", None, 9, operations=True)
    metadata("one by id", [topic_id], 12)
    metadata("one by id, version without", [topic_id], 11)
    metadata("an unknown id", [UNKNOWN_ID])
    metadata("the same twice", ["a", "a"])
    metadata("unknown", ["unknown"], operations=True)
    metadata("impossible names", ["", "a b", "x" * 250])
    metadata("impossible names that may be made", ["a b", "x" * 250], may_create=True)

    def describe(
        label: str, names: list[str], limit: int = 2000, cursor: tuple[str, int] | None = None
    ) -> None:
        request = DescribeTopicPartitionsRequest(
            topics=[TopicRequest(name=name) for name in names],
            response_partition_limit=limit,
            cursor=None if cursor is None else Cursor(topic_name=cursor[0], partition_index=cursor[1]),
        )
        ask(label, request, 0)

    describe("described in order", ["c", "unknown", "a", "b"])
    describe("described all", [])
    describe("described twice", ["a", "a"])
    describe("first page", [], 3)
    describe("second page", [], 3, ("b", 1))
    describe("page at the end of a topic", [], 2)
    describe("page of one topic", ["b"], 2)
    describe("page behind a topic that is gone", [], 2, ("aa", 5))
    describe("page behind the last partition", ["a", "b"], 2, ("a", 2))
    describe("page behind an unknown topic", ["unknown", "c"], 2, ("unknown", 0))
    describe("page before the first partition", ["a"], 2, ("a", -1))
    describe("page with names before the cursor", ["a", "b", "c"], 2, ("b", 0))
    describe("without limit", ["b"], 0)
    describe("with a limit below zero", ["b"], -1)
    describe("impossible name", ["a b"])
