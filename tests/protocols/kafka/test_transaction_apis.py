"""The APIs of transactions on the wire, in every version (003.7, 003.33)."""

from typing import Any

import pytest

from tests.core.batches import batch
from tests.core.rights import Denying
from tests.core.transactions.coordinated import TIMEOUT_MS, TX, Coordinated
from tests.protocols.kafka.conversation import Conversation
from trivium.core.access import Operation, Resource
from trivium.core.commands.groups import CoordinatorKind
from trivium.core.faults import Fault
from trivium.messages.api.add_offsets_to_txn import AddOffsetsToTxnRequest, AddOffsetsToTxnResponse
from trivium.messages.api.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTransaction,
)
from trivium.messages.api.describe_producers import (
    DescribeProducersRequest,
    DescribeProducersResponse,
    TopicRequest,
)
from trivium.messages.api.describe_transactions import (
    DescribeTransactionsRequest,
    DescribeTransactionsResponse,
    TopicData,
    TransactionState,
)
from trivium.messages.api.end_txn import EndTxnRequest, EndTxnResponse
from trivium.messages.api.fetch import FetchPartition, FetchRequest, FetchResponse, FetchTopic
from trivium.messages.api.find_coordinator import FindCoordinatorRequest, FindCoordinatorResponse
from trivium.messages.api.init_producer_id import InitProducerIdRequest, InitProducerIdResponse
from trivium.messages.api.list_transactions import (
    ListTransactionsRequest,
    ListTransactionsResponse,
)
from trivium.messages.api.list_transactions import TransactionState as ListedState
from trivium.messages.api.produce import (
    PartitionProduceData,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
)
from trivium.messages.api.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
    TxnOffsetCommitResponse,
)
from trivium.messages.api.write_txn_markers import (
    WritableTxnMarker,
    WritableTxnMarkerTopic,
    WriteTxnMarkersRequest,
    WriteTxnMarkersResponse,
)
from trivium.messages.errors import ErrorCode
from trivium.protocols.kafka.protocol import KafkaProtocol


class Wire(Conversation):
    """A client on the wire, in a world with a coordinator."""

    def __init__(self, **fields: Any) -> None:
        self.world = Coordinated(**fields)
        super().__init__(KafkaProtocol(self.world.broker))

    def init(self, version: int = 5, transactional_id: str = TX, **fields: Any) -> InitProducerIdResponse:
        request = InitProducerIdRequest(
            transactional_id=transactional_id, transaction_timeout_ms=TIMEOUT_MS, **fields
        )
        return self.ask(request, version, InitProducerIdResponse)

    def add(self, version: int, producer: InitProducerIdResponse, *partitions: int) -> list[int]:
        topics = [AddPartitionsToTxnTopic(name="t", partitions=list(partitions))]
        request = AddPartitionsToTxnRequest(
            v3_and_below_transactional_id=TX,
            v3_and_below_producer_id=producer.producer_id,
            v3_and_below_producer_epoch=producer.producer_epoch,
            v3_and_below_topics=topics,
        )
        answer = self.ask(request, version, AddPartitionsToTxnResponse)
        [topic] = answer.results_by_topic_v3_and_below
        return [part.partition_error_code for part in topic.results_by_partition]

    def produce(
        self, version: int, producer: InitProducerIdResponse, sequence: int = 0, partition: int = 0
    ) -> int:
        records = batch(
            b"v",
            producer_id=producer.producer_id,
            producer_epoch=producer.producer_epoch,
            base_sequence=sequence,
            transactional=True,
        )
        topic_id = self.world.world.image.topics.by_name["t"].topic_id
        data = [PartitionProduceData(index=partition, records=records)]
        named = (
            TopicProduceData(topic_id=topic_id, partition_data=data)
            if version >= 13
            else TopicProduceData(name="t", partition_data=data)
        )
        request = ProduceRequest(transactional_id=TX, acks=-1, timeout_ms=30_000, topic_data=[named])
        answer = self.ask(request, version, ProduceResponse)
        return answer.responses[0].partition_responses[0].error_code

    def end(
        self, version: int, producer: InitProducerIdResponse, *, committed: bool = True
    ) -> EndTxnResponse:
        request = EndTxnRequest(
            transactional_id=TX,
            producer_id=producer.producer_id,
            producer_epoch=producer.producer_epoch,
            committed=committed,
        )
        return self.ask(request, version, EndTxnResponse)


