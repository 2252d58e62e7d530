"""Records that are written without an answer (acks 0), right and wrong ones, and what is there afterwards.

One batch in each request: where there are several Kafka gives up on all of them for the sake of one, and we
do not, which no answer would show.
"""

from random import Random

from tests.interop.dialogues.batches import Batch
from tests.interop.dialogues.families.records import TOPICS, right, wrong
from tests.interop.dialogues.family import Family
from tests.interop.dialogues.stand_ins import id_of
from tests.interop.dialogues.step import Step
from tests.interop.dialogues.words import Pool

from trivium.messages.api.init_producer_id import InitProducerIdRequest
from trivium.messages.api.list_offsets import ListOffsetsRequest
from trivium.messages.api.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from trivium.records.header import LOG_APPEND_TIME_BIT


def one(random: Random, chance_wrong: float, *names: str) -> list[TopicProduceData]:
    name = random.choice(names)
    records = wrong(random) if random.random() < chance_wrong else right(random)
    if isinstance(records, Batch) and _is_judged_otherwise(records):
        records = right(random)
    part = PartitionProduceData(index=0, records=records)  # type: ignore[arg-type]
    return [TopicProduceData(name=name, topic_id=id_of(name), partition_data=[part])]


def _is_judged_otherwise(batch: Batch) -> bool:
    """Whether one broker takes it and the other does not (``INTENDED``): no answer would show that either."""
    return batch.broken_records or batch.changes.get("attributes") == LOG_APPEND_TIME_BIT


UNANSWERED = Family(
    "unanswered",
    {ProduceRequest: 3, ListOffsetsRequest: 2},
    {
        "name": Pool(["§a", "§b", "§small", "§c"]),
        "ProduceRequest.topic_data": Pool(
            [lambda random: one(random, 0.1, "§a", "§b", "§c")],
            [lambda random: one(random, 0.7, "§a", "§b", "§small", "§unknown")],
        ),
        "acks": Pool([0, 0, 0, -1]),
        "transactional_id": Pool([None]),
        "timeout_ms": Pool([10_000]),
        "isolation_level": Pool([0]),
        "replica_id": Pool([-1]),
        "partition_index": Pool([0]),
        "current_leader_epoch": Pool([-1]),
        "timestamp": Pool([-1, -3]),
    },
    beginnings=((*TOPICS, Step(InitProducerIdRequest(transactional_id=None, transaction_timeout_ms=0), 4)),),
    is_whole=True,
)
