"""Transactions: begun, written in, given offsets, ended, looked at, with right and wrong epochs."""

from random import Random

from tests.interop.dialogues.batches import Batch, Recipe
from tests.interop.dialogues.families.made import made
from tests.interop.dialogues.family import Family
from tests.interop.dialogues.stand_ins import id_of, producer
from tests.interop.dialogues.step import Step
from tests.interop.dialogues.words import Pool

from trivium.messages.api.add_offsets_to_txn import AddOffsetsToTxnRequest
from trivium.messages.api.add_partitions_to_txn import AddPartitionsToTxnRequest
from trivium.messages.api.describe_producers import DescribeProducersRequest
from trivium.messages.api.describe_transactions import DescribeTransactionsRequest
from trivium.messages.api.end_txn import EndTxnRequest
from trivium.messages.api.fetch import FetchRequest
from trivium.messages.api.init_producer_id import InitProducerIdRequest
from trivium.messages.api.list_offsets import ListOffsetsRequest
from trivium.messages.api.list_transactions import ListTransactionsRequest
from trivium.messages.api.offset_fetch import OffsetFetchRequest
from trivium.messages.api.produce import ProduceRequest
from trivium.messages.api.txn_offset_commit import TxnOffsetCommitRequest

TX = Pool(["§tx"], ["§other", "§unknown", ""])
PRODUCER = Pool([producer(1)], [producer(2), -1, 77_000_000])
EPOCH = Pool([0, 0, 1], [2, -1, 5])


def written(random: Random) -> Recipe:
    return Batch(
        (b"v",),
        producer_id=producer(1),
        producer_epoch=random.choice((0, 0, 0, 1)),
        base_sequence=random.choice((0, 0, 1)),
        transactional=random.random() < 0.9,
    )


BEGINNING = (
    made("§a", 1),
    made("§b", 2),
    Step(InitProducerIdRequest(transactional_id="§tx", transaction_timeout_ms=60_000), 2),
)

TRANSACTIONS = Family(
    "transactions",
    {
        InitProducerIdRequest: 2,
        AddPartitionsToTxnRequest: 5,
        AddOffsetsToTxnRequest: 2,
        TxnOffsetCommitRequest: 3,
        EndTxnRequest: 3,
        ProduceRequest: 4,
        DescribeTransactionsRequest: 2,
        ListTransactionsRequest: 1,
        DescribeProducersRequest: 2,
        OffsetFetchRequest: 1,
        FetchRequest: 1,
        ListOffsetsRequest: 1,
    },
    {
        "transactional_id": TX,
        "v3_and_below_transactional_id": TX,
        "producer_id": PRODUCER,
        "v3_and_below_producer_id": PRODUCER,
        "producer_epoch": EPOCH,
        "v3_and_below_producer_epoch": EPOCH,
        "transaction_timeout_ms": Pool([60_000], [0, -1, 900_001]),
        "verify_only": Pool([False], [True]),
        "name": Pool(["§a", "§b"], ["§unknown", ""]),
        "topic": Pool(["§a", "§b"], ["§unknown", ""]),
        "topic_id": Pool([id_of("§a"), id_of("§b")], [id_of("§unknown")]),
        "partitions": Pool([[0]], [[0, 1], [], [-1], [7]]),
        "partition_indexes": Pool([[0]], [[0, 1], [-1], [7]]),
        "index": Pool([0]),
        "partition": Pool([0]),
        "partition_index": Pool([0], [1, 7]),
        "group_id": Pool(["§g"], ["§h"]),
        "committed": Pool([True, False]),
        "committed_offset": Pool([0, 5], [-1]),
        "committed_leader_epoch": Pool([-1, 0]),
        "committed_metadata": Pool(["", "note"], [None, "x" * 4097]),
        "generation_id": Pool([-1], [0, 1]),
        "member_id": Pool([""], ["stranger"]),
        "group_instance_id": Pool([None], ["one"]),
        "member_epoch": Pool([-1]),
        "require_stable": Pool([False, True]),
        "acks": Pool([-1]),
        "timeout_ms": Pool([10_000]),
        "records": Pool([written]),
        "transactional_ids": Pool([["§tx"]], [["§unknown"], [""], [], ["§tx", "§other"]]),
        "state_filters": Pool([[], ["Ongoing"]], [["Empty", "nonsense"], ["CompleteCommit"]]),
        "producer_id_filters": Pool([[], [producer(1)]], [[-1], [producer(2)]]),
        "duration_filter": Pool([-1], [0, 3_600_000]),
        "transactional_id_pattern": Pool([None, "§.*"], ["[", ".*other", ""]),
        "max_wait_ms": Pool([0]),
        "min_bytes": Pool([0]),
        "max_bytes": Pool([1 << 20]),
        "partition_max_bytes": Pool([1 << 20]),
        "fetch_offset": Pool([0]),
        "replica_id": Pool([-1]),
        "isolation_level": Pool([0, 1]),
        "timestamp": Pool([-1, -2]),
        "forgotten_topics_data": Pool([[]]),
    },
    beginnings=(BEGINNING,),
    extra={
        InitProducerIdRequest: {
            "producer_id": Pool([-1, -1, producer(1)], [producer(2), 7]),
            "producer_epoch": Pool([-1, -1, 0], [1, 5]),
            "transactional_id": Pool(["§tx", "§tx", "§other"], [""]),
        },
        ProduceRequest: {"transactional_id": Pool(["§tx"], ["§other", None])},
    },
)
