"""Reading: everything once and in order, from where it was asked for, through all kinds of trouble."""

import threading
from collections.abc import Callable, Iterator

import pytest

from tests.client.live import fill
from tests.client.scripted import Accident, ScriptedBroker, describing
from trivium.client.cluster import Cluster
from trivium.client.errors import ConnectionLost, Damaged, Refused
from trivium.client.fetching import FetchSettings
from trivium.client.offsets import EARLIEST, Isolation, delete_records
from trivium.client.producer import Producer
from trivium.client.reader import POLL_RECORDS, Reader
from trivium.client.topology import TopicPartition
from trivium.messages.api.fetch import (
    AbortedTransaction,
    FetchableTopicResponse,
    FetchRequest,
    FetchResponse,
    PartitionData,
)
from trivium.messages.api.metadata import MetadataRequest
from trivium.messages.errors import ErrorCode
from trivium.messages.version_range import VersionRange
from trivium.records.batch import build_batch
from trivium.records.control import EndTxnMarker, build_end_txn
from trivium.records.record import Record

KEY = TopicPartition("orders", 0)


def values(reader: Reader, count: int, records_max: int = 10_000) -> list[bytes | None]:
    """So many, however many polls it takes."""
    found: list[bytes | None] = []
    while len(found) < count:
        for chunk in reader.poll(10, records_max):
            found += [record.value for record in chunk.records]
    return found


def batch(offset: int, *contents: bytes, **settings: bool | int) -> bytes:
    records = [Record(0, 0, None, content) for content in contents]
    return build_batch(records, base_offset=offset, **settings)  # type: ignore[arg-type]


def serving(
    data: bytes, code: int = 0, aborted: list[AbortedTransaction] | None = None
) -> Callable[[FetchRequest], FetchResponse]:
    def answer(request: FetchRequest) -> FetchResponse:
        (topic,) = request.topics
        partitions = [
            PartitionData(
                partition_index=each.partition,
                error_code=code,
                high_watermark=100,
                aborted_transactions=aborted,
                records=data,
            )
            for each in topic.partitions
        ]
        found = FetchableTopicResponse(topic=topic.topic, topic_id=topic.topic_id, partitions=partitions)
        return FetchResponse(responses=[found])

    return answer


@pytest.fixture
def scripted() -> Iterator[ScriptedBroker]:
    with ScriptedBroker({FetchRequest: serving(b"")}) as broker:
        broker.answer(MetadataRequest, describing(broker, leaders={"orders": [1]}))
        yield broker


def test_reader_sees_all_partitions_each_in_order(cluster: Cluster, topic: str) -> None:
    keys = cluster.topic(topic).partition_keys()
    with Producer(cluster, batch_bytes=1000) as producer:
        for number in range(500):
            producer.send(topic, b"%d" % number, partition=number % 2, key=b"k", headers=[("h", None)])
    seen: dict[TopicPartition, list[Record]] = {key: [] for key in keys}
    with Reader(cluster, dict.fromkeys(keys, 0)) as reader:
        while sum(map(len, seen.values())) < 500:
            for chunk in reader.poll(10, records_max=77):
                seen[chunk.key] += chunk.records
        assert reader.positions == dict.fromkeys(keys, 250)
        assert reader.high_watermarks == dict.fromkeys(keys, 250)
    for key, records in seen.items():
        assert [record.offset for record in records] == list(range(250))
        assert [record.value for record in records] == [b"%d" % (2 * n + key.partition) for n in range(250)]
        assert all((record.key, record.headers) == (b"k", (("h", None),)) for record in records)


def test_reader_starts_within_a_batch(cluster: Cluster, topic: str) -> None:
    with Producer(cluster) as producer:
        for number in range(10):
            producer.send(topic, b"%d" % number, partition=0)
    with Reader(cluster, {TopicPartition(topic, 0): 7}) as reader:
        assert values(reader, 3) == [b"7", b"8", b"9"]


def test_reader_hands_out_no_more_than_asked_and_goes_on_there(cluster: Cluster, topic: str) -> None:
    with Producer(cluster) as producer:
        for number in range(10):
            producer.send(topic, b"%d" % number, partition=0)
    key = TopicPartition(topic, 0)
    with Reader(cluster, {key: 0}) as reader:
        assert values(reader, 4, records_max=4) == [b"0", b"1", b"2", b"3"]
        assert reader.positions[key] == 4
        assert values(reader, 6) == [b"4", b"5", b"6", b"7", b"8", b"9"]
        assert reader.positions[key] == 10


def test_reader_hands_out_a_limited_number_at_once(cluster: Cluster, topic: str) -> None:
    key = TopicPartition(topic, 0)
    with Producer(cluster) as producer:
        producer.send_batch(topic, 0, [Record(0, 0, None, b"")] * (POLL_RECORDS + 1))
    with Reader(cluster, {key: 0}) as reader:
        assert sum(len(chunk.records) for chunk in reader.poll(10)) == POLL_RECORDS
        assert sum(len(chunk.records) for chunk in reader.poll(10)) == 1