@pytest.mark.parametrize("version", range(7))
def test_transactional_producer_gets_an_id_and_the_next_one_fences_it(version: int) -> None:
    wire = Wire()
    first, second = wire.init(version), wire.init(version)
    assert (first.error_code, second.error_code) == (0, 0)
    assert (second.producer_id, second.producer_epoch) == (first.producer_id, 1)


@pytest.mark.parametrize(
    ("version", "code"),
    [(3, ErrorCode.INVALID_PRODUCER_EPOCH), (4, ErrorCode.PRODUCER_FENCED), (6, ErrorCode.PRODUCER_FENCED)],
)
def test_fenced_producer_hears_what_its_version_knows(version: int, code: ErrorCode) -> None:
    """KIP-588."""
    wire = Wire()
    first = wire.init()
    wire.init()
    again = wire.init(version, producer_id=first.producer_id, producer_epoch=first.producer_epoch)
    assert (again.error_code, again.producer_id, again.producer_epoch) == (code, -1, -1)


def test_two_phase_commit_is_refused_unless_it_is_allowed() -> None:
    wire = Wire()
    assert wire.init(6, enable_2pc=True).error_code == ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED


def test_prepared_transaction_is_named_to_the_producer_that_comes_back() -> None:
    """KIP-939."""
    wire = Wire(static={"transaction.two.phase.commit.enable": "true"})
    first = wire.init(6, enable_2pc=True)
    assert wire.produce(12, first) == 0
    again = wire.init(6, enable_2pc=True, keep_prepared_txn=True)
    assert (again.error_code, again.producer_epoch) == (0, 1)
    assert (again.ongoing_txn_producer_id, again.ongoing_txn_producer_epoch) == (first.producer_id, 0)
    assert wire.end(5, again).error_code == 0
    assert wire.world.committed() == [b"v"]


@pytest.mark.parametrize("version", range(1, 7))
def test_coordinator_of_transactions_is_this_broker(version: int) -> None:
    wire = Wire()
    wire.world.groups.finding.add(CoordinatorKind.TRANSACTION, wire.world.coordinator.topic)
    if version >= 4:
        request = FindCoordinatorRequest(coordinator_keys=[TX], key_type=1)
    else:
        request = FindCoordinatorRequest(key=TX, key_type=1)
    answer = wire.ask(request, version, FindCoordinatorResponse)
    found = answer.coordinators[0] if version >= 4 else answer
    assert (found.error_code, found.node_id, found.host, found.port) == (0, 1, "broker.example", 9092)


# -- partitions ----------------------------------------------------------------------------------


@pytest.mark.parametrize("version", range(4))
def test_partitions_are_added_by_a_client(version: int) -> None:
    wire = Wire()
    producer = wire.init()
    assert wire.add(version, producer, 0, 2) == [0, 0]
    assert wire.add(version, producer, 0, 9) == [
        ErrorCode.OPERATION_NOT_ATTEMPTED,
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
    ]
    wire.init()
    fenced = ErrorCode.PRODUCER_FENCED if version >= 2 else ErrorCode.INVALID_PRODUCER_EPOCH
    assert wire.add(version, producer, 1) == [fenced]


@pytest.mark.parametrize("version", [4, 5])
def test_partitions_are_added_and_verified_for_brokers(version: int) -> None:
    wire = Wire()
    producer = wire.init()
    request = AddPartitionsToTxnRequest(
        transactions=[
            AddPartitionsToTxnTransaction(
                transactional_id=TX,
                producer_id=producer.producer_id,
                producer_epoch=producer.producer_epoch,
                verify_only=verify_only,
                topics=[AddPartitionsToTxnTopic(name="t", partitions=partitions)],
            )
            for verify_only, partitions in ((False, [0]), (True, [0, 1]))
        ]
    )
    answer = wire.ask(request, version, AddPartitionsToTxnResponse)
    assert answer.error_code == 0
    codes = [
        [part.partition_error_code for part in result.topic_results[0].results_by_partition]
        for result in answer.results_by_transaction
    ]
    assert codes == [[0], [0, ErrorCode.TRANSACTION_ABORTABLE]]


