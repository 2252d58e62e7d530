"""Sending through a broker that forgets, hangs up and refuses."""

import threading
from collections.abc import Iterator

import pytest

from tests.client.live import make_topic
from tests.client.scripted import Accident, ScriptedBroker, describing, topic_id_of
from trivium.client.cluster import Cluster
from trivium.client.delivery import ACKS_LEADER, ACKS_NONE, Delivery
from trivium.client.errors import ClientError, ProducerClosed, Refused, TimedOut
from trivium.client.partitioner import partition_for
from trivium.client.producer import RECORD_BYTES_MAX, Producer
from trivium.client.reader import Reader
from trivium.client.shipping import IN_FLIGHT_MAX, REQUEST_BYTES_MAX
from trivium.client.topology import TopicPartition
from trivium.messages.api.init_producer_id import InitProducerIdRequest, InitProducerIdResponse
from trivium.messages.api.metadata import MetadataRequest
from trivium.messages.api.produce import (
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceResponse,
)
from trivium.messages.errors import ErrorCode
from trivium.messages.version_range import VersionRange
from trivium.records.batch import BatchHeader, check_batch, iter_records
from trivium.records.compression import Compression
from trivium.records.record import Record
from trivium.testing import Broker


class Ledger:
    """What a broker has written, and what it does to the next requests."""

    def __init__(self) -> None:
        self.values: dict[int, list[bytes | None]] = {}
        self.records: list[Record] = []
        self.sequences: list[int] = []
        self.codes: list[int] = []
        self.lost_answers = 0
        self._known: dict[tuple[int, int], int] = {}
        self._sequence_ends: dict[int, int] = {}
        self._lock = threading.Lock()

    def produce(self, request: ProduceRequest) -> ProduceResponse | Accident:
        with self._lock:
            answer = ProduceResponse(responses=[])
            for topic in request.topic_data:
                said = [self._append(each.index, bytes(each.records or b"")) for each in topic.partition_data]
                answer.responses.append(
                    TopicProduceResponse(name=topic.name, topic_id=topic.topic_id, partition_responses=said)
                )
            if self.lost_answers:
                self.lost_answers -= 1
                return Accident.HANG_UP
            return answer

    def _append(self, index: int, batch: bytes) -> PartitionProduceResponse:
        code = self.codes.pop(0) if self.codes else 0
        values = self.values.setdefault(index, [])
        header = check_batch(batch)
        base_offset = len(values)
        if code == 0 and header.producer_id >= 0:
            code, base_offset = self._recognise(index, header, base_offset)
        if code == 0 and base_offset == len(values):
            self.sequences.append(header.base_sequence)
            records = list(iter_records(batch))
            self.records += records
            values += [record.value for record in records]
        return PartitionProduceResponse(index=index, error_code=code, base_offset=base_offset)

    def _recognise(self, index: int, header: BatchHeader, offset_end: int) -> tuple[int, int]:
        """Error code and offset of a numbered batch, which may be there already."""
        known = self._known.get((index, header.base_sequence))
        if known is not None:
            return 0, known
        if self._sequence_ends.get(index, header.base_sequence) != header.base_sequence:
            return ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER, -1
        self._known[index, header.base_sequence] = offset_end
        self._sequence_ends[index] = header.base_sequence + header.records_count
        return 0, offset_end


@pytest.fixture
def ledger() -> Ledger:
    return Ledger()


@pytest.fixture
def broker(ledger: Ledger) -> Iterator[ScriptedBroker]:
    identity = InitProducerIdResponse(throttle_time_ms=0, error_code=0, producer_id=4000, producer_epoch=0)
    with ScriptedBroker({ProduceRequest: ledger.produce, InitProducerIdRequest: identity}) as scripted:
        scripted.answer(MetadataRequest, describing(scripted, leaders={"orders": [1, 1, 1], "one": [1]}))
        yield scripted


@pytest.fixture
def cluster(broker: ScriptedBroker) -> Iterator[Cluster]:
    with Cluster.connect(broker.bootstrap, timeout_s=10) as connected:
        yield connected


def numbered(count: int) -> list[bytes]:
    return [b"%d" % number for number in range(count)]


