"""Topics and partitions: made, looked at, grown, deleted, with everything about them that can be wrong."""

from tests.interop.dialogues.family import Family
from tests.interop.dialogues.stand_ins import id_of
from tests.interop.dialogues.words import Pool

from trivium.messages.api.alter_partition_reassignments import AlterPartitionReassignmentsRequest
from trivium.messages.api.create_partitions import CreatePartitionsAssignment, CreatePartitionsRequest
from trivium.messages.api.create_topics import (
    CreatableReplicaAssignment,
    CreatableTopicConfig,
    CreateTopicsRequest,
)
from trivium.messages.api.delete_topics import DeleteTopicsRequest
from trivium.messages.api.describe_topic_partitions import (
    Cursor,
    DescribeTopicPartitionsRequest,
    TopicRequest,
)
from trivium.messages.api.elect_leaders import ElectLeadersRequest
from trivium.messages.api.list_partition_reassignments import ListPartitionReassignmentsRequest
from trivium.messages.api.metadata import MetadataRequest
from trivium.wire.uuid_text import ZERO_UUID

NAMES = Pool(
    ["§a", "§b", "§c.d"],
    [
        "§c_d",
        "",
        ".",
        "..",
        "§ with blanks",
        "§ü",
        "§" + "x" * 238,
        "§" + "x" * 239,
        "__consumer_offsets",
        "§unknown",
        "§/",
    ],
)
PARTITIONS = Pool([[0], [0, 1], [1]], [[], [-1], [7], [0, 0], [2147483647]])


def _assigned(*brokers: tuple[int, list[int]]) -> list[CreatableReplicaAssignment]:
    return [CreatableReplicaAssignment(partition_index=index, broker_ids=ids) for index, ids in brokers]


def _added(*brokers: list[int]) -> list[CreatePartitionsAssignment]:
    return [CreatePartitionsAssignment(broker_ids=ids) for ids in brokers]


def _configs(**values: str | None) -> list[CreatableTopicConfig]:
    return [CreatableTopicConfig(name=name.replace("__", "."), value=value) for name, value in values.items()]


TOPICS = Family(
    "topics",
    {
        CreateTopicsRequest: 6,
        DeleteTopicsRequest: 3,
        CreatePartitionsRequest: 4,
        DescribeTopicPartitionsRequest: 4,
        MetadataRequest: 4,
        ElectLeadersRequest: 1,
        AlterPartitionReassignmentsRequest: 2,
        ListPartitionReassignmentsRequest: 1,
    },
    {
        "name": NAMES,
        "topic": NAMES,
        "topic_names": Pool([["§a"], ["§b"], ["§c.d", "§a"]], [[], ["§a", "§a"], [""], ["§unknown"]]),
        "DeleteTopicState.name": Pool(["§a", "§b", "§c.d", "§c_d", None], ["", "§unknown", "§ü"]),
        "DeleteTopicState.topic_id": Pool(
            [ZERO_UUID, ZERO_UUID, id_of("§a"), id_of("§b")], [id_of("§unknown"), id_of("§c.d")]
        ),
        "MetadataRequestTopic.topic_id": Pool(
            [ZERO_UUID, ZERO_UUID, ZERO_UUID, id_of("§a")], [id_of("§unknown"), id_of("§c.d")]
        ),
        "MetadataRequestTopic.name": Pool(list(NAMES.likely), NAMES.odd),
        "num_partitions": Pool([1, 2, 3, -1], [0, -2, 4]),
        "replication_factor": Pool([1, -1], [0, 2, -2, 32767]),
        "CreatableTopic.assignments": Pool(
            [[], [], [], [], _assigned((0, [1])), _assigned((0, [1]), (1, [1]))],
            [
                _assigned((0, [])),
                _assigned((0, [2])),
                _assigned((0, [1, 2])),
                _assigned((0, [1, 1])),
                _assigned((1, [1])),
                _assigned((0, [1]), (0, [1])),
                _assigned((0, [1]), (2, [1])),
                _assigned((-1, [1])),
                _assigned((0, [-1])),
                _assigned((0, [1]), (1, [1, 2])),
            ],
        ),
        "CreatableTopic.configs": Pool(
            [
                [],
                [],
                _configs(retention__ms="1000"),
                _configs(cleanup__policy="compact,delete"),
                _configs(max__message__bytes="2000", compression__type="zstd"),
            ],
            [
                _configs(retention__ms="soon"),
                _configs(no__such="1"),
                _configs(retention__ms=None),
                _configs(cleanup__policy="eat"),
                _configs(segment__bytes="1"),
                _configs(compression__type=""),
                _configs(**{"": "1"}),
                _configs(min__insync__replicas="0"),
                [*_configs(retention__ms="1"), *_configs(retention__ms="2")],
                _configs(remote__storage__enable="true"),
                _configs(leader__replication__throttled__replicas="0"),
                _configs(preallocate="maybe"),
            ],
        ),
        "validate_only": Pool([False, False, False, True]),
        "timeout_ms": Pool([10_000]),
        "count": Pool([2, 3, 4, 5], [0, -1, 1, 11]),
        "CreatePartitionsTopic.assignments": Pool(
            [None, None, None, _added([1])],
            [
                [],
                _added([1], [1]),
                _added([2]),
                _added([]),
                _added([1, 1]),
                _added([1, 2]),
                _added([-1]),
                _added([1], [1, 2]),
            ],
        ),
        "DescribeTopicPartitionsRequest.topics": Pool(
            [
                [TopicRequest(name="§a")],
                [TopicRequest(name="§b"), TopicRequest(name="§a"), TopicRequest(name="§c.d")],
            ],
            [[TopicRequest(name=name)] for name in ("", "§unknown", "§ü")],
        ),
        "response_partition_limit": Pool([2000, 1, 2, 3], [0, -1, 2147483647]),
        "cursor": Pool(
            [None, None, None, Cursor(topic_name="§a", partition_index=1)],
            [
                Cursor(topic_name="§b", partition_index=0),
                Cursor(topic_name="§unknown", partition_index=0),
                Cursor(topic_name="§a", partition_index=-1),
                Cursor(topic_name="§a", partition_index=99),
                Cursor(topic_name="", partition_index=0),
            ],
        ),
        "allow_auto_topic_creation": Pool([True, False]),
        "include_cluster_authorized_operations": Pool([False, True]),
        "include_topic_authorized_operations": Pool([False, True]),
        "partitions": PARTITIONS,
        "partition_indexes": PARTITIONS,
        "partition_index": Pool([0, 1, 2], [-1, 7, 2147483647]),
        "replicas": Pool([[1], None], [[], [2], [1, 2], [1, 1], [-1]]),
        "election_type": Pool([0, 1], [2, -1]),
        "allow_replication_factor_change": Pool([True, False]),
    },
)