def test_batch_of_somebody_who_is_no_broker_is_refused_as_a_whole() -> None:
    wire = Wire(access=Denying((Operation.CLUSTER_ACTION, Resource.CLUSTER)))
    transaction = AddPartitionsToTxnTransaction(
        transactional_id=TX, producer_id=0, producer_epoch=0, topics=[]
    )
    answer = wire.ask(AddPartitionsToTxnRequest(transactions=[transaction]), 4, AddPartitionsToTxnResponse)
    assert answer.error_code == ErrorCode.CLUSTER_AUTHORIZATION_FAILED
    assert answer.results_by_transaction == []


# -- writing -------------------------------------------------------------------------------------


@pytest.mark.parametrize("version", range(3, 14))
def test_write_joins_a_transaction_since_version_12_and_must_be_announced_before(version: int) -> None:
    """KIP-890."""
    wire = Wire()
    producer = wire.init()
    expected = ErrorCode.TRANSACTION_ABORTABLE if version >= 11 else ErrorCode.INVALID_TXN_STATE
    assert wire.produce(version, producer) == (0 if version >= 12 else expected)
    assert wire.add(3, producer, 0) == [0]
    assert wire.produce(version, producer, 1 if version >= 12 else 0) == 0


@pytest.mark.parametrize(
    ("version", "code"),
    [(11, ErrorCode.NOT_ENOUGH_REPLICAS), (12, ErrorCode.CONCURRENT_TRANSACTIONS)],
)
def test_write_that_comes_before_the_last_transaction_is_marked_is_to_be_repeated(
    version: int, code: ErrorCode
) -> None:
    wire = Wire()
    producer = wire.init()
    wire.add(3, producer, 0)
    wire.produce(11, producer)
    wire.world.log().fault = Fault.STORAGE
    assert wire.end(4, producer).error_code == 0
    wire.world.log().fault = None
    assert wire.world.described().state == "PrepareCommit"
    assert wire.add(3, producer, 1) == [ErrorCode.CONCURRENT_TRANSACTIONS]
    assert wire.produce(version, producer, partition=1) == code


def test_write_of_a_fenced_producer_is_refused_by_its_epoch() -> None:
    wire = Wire()
    producer = wire.init()
    wire.init()
    for version in (11, 12):
        assert wire.produce(version, producer) == ErrorCode.INVALID_PRODUCER_EPOCH


# -- ending --------------------------------------------------------------------------------------


@pytest.mark.parametrize("committed", [True, False])
@pytest.mark.parametrize("version", range(6))
def test_transaction_is_ended_in_every_version(version: int, committed: bool) -> None:
    wire = Wire()
    producer = wire.init()
    assert wire.produce(12, producer) == 0
    answer = wire.end(version, producer, committed=committed)
    assert answer.error_code == 0
    if version >= 5:
        assert (answer.producer_id, answer.producer_epoch) == (producer.producer_id, 1)
    assert wire.world.committed() == ([b"v"] if committed else [])


@pytest.mark.parametrize("version", range(6))
def test_end_by_a_fenced_producer_is_refused(version: int) -> None:
    wire = Wire()
    producer = wire.init()
    wire.init()
    fenced = ErrorCode.PRODUCER_FENCED if version >= 2 else ErrorCode.INVALID_PRODUCER_EPOCH
    assert wire.end(version, producer).error_code == fenced


