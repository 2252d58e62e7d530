"""Topics over the wire, in every version (mission 001.13-001.33, 001.44)."""

import struct

import pytest

from tests.core.rights import Denying
from tests.protocols.kafka.administrator import HERE, Administrator, versions
from trivium.core.access import Operation, Resource
from trivium.messages.api.create_partitions import CreatePartitionsRequest, CreatePartitionsTopic
from trivium.messages.api.create_topics import CreatableTopic, CreateTopicsRequest
from trivium.messages.api.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsTopic,
)
from trivium.messages.api.delete_topics import DeleteTopicsRequest, DeleteTopicState
from trivium.messages.api.describe_topic_partitions import DescribeTopicPartitionsRequest, TopicRequest
from trivium.messages.api.metadata import MetadataRequest, MetadataRequestTopic
from trivium.messages.errors import ErrorCode
from trivium.wire.errors import DecodeError
from trivium.wire.uuid_text import ZERO_UUID

NOT_ASKED = -(1 << 31)
ALL_OF_A_TOPIC = 3576
ALL_OF_A_CLUSTER = 8096


def new(name: str, partitions: int = 1) -> CreatableTopic:
    return CreatableTopic(
        name=name, num_partitions=partitions, replication_factor=1, assignments=[], configs=[]
    )


@pytest.mark.parametrize("version", versions(CreateTopicsRequest))
def test_create_topics_makes_a_topic_and_tells_what_its_version_can(version: int) -> None:
    administrator = Administrator()
    request = CreateTopicsRequest(topics=[new("a", 2), new("b", 0)])
    made, refused = administrator.ask(request, version).topics
    assert (made.error_code, refused.error_code) == (0, ErrorCode.INVALID_PARTITIONS)
    topic = administrator.world.image.topics.by_name["a"]
    assert len(topic.partitions) == 2
    if version >= 1:
        assert made.error_message is None
        assert "non-positive" in refused.error_message
    if version >= 5:
        assert (made.num_partitions, made.replication_factor) == (2, 1)
        assert {"cleanup.policy", "retention.ms"} <= {config.name for config in made.configs}
    assert made.topic_id == (topic.topic_id if version >= 7 else ZERO_UUID)


def test_create_topics_hides_settings_from_who_may_not_see_them() -> None:
    administrator = Administrator(Denying((Operation.DESCRIBE_CONFIGS, Resource.TOPIC)))
    (made,) = administrator.ask(CreateTopicsRequest(topics=[new("a")]), 7).topics
    assert made.error_code == 0
    assert made.topic_config_error_code == ErrorCode.TOPIC_AUTHORIZATION_FAILED
    assert (made.configs, made.num_partitions, made.replication_factor) == ([], -1, -1)


@pytest.mark.parametrize("version", versions(DeleteTopicsRequest))
def test_delete_topics_by_name_deletes(version: int) -> None:
    administrator = Administrator()
    topic_id = administrator.world.create_topic("a")
    if version >= 6:
        states = [DeleteTopicState(name=name, topic_id=ZERO_UUID) for name in ("a", "missing")]
        request = DeleteTopicsRequest(topics=states, timeout_ms=1000)
    else:
        request = DeleteTopicsRequest(topic_names=["a", "missing"], timeout_ms=1000)
    results = {result.name: result for result in administrator.ask(request, version).responses}
    assert results["a"].error_code == 0
    assert results["a"].topic_id == (topic_id if version >= 6 else ZERO_UUID)
    assert results["missing"].error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert not administrator.world.image.topics.by_name


@pytest.mark.parametrize(
    ("version", "code"),
    [(0, ErrorCode.INVALID_REQUEST), (2, ErrorCode.INVALID_REQUEST), (3, ErrorCode.TOPIC_DELETION_DISABLED)],
)
def test_delete_topics_that_is_disabled_says_so_as_its_version_can(version: int, code: ErrorCode) -> None:
    administrator = Administrator(static={"delete.topic.enable": "false"})
    administrator.world.create_topic("a")
    request = DeleteTopicsRequest(topic_names=["a"], timeout_ms=1000)
    (refused,) = administrator.ask(request, version).responses
    assert refused.error_code == code


