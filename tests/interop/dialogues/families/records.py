"""Records written and read: batches, producers with sequences, sessions of readers, offsets looked for."""

from random import Random

from tests.interop.dialogues.batches import Batch, OldMessages, Recipe, Several
from tests.interop.dialogues.families.made import made
from tests.interop.dialogues.family import Family
from tests.interop.dialogues.stand_ins import id_of, producer, session
from tests.interop.dialogues.step import Step
from tests.interop.dialogues.words import Pool

from trivium.messages.api.delete_records import DeleteRecordsRequest
from trivium.messages.api.describe_producers import DescribeProducersRequest
from trivium.messages.api.fetch import FetchRequest, ReplicaState
from trivium.messages.api.init_producer_id import InitProducerIdRequest
from trivium.messages.api.list_offsets import ListOffsetsRequest
from trivium.messages.api.offset_for_leader_epoch import OffsetForLeaderEpochRequest
from trivium.messages.api.produce import ProduceRequest
from trivium.wire.uuid_text import ZERO_UUID

TIME = 1_700_000_000_000
LARGE = 0x7FFF_FFFF_FFFF_FFFF
NAMES = Pool(["§a", "§a", "§b", "§t", "§small", "§c"], ["§unknown", "", "§ü"])
IDS = Pool([id_of("§a"), id_of("§a"), id_of("§b"), id_of("§c")], [id_of("§unknown"), ZERO_UUID])

WRONG = (
    {"magic": 3},
    {"magic": 1},
    {"crc": 1},
    {"batch_length": 10},
    {"batch_length": 49},
    {"batch_length": 1_000_000},
    {"batch_length": -1},
    {"records_count": 0},
    {"records_count": 5},
    {"records_count": -1},
    {"last_offset_delta": 7},
    {"last_offset_delta": -1},
    {"base_offset": 9},
    {"attributes": 0x20},
    {"attributes": 0x10},
    {"attributes": 0x05},
    {"attributes": 0x07},
    {"attributes": 0x08},
    {"attributes": 0x40},
    {"attributes": 0x80},
    {"base_timestamp": -5},
    {"base_timestamp": LARGE},
    {"max_timestamp": 1},
    {"max_timestamp": LARGE},
    {"leader_epoch": 5},
    {"producer_id": 7},
    {"producer_epoch": 0},
    {"base_sequence": 0},
)


def right(random: Random) -> Recipe:
    values = tuple(b"v%d" % number for number in range(random.choice((1, 1, 2, 3))))
    if random.random() < 0.3:
        return Batch(
            values,
            producer_id=producer(random.choice((1, 1, 2))),
            producer_epoch=random.choice((0, 0, 0, 0, 1)),
            base_sequence=random.choice((0, 0, 1, 1, 2, 3)),
        )
    return Batch(values, timestamp=TIME + random.randrange(10), compression=random.choice((0, 0, 1, 2, 3, 4)))


def wrong(random: Random) -> Recipe | bytes:
    kind = random.randrange(12)
    if kind < 5:
        changes = random.choice(WRONG)
        codec = 0 if "attributes" in changes else random.choice((0, 0, 1))
        return Batch((b"1", b"2"), changes=changes, compression=codec)
    if kind == 5:
        return Batch(producer_id=producer(1), producer_epoch=random.choice((-1, 5)), base_sequence=0)
    if kind == 6:
        return random.choice((b"", b"\x00", bytes(61), bytes(100)))
    if kind == 7:
        return random.choice(
            (Batch(missing=1), Batch(missing=40), Batch(garbage=bytes(20)), Batch(missing=65))
        )
    if kind == 8:
        return random.choice((OldMessages(0), OldMessages(1), OldMessages(1, (b"a", b"b")), OldMessages(2)))
    if kind == 9:
        return Several((Batch(), Batch()))
    if kind == 10:
        return random.choice(
            (Batch((b"x" * 600,)), Batch((b"x" * 11_000,)), Batch((b"x" * 11_000,), compression=1))
        )
    return random.choice(
        (
            Batch(broken_records=True),
            Batch(broken_records=True, compression=4),
            Batch(key=None),
            Batch((None,)),
            Batch(timestamp=-1),
            Batch(timestamp=TIME * 3),
            Batch(transactional=True, producer_id=producer(1), producer_epoch=0, base_sequence=0),
        )
    )


TOPICS = (
    made("§a", 1),
    made("§b", 2),
    made("§t", 1, **{"message.timestamp.type": "LogAppendTime"}),
    made("§small", 1, **{"max.message.bytes": "500"}),
    made("§c", 1, **{"cleanup.policy": "compact"}),
)
RECORDS = Family(
    "records",
    {
        ProduceRequest: 12,
        FetchRequest: 10,
        ListOffsetsRequest: 5,
        DeleteRecordsRequest: 2,
        OffsetForLeaderEpochRequest: 2,
        InitProducerIdRequest: 2,
        DescribeProducersRequest: 1,
    },
    {
        "name": NAMES,
        "topic": NAMES,
        "topic_id": IDS,
        "index": Pool([0, 0, 0, 1], [-1, 7]),
        "partition": Pool([0, 0, 0, 1], [-1, 7]),
        "partition_index": Pool([0, 0, 0, 1], [-1, 7]),
        "partition_indexes": Pool([[0], [0, 1]], [[], [-1], [7]]),
        "acks": Pool([-1, 1], [2, -2]),
        "transactional_id": Pool([None], ["§tx", ""]),
        "timeout_ms": Pool([10_000], [0, -1]),
        "records": Pool([right, right, right, wrong], [wrong]),
        "max_wait_ms": Pool([0], [10]),
        "min_bytes": Pool([0, 1], [-1, 100_000]),
        "max_bytes": Pool([1 << 20], [0, 1, 100, -1]),
        "partition_max_bytes": Pool([1 << 20], [0, 1, 100, -1]),
        "fetch_offset": Pool([0, 0, 1, 2, 3], [-1, 100, LARGE]),
        "current_leader_epoch": Pool([-1, 0], [1, -2]),
        "last_fetched_epoch": Pool([-1, -1, 0], [1, 5]),
        "FetchPartition.log_start_offset": Pool([-1], [0, 5]),
        "isolation_level": Pool([0, 1], [2, -1]),
        "replica_id": Pool([-1], [2, -2, 1]),
        "replica_state": Pool([ReplicaState()], [ReplicaState(replica_id=2, replica_epoch=1)]),
        "session_id": Pool([0, 0, session(1), session(1)], [session(2), session(9), -1]),
        "session_epoch": Pool([-1, 0, 1, 2], [3, -2]),
        "forgotten_topics_data": Pool([[]]),
        "timestamp": Pool([-1, -2, -3, -4, -5, -6, TIME, TIME + 3, 0], [-7, LARGE, TIME * 2, -100]),
        "max_num_offsets": Pool([1, 10], [0]),
        "offset": Pool([0, 1, 2, -1], [-2, 100, LARGE]),
        "leader_epoch": Pool([0], [-1, 1, 5, -2]),
        "transaction_timeout_ms": Pool([60_000], [0, -1]),
        "producer_id": Pool([-1, -1, -1, producer(1)], [7, -2, producer(9)]),
        "producer_epoch": Pool([-1, -1, 0], [-2, 1]),
        "OffsetForLeaderEpochRequest.replica_id": Pool([-1, -2], [5]),
    },
    beginnings=(
        TOPICS,
        (*TOPICS, Step(InitProducerIdRequest(transactional_id=None, transaction_timeout_ms=0), 4)),
    ),
)
