"""Questions for leaders: split, repeated where a leader has moved, answered for each partition."""

import pytest

from tests.client.scripted import Accident, ScriptedBroker, describing
from trivium.client.cluster import Cluster
from trivium.client.errors import Refused
from trivium.client.offsets import (
    EARLIEST,
    LATEST,
    FoundOffset,
    Isolation,
    delete_records,
    list_offsets,
    offset_ranges,
)
from trivium.client.topology import TopicPartition
from trivium.messages.api.delete_records import (
    DeleteRecordsPartitionResult,
    DeleteRecordsRequest,
    DeleteRecordsResponse,
    DeleteRecordsTopicResult,
)
from trivium.messages.api.list_offsets import (
    ListOffsetsPartitionResponse,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopicResponse,
)
from trivium.messages.api.metadata import MetadataRequest
from trivium.messages.errors import ErrorCode

A0, A1, A2 = (TopicPartition("a", index) for index in range(3))


def offsets_of(request: ListOffsetsRequest, code: int = 0, base: int = 0) -> ListOffsetsResponse:
    """Offset 100 for the end, 0 for the beginning, and the timestamp itself for a timestamp."""
    special = {EARLIEST: 0, LATEST: 100}
    return ListOffsetsResponse(
        topics=[
            ListOffsetsTopicResponse(
                name=topic.name,
                partitions=[
                    ListOffsetsPartitionResponse(
                        partition_index=each.partition_index,
                        error_code=code,
                        offset=base + special.get(each.timestamp, each.timestamp),
                        timestamp=5,
                        leader_epoch=3,
                    )
                    for each in topic.partitions
                ],
            )
            for topic in request.topics
        ]
    )


def test_offsets_come_from_the_leader_of_each_partition() -> None:
    with (
        ScriptedBroker({ListOffsetsRequest: offsets_of}, node_id=1) as one,
        ScriptedBroker(
            {ListOffsetsRequest: lambda request: offsets_of(request, base=1000)}, node_id=2
        ) as two,
    ):
        one.answer(MetadataRequest, describing(one, two, leaders={"a": [1, 2, 1]}))
        with Cluster.connect(one.bootstrap) as cluster:
            found = list_offsets(cluster, {A0: EARLIEST, A1: LATEST, A2: 42})
        assert found == {A0: FoundOffset(0, 5, 3), A1: FoundOffset(1100, 5, 3), A2: FoundOffset(42, 5, 3)}
        (asked,) = one.asked(ListOffsetsRequest)
        assert asked.isolation_level == Isolation.READ_COMMITTED
        assert [each.partition_index for each in asked.topics[0].partitions] == [0, 2]


def test_offsets_of_a_partition_whose_leader_moved_come_from_the_new_one() -> None:
    leaders = {"a": [1]}

    def moved(request: ListOffsetsRequest) -> ListOffsetsResponse:
        leaders["a"] = [2]
        return offsets_of(request, code=ErrorCode.NOT_LEADER_OR_FOLLOWER)

    with (
        ScriptedBroker({ListOffsetsRequest: moved}, node_id=1) as one,
        ScriptedBroker({ListOffsetsRequest: offsets_of}, node_id=2) as two,
    ):
        one.answer(MetadataRequest, describing(one, two, leaders=leaders))
        with Cluster.connect(one.bootstrap) as cluster:
            assert offset_ranges(cluster, [A0]) == {A0: (0, 100)}


def test_offsets_survive_a_leader_that_hangs_up() -> None:
    with ScriptedBroker({ListOffsetsRequest: [Accident.HANG_UP, offsets_of]}) as broker:
        broker.answer(MetadataRequest, describing(broker, leaders={"a": [1]}))
        with Cluster.connect(broker.bootstrap) as cluster:
            assert list_offsets(cluster, {A0: LATEST}) == {A0: FoundOffset(100, 5, 3)}


def test_offsets_of_a_partition_without_a_leader_are_refused_and_the_others_found() -> None:
    with ScriptedBroker({ListOffsetsRequest: offsets_of}) as broker:
        broker.answer(MetadataRequest, describing(broker, leaders={"a": [1, -1]}))
        with Cluster.connect(broker.bootstrap, timeout_s=0.2) as cluster:
            found = list_offsets(cluster, {A0: LATEST, A1: LATEST})
        assert found[A0] == FoundOffset(100, 5, 3)
        refusal = found[A1]
        assert isinstance(refusal, Refused)
        assert refusal.code is ErrorCode.LEADER_NOT_AVAILABLE


def test_offset_ranges_of_what_may_not_be_read_raise_the_refusal() -> None:
    with ScriptedBroker({ListOffsetsRequest: lambda request: offsets_of(request, code=29)}) as broker:
        broker.answer(MetadataRequest, describing(broker, leaders={"a": [1]}))
        with (
            Cluster.connect(broker.bootstrap) as cluster,
            pytest.raises(Refused, match="You may not do that"),
        ):
            offset_ranges(cluster, [A0])


def test_deleted_records_tell_the_new_beginning_or_why_not() -> None:
    def delete(request: DeleteRecordsRequest) -> DeleteRecordsResponse:
        return DeleteRecordsResponse(
            throttle_time_ms=0,
            topics=[
                DeleteRecordsTopicResult(
                    name=topic.name,
                    partitions=[
                        DeleteRecordsPartitionResult(
                            partition_index=each.partition_index,
                            low_watermark=each.offset,
                            error_code=0 if each.offset < 100 else ErrorCode.OFFSET_OUT_OF_RANGE,
                        )
                        for each in topic.partitions
                    ],
                )
                for topic in request.topics
            ],
        )

    with ScriptedBroker({DeleteRecordsRequest: delete}) as broker:
        broker.answer(MetadataRequest, describing(broker, leaders={"a": [1, 1]}))
        with Cluster.connect(broker.bootstrap) as cluster:
            done = delete_records(cluster, {A0: 10, A1: 100})
        assert done[A0] == 10
        assert isinstance(done[A1], Refused)