@pytest.mark.parametrize("version", versions(CreatePartitionsRequest))
def test_create_partitions_adds_them(version: int) -> None:
    administrator = Administrator()
    administrator.world.create_topic("a")
    request = CreatePartitionsRequest(
        topics=[CreatePartitionsTopic(name="a", count=3, assignments=None)],
        timeout_ms=1000,
        validate_only=False,
    )
    (result,) = administrator.ask(request, version).results
    assert (result.name, result.error_code, result.error_message) == ("a", 0, None)
    assert len(administrator.world.image.topics.by_name["a"].partitions) == 3


@pytest.mark.parametrize("version", versions(DeleteRecordsRequest))
def test_delete_records_answers_topic_by_topic(version: int) -> None:
    administrator = Administrator()
    administrator.world.create_topic("a", 2)
    request = DeleteRecordsRequest(
        topics=[
            DeleteRecordsTopic(
                name="a",
                partitions=[
                    DeleteRecordsPartition(partition_index=0, offset=-1),
                    DeleteRecordsPartition(partition_index=1, offset=5),
                ],
            ),
            DeleteRecordsTopic(
                name="missing", partitions=[DeleteRecordsPartition(partition_index=0, offset=0)]
            ),
        ],
        timeout_ms=1000,
    )
    known, missing = administrator.ask(request, version).topics
    assert [(each.low_watermark, each.error_code) for each in known.partitions] == [
        (0, 0),
        (-1, ErrorCode.OFFSET_OUT_OF_RANGE),
    ]
    assert missing.partitions[0].error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


# -- Metadata ------------------------------------------------------------------------------------


@pytest.mark.parametrize("version", versions(MetadataRequest))
def test_metadata_tells_topics_and_where_the_client_has_connected(version: int) -> None:
    administrator = Administrator(static={"broker.rack": "r1"})
    topic_id = administrator.world.create_topic("a", 2)
    everything = MetadataRequest(topics=[] if version == 0 else None)
    answer = administrator.ask(everything, version)
    (broker,) = answer.brokers
    assert (broker.node_id, broker.host, broker.port) == (1, *HERE)
    assert broker.rack == ("r1" if version >= 1 else None)
    assert answer.cluster_id == ("test-cluster" if version >= 2 else None)
    (topic,) = answer.topics
    assert (topic.name, topic.error_code) == ("a", 0)
    assert topic.topic_id == (topic_id if version >= 10 else ZERO_UUID)
    assert [(each.partition_index, each.leader_id, each.isr_nodes) for each in topic.partitions] == [
        (0, 1, [1]),
        (1, 1, [1]),
    ]


@pytest.mark.parametrize("version", range(4, 14))
def test_metadata_makes_a_missing_topic_if_the_client_allows_it(version: int) -> None:
    administrator = Administrator()
    for may_create, code in ((False, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION), (True, ErrorCode.NONE)):
        request = MetadataRequest(
            topics=[MetadataRequestTopic(name="new")], allow_auto_topic_creation=may_create
        )
        (topic,) = administrator.ask(request, version).topics
        assert (topic.name, topic.error_code) == ("new", code)


@pytest.mark.parametrize("version", range(4))
def test_metadata_of_old_clients_makes_a_missing_topic(version: int) -> None:
    administrator = Administrator()
    request = MetadataRequest(topics=[MetadataRequestTopic(name="new")])
    (topic,) = administrator.ask(request, version).topics
    assert (topic.name, topic.error_code, len(topic.partitions)) == ("new", 0, 1)