def test_records_are_written_in_order_with_all_they_have(cluster: Cluster, ledger: Ledger) -> None:
    with Producer(cluster) as producer:
        producer.send("one", b"v", key=b"k", headers=[("h", b"1"), ("n", None)], timestamp_ms=123)
        producer.send("one", None, key=b"gone", timestamp_ms=124)
    assert ledger.records == [
        Record(0, 123, b"k", b"v", (("h", b"1"), ("n", None))),
        Record(1, 124, b"gone", None),
    ]


def test_records_with_a_key_go_where_java_sends_them(cluster: Cluster, ledger: Ledger) -> None:
    with Producer(cluster) as producer:
        chosen = {key: producer.send("orders", key, key=key) for key in numbered(50)}
    assert chosen == {key: partition_for(key, 3) for key in chosen}
    assert {value: index for index, values in ledger.values.items() for value in values} == chosen


def test_records_without_a_key_share_a_batch_and_then_move_on(cluster: Cluster, ledger: Ledger) -> None:
    with Producer(cluster) as producer:
        first = {producer.send("orders", value) for value in numbered(5)}
        producer.flush()
        second = {producer.send("orders", value) for value in numbered(5)}
    assert len(first) == len(second) == 1
    assert first != second


def test_full_batches_leave_before_flush(cluster: Cluster, broker: ScriptedBroker, ledger: Ledger) -> None:
    producer = Producer(cluster, batch_bytes=1000)
    for value in numbered(200):
        producer.send("one", value)
    producer.poll(10)
    assert len(broker.asked(ProduceRequest)) >= 1
    producer.flush()
    assert ledger.values[0] == numbered(200)
    producer.close()


def test_no_more_than_five_requests_are_under_way(cluster: Cluster, broker: ScriptedBroker) -> None:
    """A broker remembers the last five batches of a producer, and no more (mission 003.32)."""
    producer = Producer(cluster)
    producer.send("one", b"known")
    producer.flush()
    broker.answer(ProduceRequest, Accident.SILENCE)
    for number in range(10):
        producer.send_batch("one", 0, [Record(0, 0, None, b"%d" % number)])
    producer.poll(0.1)
    assert len(broker.asked(ProduceRequest)) == 1 + IN_FLIGHT_MAX
    producer.close()