def test_reader_waits_for_records_to_come(cluster: Cluster, topic: str) -> None:
    with Reader(cluster, {TopicPartition(topic, 0): 0}) as reader:
        assert reader.poll(0.05) == []
        fill(cluster, topic, b"at last")
        assert values(reader, 1) == [b"at last"]


def test_reader_assigned_anew_forgets_what_it_had(cluster: Cluster, topic: str) -> None:
    fill(cluster, topic, b"a", b"b", b"c")
    fill(cluster, topic, b"x", partition=1)
    first, second = cluster.topic(topic).partition_keys()
    with Reader(cluster, {first: 0}) as reader:
        assert values(reader, 1, records_max=1) == [b"a"]
        reader.assign({second: 0})
        assert values(reader, 1) == [b"x"]
        reader.assign({first: 2})
        assert values(reader, 1) == [b"c"]


def test_position_that_was_deleted_is_refused_or_reset(cluster: Cluster, topic: str) -> None:
    fill(cluster, topic, b"a", b"b", b"c")
    key = TopicPartition(topic, 0)
    delete_records(cluster, {key: 2})
    with Reader(cluster, {key: 0}) as reader, pytest.raises(Refused) as refused:
        values(reader, 1)
    assert refused.value.code is ErrorCode.OFFSET_OUT_OF_RANGE
    with Reader(cluster, {key: 0}, reset_to=EARLIEST) as reader:
        assert values(reader, 1) == [b"c"]


@pytest.mark.parametrize("version", [4, 11, 12, 13, 18])
def test_old_brokers_are_asked_by_name_and_new_ones_by_id(version: int) -> None:
    with ScriptedBroker(
        {FetchRequest: serving(batch(0, b"v"))}, versions={FetchRequest: VersionRange(4, version)}
    ) as broker:
        broker.answer(MetadataRequest, describing(broker, leaders={"orders": [1]}))
        with Cluster.connect(broker.bootstrap) as cluster, Reader(cluster, {KEY: 0}) as reader:
            assert values(reader, 1) == [b"v"]
        assert broker.asked(FetchRequest)[0].topics[0].topic == ("orders" if version < 13 else "")


@pytest.mark.parametrize(
    ("isolation", "seen"),
    [(Isolation.READ_COMMITTED, [b"good"]), (Isolation.READ_UNCOMMITTED, [b"bad", b"good"])],
)
def test_reader_of_what_is_committed_does_not_see_what_was_aborted(
    scripted: ScriptedBroker, isolation: Isolation, seen: list[bytes]
) -> None:
    marker = build_end_txn(
        EndTxnMarker(committed=False, coordinator_epoch=0),
        producer_id=7,
        producer_epoch=0,
        timestamp=0,
        base_offset=1,
    )
    data = batch(0, b"bad", transactional=True, producer_id=7, producer_epoch=0) + marker + batch(2, b"good")
    aborted = [AbortedTransaction(producer_id=7, first_offset=0)]
    scripted.answer(FetchRequest, serving(data, aborted=aborted), Accident.SILENCE)
    settings = FetchSettings(isolation=isolation)
    with (
        Cluster.connect(scripted.bootstrap) as cluster,
        Reader(cluster, {KEY: 0}, settings=settings) as reader,
    ):
        assert values(reader, len(seen)) == seen
        assert reader.positions == {KEY: 3}
    assert scripted.asked(FetchRequest)[0].isolation_level == isolation


def test_hidden_records_move_the_position(scripted: ScriptedBroker) -> None:
    data = batch(0, b"bad", transactional=True, producer_id=7, producer_epoch=0)
    aborted = [AbortedTransaction(producer_id=7, first_offset=0)]
    scripted.answer(FetchRequest, serving(data, aborted=aborted), Accident.SILENCE)
    with Cluster.connect(scripted.bootstrap) as cluster, Reader(cluster, {KEY: 0}) as reader:
        assert reader.poll(0.05) == []
        assert reader.positions == {KEY: 1}


def test_batch_that_is_cut_off_is_fetched_again(scripted: ScriptedBroker) -> None:
    whole, cut = batch(0, b"a"), batch(1, b"b")
    scripted.answer(FetchRequest, serving(whole + cut[:-3]), serving(cut))
    with Cluster.connect(scripted.bootstrap) as cluster, Reader(cluster, {KEY: 0}) as reader:
        assert values(reader, 2) == [b"a", b"b"]
    offsets = [each.topics[0].partitions[0].fetch_offset for each in scripted.asked(FetchRequest)]
    assert offsets[:2] == [0, 1]