@pytest.mark.parametrize("version", range(4, 18))
def test_reader_of_committed_records_is_told_what_was_aborted(version: int) -> None:
    wire = Wire()
    producer = wire.init()
    wire.produce(12, producer)
    wire.end(5, producer, committed=False)
    topic_id = wire.world.world.image.topics.by_name["t"].topic_id
    parts = [FetchPartition(partition=0, fetch_offset=0, partition_max_bytes=1 << 20)]
    topic = (
        FetchTopic(topic_id=topic_id, partitions=parts)
        if version >= 13
        else FetchTopic(topic="t", partitions=parts)
    )
    request = FetchRequest(max_wait_ms=0, min_bytes=0, isolation_level=1, topics=[topic])
    [part] = wire.ask(request, version, FetchResponse).responses[0].partitions
    assert (part.error_code, part.high_watermark, part.last_stable_offset) == (0, 2, 2)
    aborted = [(each.producer_id, each.first_offset) for each in part.aborted_transactions or ()]
    assert aborted == [(producer.producer_id, 0)]


# -- groups --------------------------------------------------------------------------------------


@pytest.mark.parametrize("version", range(6))
def test_offsets_are_committed_in_a_transaction(version: int) -> None:
    wire = Wire()
    producer = wire.init()
    request = TxnOffsetCommitRequest(
        transactional_id=TX,
        group_id="g",
        producer_id=producer.producer_id,
        producer_epoch=producer.producer_epoch,
        topics=[
            TxnOffsetCommitRequestTopic(
                name="t",
                partitions=[
                    TxnOffsetCommitRequestPartition(
                        partition_index=index, committed_offset=7, committed_metadata="m"
                    )
                    for index in (0, 9)
                ],
            )
        ],
    )

    def codes() -> list[int]:
        answer = wire.ask(request, version, TxnOffsetCommitResponse)
        return [part.error_code for part in answer.topics[0].partitions]

    if version < 5:
        missing = ErrorCode.TRANSACTION_ABORTABLE if version >= 4 else ErrorCode.INVALID_TXN_STATE
        assert codes() == [missing, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION]
        added = wire.ask(
            AddOffsetsToTxnRequest(
                transactional_id=TX,
                producer_id=producer.producer_id,
                producer_epoch=producer.producer_epoch,
                group_id="g",
            ),
            min(version, 4),
            AddOffsetsToTxnResponse,
        )
        assert added.error_code == 0
    assert codes() == [0, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION]
    assert wire.end(5, producer).error_code == 0
    assert (wire.world.offset().offset, wire.world.offset().metadata) == (7, "m")


@pytest.mark.parametrize("version", range(3, 6))
def test_offsets_of_a_generation_that_is_none_are_refused(version: int) -> None:
    """KIP-447."""
    wire = Wire()
    producer = wire.init()
    request = TxnOffsetCommitRequest(
        transactional_id=TX,
        group_id="g",
        producer_id=producer.producer_id,
        producer_epoch=producer.producer_epoch,
        generation_id=4,
        member_id="m",
        topics=[
            TxnOffsetCommitRequestTopic(
                name="t",
                partitions=[
                    TxnOffsetCommitRequestPartition(
                        partition_index=0, committed_offset=7, committed_metadata=None
                    )
                ],
            )
        ],
    )
    added = AddOffsetsToTxnRequest(
        transactional_id=TX,
        producer_id=producer.producer_id,
        producer_epoch=producer.producer_epoch,
        group_id="g",
    )
    wire.ask(added, 4, AddOffsetsToTxnResponse)
    answer = wire.ask(request, version, TxnOffsetCommitResponse)
    assert answer.topics[0].partitions[0].error_code == ErrorCode.ILLEGAL_GENERATION


# -- administration ------------------------------------------------------------------------------


@pytest.mark.parametrize("version", range(3))
def test_markers_are_written_by_hand(version: int) -> None:
    wire = Wire()
    producer = wire.init()
    wire.produce(12, producer)
    marker = WritableTxnMarker(
        producer_id=producer.producer_id,
        producer_epoch=producer.producer_epoch,
        transaction_result=False,
        topics=[WritableTxnMarkerTopic(name="t", partition_indexes=[0, 9])],
        coordinator_epoch=0,
    )
    answer = wire.ask(WriteTxnMarkersRequest(markers=[marker]), version, WriteTxnMarkersResponse)
    assert answer.markers[0].producer_id == producer.producer_id
    codes = [part.error_code for part in answer.markers[0].topics[0].partitions]
    assert codes == [0, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION]
    assert wire.world.log().last_stable_offset == 2