@pytest.mark.parametrize("version", range(8, 14))
def test_metadata_tells_operations_only_if_asked(version: int) -> None:
    administrator = Administrator()
    administrator.world.create_topic("a")
    has_cluster = version <= 10
    for asked in (False, True):
        request = MetadataRequest(
            topics=None,
            include_topic_authorized_operations=asked,
            include_cluster_authorized_operations=asked and has_cluster,
        )
        answer = administrator.ask(request, version)
        assert answer.topics[0].topic_authorized_operations == (ALL_OF_A_TOPIC if asked else NOT_ASKED)
        assert answer.cluster_authorized_operations == (
            ALL_OF_A_CLUSTER if asked and has_cluster else NOT_ASKED
        )


@pytest.mark.parametrize("version", [12, 13])
def test_metadata_by_id_tells_the_name_or_none(version: int) -> None:
    administrator = Administrator()
    topic_id = administrator.world.create_topic("a")
    unknown_id = bytes(15) + b"\x77"
    request = MetadataRequest(
        topics=[MetadataRequestTopic(name=None, topic_id=each) for each in (topic_id, unknown_id)]
    )
    known, unknown = administrator.ask(request, version).topics
    assert (known.name, known.topic_id, known.error_code) == ("a", topic_id, 0)
    assert (unknown.name, unknown.topic_id, unknown.error_code) == (
        None,
        unknown_id,
        ErrorCode.UNKNOWN_TOPIC_ID,
    )


def test_metadata_by_id_passes_over_topics_by_name() -> None:
    administrator = Administrator()
    topic_id = administrator.world.create_topic("a")
    asked = [MetadataRequestTopic(name=None, topic_id=topic_id), MetadataRequestTopic(name="b")]
    assert [topic.name for topic in administrator.ask(MetadataRequest(topics=asked), 13).topics] == ["a"]


@pytest.mark.parametrize("version", versions(MetadataRequest)[1:])
def test_metadata_of_a_partition_in_a_failed_directory_has_no_leader(version: int) -> None:
    administrator = Administrator()
    administrator.world.create_topic("a")
    administrator.world.storage.offline.add(("a", 0))
    (partition,) = administrator.ask(MetadataRequest(topics=None), version).topics[0].partitions
    assert (partition.error_code, partition.leader_id) == (ErrorCode.LEADER_NOT_AVAILABLE, -1)
    assert partition.offline_replicas == ([1] if version >= 5 else [])


# -- DescribeTopicPartitions ---------------------------------------------------------------------


def test_describe_topic_partitions_of_an_unknown_topic_is_the_seed_example() -> None:
    """Mission 001.17-001.19: error 3, a zero id, no partitions, no cursor."""
    administrator = Administrator()
    (topic,) = administrator.ask(DescribeTopicPartitionsRequest(topics=[TopicRequest(name="foo")]), 0).topics
    assert topic.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert (topic.name, topic.topic_id, topic.is_internal, topic.partitions) == ("foo", ZERO_UUID, False, [])


def test_describe_topic_partitions_of_many_topics_is_in_the_order_of_names() -> None:
    """Mission 001.28, 001.32, 001.33."""
    administrator = Administrator()
    ids = {name: administrator.world.create_topic(name, 2) for name in ("pax", "bar")}
    names = ["pax", "missing", "bar"]
    request = DescribeTopicPartitionsRequest(topics=[TopicRequest(name=name) for name in names])
    answer = administrator.ask(request, 0)
    assert [(topic.name, topic.topic_id) for topic in answer.topics] == [
        (name, ids.get(name, ZERO_UUID)) for name in sorted(names)
    ]
    (first, second) = answer.topics[0].partitions
    assert (first.partition_index, second.partition_index) == (0, 1)
    assert (first.leader_id, first.leader_epoch, first.replica_nodes, first.isr_nodes) == (1, 0, [1], [1])
    assert (first.eligible_leader_replicas, first.last_known_elr, first.offline_replicas) == ([], [], [])
    assert answer.next_cursor is None


def test_version_of_describe_topic_partitions_that_there_is_not_ends_the_connection() -> None:
    administrator = Administrator()
    body = struct.pack(">hhih", 75, 1, 7, -1) + b"\x00"
    with pytest.raises(DecodeError, match="not served in version 1"):
        administrator.send(struct.pack(">i", len(body)) + body)