def test_damaged_batch_is_named_after_what_lies_before_it(scripted: ScriptedBroker) -> None:
    """R6, on this side of the wire: a wrong record is never handed out."""
    damaged = bytearray(batch(1, b"b"))
    damaged[-1] ^= 1
    scripted.answer(FetchRequest, serving(batch(0, b"a") + damaged))
    with Cluster.connect(scripted.bootstrap) as cluster, Reader(cluster, {KEY: 0}) as reader:
        assert values(reader, 1, records_max=1) == [b"a"]
        with pytest.raises(Damaged, match="Partition orders-0 is damaged behind offset 1: the checksum"):
            reader.poll(10)


@pytest.mark.parametrize(
    "trouble",
    [
        serving(b"", code=ErrorCode.NOT_LEADER_OR_FOLLOWER),
        serving(b"", code=ErrorCode.UNKNOWN_LEADER_EPOCH),
        Accident.HANG_UP,
    ],
)
def test_reader_sits_out_what_passes(
    scripted: ScriptedBroker, trouble: Accident | Callable[[FetchRequest], FetchResponse]
) -> None:
    scripted.answer(FetchRequest, trouble, trouble, serving(batch(0, b"v")))
    with Cluster.connect(scripted.bootstrap) as cluster, Reader(cluster, {KEY: 0}) as reader:
        assert values(reader, 1) == [b"v"]
    assert len(scripted.asked(MetadataRequest)) > 1


@pytest.mark.parametrize(
    ("code", "sentence"),
    [
        (ErrorCode.KAFKA_STORAGE_ERROR, "cannot use its files of the partition orders-0"),
        (ErrorCode.NOT_LEADER_OR_FOLLOWER, "refused partition orders-0 with NOT_LEADER_OR_FOLLOWER"),
    ],
)
def test_what_does_not_pass_ends_the_reading(
    scripted: ScriptedBroker, code: ErrorCode, sentence: str
) -> None:
    """A damaged partition is refused by a code that might pass, and nobody should wait for it for ever."""
    scripted.answer(FetchRequest, serving(b"", code=code))
    with (
        Cluster.connect(scripted.bootstrap, timeout_s=0.2) as cluster,
        Reader(cluster, {KEY: 0}) as reader,
        pytest.raises(Refused, match=sentence),
    ):
        reader.poll(10)


def test_partition_without_a_leader_is_not_waited_for_for_ever(scripted: ScriptedBroker) -> None:
    with (
        Cluster.connect(scripted.bootstrap, timeout_s=0.2) as cluster,
        Reader(cluster, {KEY: 0}) as reader,
    ):
        scripted.answer(MetadataRequest, describing(scripted, leaders={"orders": [-1]}))
        cluster.forget_leaders(["orders"])
        with pytest.raises(Refused, match="partition orders-0 has no leader now"):
            reader.poll(10)


def test_leader_that_never_answers_is_given_up(scripted: ScriptedBroker) -> None:
    scripted.answer(FetchRequest, Accident.HANG_UP)
    with (
        Cluster.connect(scripted.bootstrap, timeout_s=0.2) as cluster,
        Reader(cluster, {KEY: 0}) as reader,
        pytest.raises(ConnectionLost),
    ):
        values(reader, 1)


def test_what_may_not_be_read_is_refused(scripted: ScriptedBroker) -> None:
    scripted.answer(FetchRequest, serving(b"", code=ErrorCode.TOPIC_AUTHORIZATION_FAILED))
    with (
        Cluster.connect(scripted.bootstrap) as cluster,
        Reader(cluster, {KEY: 0}) as reader,
        pytest.raises(Refused, match="You may not do that to the partition orders-0"),
    ):
        reader.poll(10)


def test_answer_from_before_an_assignment_is_not_taken_for_one_after(scripted: ScriptedBroker) -> None:
    is_assigned = threading.Event()

    def late(request: FetchRequest) -> FetchResponse:
        is_assigned.wait(60)
        return serving(batch(0, b"wrong"))(request)

    scripted.answer(FetchRequest, late, serving(batch(50, b"right")))
    with Cluster.connect(scripted.bootstrap) as cluster, Reader(cluster, {KEY: 0}) as reader:
        assert reader.poll(0.05) == []
        reader.assign({KEY: 50})
        is_assigned.set()
        assert values(reader, 1) == [b"right"]


def test_broker_that_falls_silent_is_asked_again_on_another_connection(scripted: ScriptedBroker) -> None:
    scripted.answer(FetchRequest, Accident.SILENCE, serving(batch(0, b"v")))
    settings = FetchSettings(max_wait_ms=1)
    with (
        Cluster.connect(scripted.bootstrap, timeout_s=0.2) as cluster,
        Reader(cluster, {KEY: 0}, settings=settings) as reader,
    ):
        assert values(reader, 1) == [b"v"]