def test_open_transaction_is_described_listed_and_seen_in_its_partition() -> None:
    wire = Wire()
    producer = wire.init()
    wire.produce(12, producer)
    described = wire.ask(
        DescribeTransactionsRequest(transactional_ids=[TX, "unknown"]), 0, DescribeTransactionsResponse
    )
    known, unknown = described.transaction_states
    assert known == TransactionState(
        error_code=0,
        transactional_id=TX,
        transaction_state="Ongoing",
        transaction_timeout_ms=TIMEOUT_MS,
        transaction_start_time_ms=wire.world.world.clock.wall_ms(),
        producer_id=producer.producer_id,
        producer_epoch=0,
        topics=[TopicData(topic="t", partitions=[0])],
    )
    assert unknown.error_code == ErrorCode.TRANSACTIONAL_ID_NOT_FOUND
    producers = wire.ask(
        DescribeProducersRequest(topics=[TopicRequest(name="t", partition_indexes=[0])]),
        0,
        DescribeProducersResponse,
    )
    assert producers.topics[0].partitions[0].active_producers[0].current_txn_start_offset == 0


@pytest.mark.parametrize("version", range(3))
def test_transactions_are_listed_by_their_filters(version: int) -> None:
    wire = Wire()
    producer = wire.init()
    wire.produce(12, producer)
    request = ListTransactionsRequest(
        state_filters=["Ongoing", "Unheard"], producer_id_filters=[producer.producer_id]
    )
    answer = wire.ask(request, version, ListTransactionsResponse)
    assert (answer.error_code, answer.unknown_state_filters) == (0, ["Unheard"])
    assert answer.transaction_states == [
        ListedState(transactional_id=TX, producer_id=producer.producer_id, transaction_state="Ongoing")
    ]
    if version >= 1:
        request = ListTransactionsRequest(state_filters=[], producer_id_filters=[], duration_filter=1)
        assert wire.ask(request, version, ListTransactionsResponse).transaction_states == []
    if version >= 2:
        for pattern, code, count in (
            ("t.", 0, 1),
            ("t", 0, 0),
            ("(", ErrorCode.INVALID_REGULAR_EXPRESSION, 0),
        ):
            request = ListTransactionsRequest(
                state_filters=[], producer_id_filters=[], transactional_id_pattern=pattern
            )
            answer = wire.ask(request, version, ListTransactionsResponse)
            assert (answer.error_code, len(answer.transaction_states)) == (code, count)


# -- rights --------------------------------------------------------------------------------------


def test_transactional_id_of_somebody_else_is_refused_everywhere() -> None:
    """RELIABILITY, lesson 6, and S10."""
    wire = Wire(
        access=Denying(
            (Operation.WRITE, Resource.TRANSACTIONAL_ID), (Operation.DESCRIBE, Resource.TRANSACTIONAL_ID)
        )
    )
    refused = ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED
    assert wire.init().error_code == refused
    stranger = InitProducerIdResponse(throttle_time_ms=0, error_code=0, producer_id=0, producer_epoch=0)
    assert wire.add(3, stranger, 0) == [refused]
    assert wire.produce(12, stranger) == refused
    assert wire.end(5, stranger).error_code == refused
    offsets = AddOffsetsToTxnRequest(transactional_id=TX, producer_id=0, producer_epoch=0, group_id="g")
    assert wire.ask(offsets, 4, AddOffsetsToTxnResponse).error_code == refused
    described = wire.ask(DescribeTransactionsRequest(transactional_ids=[TX]), 0, DescribeTransactionsResponse)
    assert described.transaction_states[0].error_code == refused
    assert "__transaction_state" not in wire.world.world.image.topics.by_name