@pytest.mark.parametrize(("size_bytes", "requests"), [(10, 1), (REQUEST_BYTES_MAX // 2 + 1, 3)])
def test_batches_of_several_partitions_share_a_request_up_to_its_limit(
    cluster: Cluster, broker: ScriptedBroker, ledger: Ledger, size_bytes: int, requests: int
) -> None:
    with Producer(cluster, batch_bytes=2 * REQUEST_BYTES_MAX) as producer:
        for partition in range(3):
            producer.send("orders", bytes(size_bytes), partition=partition)
    assert len(broker.asked(ProduceRequest)) == requests
    assert set(ledger.values) == {0, 1, 2}


@pytest.mark.parametrize("compression", list(Compression))
def test_batches_are_compressed_as_asked(
    cluster: Cluster, broker: ScriptedBroker, ledger: Ledger, compression: Compression
) -> None:
    with Producer(cluster, compression=compression) as producer:
        for value in numbered(100):
            producer.send("one", value)
    assert ledger.values[0] == numbered(100)
    (request,) = broker.asked(ProduceRequest)
    records = request.topic_data[0].partition_data[0].records
    assert records is not None
    assert check_batch(records).compression is compression


@pytest.mark.parametrize("version", [3, 8, 9, 12, 13])
def test_old_brokers_are_spoken_to_by_name_and_new_ones_by_id(ledger: Ledger, version: int) -> None:
    with ScriptedBroker(
        {ProduceRequest: ledger.produce}, versions={ProduceRequest: VersionRange(3, version)}
    ) as broker:
        broker.answer(MetadataRequest, describing(broker, leaders={"one": [1]}))
        with Cluster.connect(broker.bootstrap) as cluster, Producer(cluster) as producer:
            producer.send("one", b"v")
        (request,) = broker.asked(ProduceRequest)
        (topic,) = request.topic_data
        assert (topic.name, topic.topic_id) == (
            ("one", bytes(16)) if version < 13 else ("", topic_id_of("one"))
        )
        assert ledger.values[0] == [b"v"]


def test_broker_without_identities_gets_plain_batches(ledger: Ledger) -> None:
    with ScriptedBroker({ProduceRequest: ledger.produce}) as broker:
        broker.answer(MetadataRequest, describing(broker, leaders={"one": [1]}))
        with Cluster.connect(broker.bootstrap) as cluster, Producer(cluster) as producer:
            producer.send("one", b"v")
        assert ledger.sequences == [-1]


def test_acks_of_the_leader_alone_are_asked_for_without_an_identity(
    cluster: Cluster, broker: ScriptedBroker, ledger: Ledger
) -> None:
    with Producer(cluster, acks=ACKS_LEADER) as producer:
        producer.send("one", b"v")
    assert broker.asked(ProduceRequest)[0].acks == 1
    assert broker.asked(InitProducerIdRequest) == []
    assert ledger.sequences == [-1]


def test_acks_none_waits_for_no_answer(cluster: Cluster, broker: ScriptedBroker, ledger: Ledger) -> None:
    broker.answer(ProduceRequest, lambda request: ledger.produce(request) and Accident.SILENCE)
    deliveries: list[Delivery] = []
    with Producer(cluster, acks=ACKS_NONE, on_delivery=deliveries.append) as producer:
        producer.send("one", b"v")
    assert [(each.base_offset, each.error) for each in deliveries] == [(-1, None)]


def test_deliveries_tell_where_records_are(cluster: Cluster) -> None:
    deliveries: list[Delivery] = []
    with Producer(cluster, on_delivery=deliveries.append) as producer:
        for number in range(3):
            producer.send("one", b"v", partition=0)
            producer.send("one", b"v", partition=0)
            producer.flush()
            assert deliveries[number].base_offset == 2 * number
    assert {(each.key, each.records_count) for each in deliveries} == {(TopicPartition("one", 0), 2)}


def test_lost_answers_write_nothing_twice(cluster: Cluster, ledger: Ledger) -> None:
    """R13: the broker has the batch and its answer is lost; sent again, it is recognised."""
    ledger.lost_answers = 2
    with Producer(cluster, batch_bytes=50) as producer:
        for value in numbered(50):
            producer.send("one", value)
    assert ledger.values[0] == numbered(50)


def test_broker_that_falls_silent_is_tried_again_on_another_connection(
    broker: ScriptedBroker, ledger: Ledger
) -> None:
    broker.answer(ProduceRequest, Accident.SILENCE, ledger.produce)
    with Cluster.connect(broker.bootstrap, timeout_s=0.2) as cluster, Producer(cluster) as producer:
        producer.send("one", b"v")
    assert ledger.values[0] == [b"v"]


def test_errors_that_pass_are_sat_out_in_order(cluster: Cluster, ledger: Ledger) -> None:
    ledger.codes = [ErrorCode.NOT_ENOUGH_REPLICAS, 0, ErrorCode.REQUEST_TIMED_OUT, 0, 0, 0, 0, 3]
    with Producer(cluster, batch_bytes=50) as producer:
        for value in numbered(50):
            producer.send("one", value)
    assert ledger.values[0] == numbered(50)


def test_leader_that_moved_is_found(ledger: Ledger) -> None:
    leaders = {"one": [1]}

    def moved(request: ProduceRequest) -> ProduceResponse | Accident:
        leaders["one"] = [2]
        ledger.codes = [ErrorCode.NOT_LEADER_OR_FOLLOWER]
        return ledger.produce(request)

    with (
        ScriptedBroker({ProduceRequest: moved}, node_id=1) as old,
        ScriptedBroker({ProduceRequest: ledger.produce}, node_id=2) as new,
    ):
        old.answer(MetadataRequest, describing(old, new, leaders=leaders))
        with Cluster.connect(old.bootstrap) as cluster, Producer(cluster) as producer:
            producer.send("one", b"v")
        assert ledger.values[0] == [b"v"]
        assert len(new.asked(ProduceRequest)) == 1


def test_cluster_that_is_away_for_a_while_is_waited_for(broker: ScriptedBroker, ledger: Ledger) -> None:
    ledger.codes = [ErrorCode.NOT_LEADER_OR_FOLLOWER]
    with Cluster.connect(broker.bootstrap, timeout_s=0.1) as cluster, Producer(cluster) as producer:
        producer.send("one", b"v")
        broker.answer(MetadataRequest, *[Accident.HANG_UP] * 6, describing(broker, leaders={"one": [1]}))
        producer.flush()
    assert ledger.values[0] == [b"v"]


def test_broker_that_restarts_is_found_again_by_the_same_producer_and_reader() -> None:
    """R1, seen from here. Nothing is under way when it stops: what Kafka remembers of a producer over a
    restart is its last batch, so several unanswered ones could not be told from new ones."""
    with Broker() as broker, Cluster.connect(broker.bootstrap) as cluster:
        make_topic(cluster, "orders", partitions=1)
        key = TopicPartition("orders", 0)
        with Producer(cluster, batch_bytes=200) as producer, Reader(cluster, {key: 0}) as reader:
            seen: list[bytes | None] = []
            for value in numbered(300):
                producer.send("orders", value)
                if value in (b"100", b"200"):
                    producer.flush()
                    broker.restart()
                seen += [record.value for chunk in reader.poll(0) for record in chunk.records]
            producer.flush()
            while len(seen) < 300:
                seen += [record.value for chunk in reader.poll(10) for record in chunk.records]
    assert seen == numbered(300)


def test_refused_batch_is_raised_once_and_the_next_goes_on(cluster: Cluster, ledger: Ledger) -> None:
    ledger.codes = [ErrorCode.MESSAGE_TOO_LARGE]
    deliveries: list[Delivery] = []
    with Producer(cluster, on_delivery=deliveries.append) as producer:
        producer.send("one", b"too large")
        with pytest.raises(Refused, match="A record is larger than the topic one takes"):
            producer.flush()
        producer.send("one", b"fine")
    assert ledger.values[0] == [b"fine"]
    assert ledger.sequences == [0]
    assert [each.error is None for each in deliveries] == [False, True]


def test_unexplained_number_ends_the_producer(cluster: Cluster, ledger: Ledger) -> None:
    ledger.codes = [ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER]
    producer = Producer(cluster)
    producer.send("one", b"v")
    with pytest.raises(Refused):
        producer.flush()
    for _ in range(2):
        with pytest.raises(ProducerClosed, match="open another"):
            producer.send("one", b"v")


def test_refusal_after_a_lost_answer_ends_the_producer(cluster: Cluster, ledger: Ledger) -> None:
    """The broker may have written what it refuses now: numbers behind it would mean nothing."""
    ledger.lost_answers = 1
    ledger.codes = [0, ErrorCode.MESSAGE_TOO_LARGE]
    producer = Producer(cluster)
    producer.send("one", b"v")
    with pytest.raises(Refused):
        producer.flush()
    with pytest.raises(ProducerClosed):
        producer.send("one", b"v")


def test_records_that_are_not_acknowledged_in_time_are_given_up(
    cluster: Cluster, broker: ScriptedBroker
) -> None:
    broker.answer(ProduceRequest, Accident.HANG_UP)
    producer = Producer(cluster, delivery_timeout_s=0.2)
    producer.send("one", b"v")
    with pytest.raises(TimedOut, match="Records for one-0 were not acknowledged in time"):
        producer.flush()
    with pytest.raises(ProducerClosed):
        producer.flush()


def test_records_refused_until_their_time_is_over_are_given_up_with_the_reason(
    cluster: Cluster, ledger: Ledger
) -> None:
    ledger.codes = [ErrorCode.KAFKA_STORAGE_ERROR] * 1000
    with Producer(cluster, acks=ACKS_LEADER, delivery_timeout_s=0.2) as producer:
        producer.send("one", b"v")
        with pytest.raises(TimedOut, match=r"not acknowledged in time\. The broker cannot use its files"):
            producer.flush()


def test_producer_without_numbers_goes_on_after_giving_up(
    cluster: Cluster, broker: ScriptedBroker, ledger: Ledger
) -> None:
    broker.answer(ProduceRequest, Accident.HANG_UP)
    with Producer(cluster, acks=ACKS_LEADER, delivery_timeout_s=0.2) as producer:
        producer.send("one", b"given up")
        with pytest.raises(TimedOut):
            producer.flush()
        broker.answer(ProduceRequest, ledger.produce)
        producer.send("one", b"fine")
    assert ledger.values[0] == [b"fine"]


def test_topic_that_was_made_anew_with_fewer_partitions_gives_up_the_others(
    cluster: Cluster, broker: ScriptedBroker, ledger: Ledger
) -> None:
    ledger.codes = [ErrorCode.UNKNOWN_TOPIC_ID]
    with Producer(cluster) as producer:
        producer.send("orders", b"v", partition=2)
        broker.answer(MetadataRequest, describing(broker, leaders={"orders": [1]}))
        with pytest.raises(ClientError, match="no partition 2 in topic orders: it has 1,"):
            producer.flush()
        producer.send("orders", b"fine")
    assert ledger.values == {0: [b"fine"], 2: []}


def test_topic_that_went_away_is_refused(
    cluster: Cluster, broker: ScriptedBroker, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("trivium.client.cluster.NEW_TOPIC_PATIENCE_S", 0.05)
    producer = Producer(cluster)
    producer.send("one", b"v")
    broker.answer(MetadataRequest, describing(broker))
    ledger.codes = [ErrorCode.UNKNOWN_TOPIC_ID]
    with pytest.raises(Refused, match="There is no topic one"):
        producer.flush()


def test_missing_topic_may_be_created_by_the_broker(cluster: Cluster, broker: ScriptedBroker) -> None:
    with Producer(cluster) as producer:
        producer.send("one", b"v")
    assert broker.asked(MetadataRequest)[-1].allow_auto_topic_creation


def test_partition_that_is_not_there_is_one_sentence(cluster: Cluster) -> None:
    with Producer(cluster) as producer, pytest.raises(ClientError, match="in topic one: it has 1, num"):
        producer.send("one", b"v", partition=1)


def test_record_that_no_request_can_hold_is_refused_before_it_is_sent(
    cluster: Cluster, broker: ScriptedBroker
) -> None:
    with Producer(cluster) as producer, pytest.raises(ClientError, match="larger than a request may be"):
        producer.send("one", bytes(RECORD_BYTES_MAX))
    assert broker.asked(ProduceRequest) == []


def test_record_without_bytes_is_refused_and_others_go_on(cluster: Cluster, ledger: Ledger) -> None:
    with Producer(cluster) as producer:
        producer.send("one", b"v", headers=[("half a character: \ud800", b"")])
        with pytest.raises(ClientError, match="Records for one-0 cannot be sent"):
            producer.flush()
        producer.send("one", b"fine")
    assert ledger.values[0] == [b"fine"]


def test_memory_is_bounded_by_waiting_for_answers(
    cluster: Cluster, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("trivium.client.producer.BUFFER_BYTES_MAX", 2000)
    producer = Producer(cluster)
    for value in numbered(100):
        producer.send("orders", value, key=value)
        assert producer._unsettled_bytes <= 2000
    producer.flush()
    assert sum(map(len, ledger.values.values())) == 100
    producer.close()


def test_closed_producer_says_so(cluster: Cluster) -> None:
    producer = Producer(cluster)
    producer.close()
    with pytest.raises(ProducerClosed, match="closed"):
        producer.send("one", b"v")


def test_producer_that_is_left_by_an_error_does_not_flush(cluster: Cluster, broker: ScriptedBroker) -> None:
    with pytest.raises(ZeroDivisionError), Producer(cluster) as producer:
        producer.send("one", b"%d" % (1 // 0))
    assert broker.asked(ProduceRequest) == []


def test_batch_that_is_given_whole_is_written_as_one(
    cluster: Cluster, broker: ScriptedBroker, ledger: Ledger
) -> None:
    with Producer(cluster) as producer:
        producer.send_batch("orders", 2, [Record(9, 5, None, value) for value in numbered(3)])
        producer.poll(10)
    assert ledger.values == {2: [b"0", b"1", b"2"]}
    assert [record.offset for record in ledger.records] == [0, 1, 2]
